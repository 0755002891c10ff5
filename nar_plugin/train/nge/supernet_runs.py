"""Searches with a supernet: the comparison on NAS-Bench-201, and one search of the DARTS space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from tqdm import tqdm

from nar_plugin.train.nge.algorithm import Schedule, search
from nar_plugin.train.nge.alternatives import METHODS
from nar_plugin.train.nge.comparison import mean_and_error
from nar_plugin.train.nge.derivation import darts_genotype, nas201_cell, nas201_choice
from nar_plugin.train.nge.images import search_images
from nar_plugin.train.nge.nas201_table import Nas201Table, read_table
from nar_plugin.train.nge.result_cells import cell
from nar_plugin.train.nge.supernets import DartsSupernet, Nas201Supernet


@dataclass(frozen=True)
class Size:
    """How large a search is.

    Attributes:
        images: Of each half; the paper has 25,000.
        side: Of an image in pixels; 32 as it is.
        width: Channels of the supernet at first; the paper has 16.
        cells: Of the DARTS supernet (the paper has 8), or of each stage of NAS-Bench-201's.
        epochs: The paper has 25.
    """

    images: int
    side: int
    width: int
    cells: int
    epochs: int


Record = dict[str, Any]


def compare_supernets(data: Path, work: Path, size: Size, seeds: int) -> list[Record]:
    """The true accuracy of the cell that each method derives on NAS-Bench-201.

    Args:
        data: Folder of the tables and images.
        work: Receives a file for each search, and its state.
        size: Of the searches.
        seeds: Searches of each method.

    Returns:
        A row for each method: mean and standard error over seeds.
    """
    table = read_table(data)
    runs = [(name, seed) for seed in range(seeds) for name in METHODS]
    found = [
        _nas201_run(data, work / "supernet", table, size, *run)
        for run in tqdm(runs, desc="supernets", unit="search", delay=1)
    ]
    rows = []
    for name in METHODS:
        mean, error = mean_and_error(run["accuracy"] for run in found if run["method"] == name)
        cells = [run["cell"] for run in found if run["method"] == name]
        rows.append(
            {"method": name, "seeds": seeds, "accuracy": mean, "error": error, "cells": cells}
        )
    return rows


def search_darts(data: Path, work: Path, size: Size, method: str, seed: int) -> Record:
    """One search of the DARTS space.

    Returns:
        The settings, and `genotype`, which `darts:` builds.
    """

    def measure() -> Record:
        supernet = _maker(DartsSupernet, size)
        chances = _searched(supernet, data, path, size, method, seed)
        return {"genotype": darts_genotype(chances), "chances": chances.tolist()}

    path = work / "darts" / f"{method}-{seed}.json"
    record: Record = cell(path, asdict(size) | {"method": method, "seed": seed}, measure)
    return record


def _maker(network: Callable[..., nn.Module], size: Size) -> Callable[[], nn.Module]:
    """What makes the supernet of a size, after the seed was set."""
    return lambda: network(width=size.width, cells=size.cells)


def _nas201_run(
    data: Path, folder: Path, table: Nas201Table, size: Size, method: str, seed: int
) -> Record:
    def measure() -> Record:
        supernet = _maker(Nas201Supernet, size)
        chances = _searched(supernet, data, path, size, method, seed)
        accuracy = float(table.test[nas201_choice(chances)])
        return {"cell": nas201_cell(chances), "accuracy": accuracy, "chances": chances.tolist()}

    path = folder / f"{method}-{seed}.json"
    record: Record = cell(path, asdict(size) | {"method": method, "seed": seed}, measure)
    return record


def _searched(
    make: Callable[[], nn.Module], data: Path, path: Path, size: Size, method: str, seed: int
) -> torch.Tensor:
    """P; the state of the search lies beside its result until that is known."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(seed)
    supernet = make()
    chooser = METHODS[method](supernet.space)  # type: ignore[arg-type]
    halves = search_images(data, size.images, size.side, seed)
    state = path.with_name(f"{path.stem}-{'-'.join(map(str, asdict(size).values()))}.pt")
    schedule = Schedule(epochs=size.epochs)
    chances = search(supernet.to(device), chooser.to(device), halves, schedule, seed, state)
    state.unlink(missing_ok=True)
    return chances


def supernet_table(rows: list[Record]) -> str:
    """The rows as a table of Markdown."""
    lines = ["| method | true accuracy | cells derived |", "|---|---|---|"]
    lines += [
        f"| {row['method']} | {row['accuracy']:.2f} ± {row['error']:.2f} "
        f"| {len(set(row['cells']))} of {row['seeds']} distinct |"
        for row in rows
    ]
    return "\n".join(lines)
