"""The comparison of Table 4 where every answer is known: rates chosen, methods measured."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from nar_plugin.train.nge.alternatives import METHODS
from nar_plugin.train.nge.nas201_table import Nas201Table, cell_string, read_table
from nar_plugin.train.nge.policy import policy_searches, random_searches
from nar_plugin.train.nge.result_cells import cell

REWARDS = ("test", "validation")
# Of Adam. Logits are moved by a rate themselves, embeddings through four to seven layers.
_SMALL = (3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
RATES = {name: (0.003, 0.01, 0.03, 0.1, 0.3) if name == "baseline" else _SMALL for name in METHODS}
_AIMS = ("derived", "best")  # what a rate is chosen for
_CHOOSING = range(1000, 1040)  # seeds that choose the rate, none of which is measured
Record = dict[str, Any]


def compare(data: Path, work: Path, reward: str, seeds: int, queries: int) -> list[Record]:
    """Measure every method and random search on seeds that chose nothing.

    Args:
        data: Folder of the tables (`read_table`).
        work: Receives a file for each search.
        reward: What the search sees: `test` (after 200 epochs, the truth itself) or `validation`
            (after 12 epochs).
        seeds: How many are measured.
        queries: Cells that each search asks about.

    Returns:
        A row for each method and aim. The aim is the cell that a search derives in the end, or the
        best that it asked about; its rate is the one whose reward at the aim was highest. Mean and
        standard error over seeds are of the aim's true accuracy.
    """
    table = read_table(data)
    folder = work / "policy" / reward
    tries = [(name, rate) for name in METHODS for rate in RATES[name]]
    tried = [
        _run(folder, table, reward, name, rate, queries, _CHOOSING)
        for name, rate in tqdm(tries, desc=f"choosing rates by {reward}", unit="rate", delay=1)
    ]
    chosen = {(name, aim): _rate(tried, name, aim) for aim in _AIMS for name in METHODS}
    chosen["random", "best"] = 0.0  # it has none
    measured = dict.fromkeys((name, rate) for (name, _), rate in chosen.items())
    found = {
        (name, rate): _run(folder, table, reward, name, rate, queries, range(seeds))
        for name, rate in tqdm(measured, desc=f"measuring by {reward}", unit="method", delay=1)
    }
    rows = []
    for (name, aim), rate in chosen.items():
        mean, error = mean_and_error(found[name, rate][aim])
        rows.append(
            {"reward": reward, "aim": aim, "method": name, "rate": rate, "seeds": seeds}
            | {"queries": queries, "accuracy": mean, "error": error}
        )
    return rows


def _rate(tried: list[Record], method: str, aim: str) -> float:
    """The rate whose searches saw the highest reward at the aim, on average."""
    mine = [run for run in tried if run["method"] == method]
    best = max(mine, key=lambda run: float(np.mean(run[f"{aim}_reward"])))
    return float(best["rate"])


def _run(
    folder: Path,
    table: Nas201Table,
    reward: str,
    method: str,
    rate: float,
    queries: int,
    seeds: range,
) -> Record:
    """Searches of one method at one rate, a value for each seed."""
    rewards = table.test if reward == "test" else table.validation

    def measure() -> Record:
        if method == "random":
            ended = random_searches(rewards, queries, seeds)
        else:
            ended = policy_searches(method, rewards, rate, queries, seeds)
        return {
            "derived_reward": [float(rewards[each.derived]) for each in ended],
            "best_reward": [float(rewards[each.best]) for each in ended],
            "derived": [float(table.test[each.derived]) for each in ended],
            "best": [float(table.test[each.best]) for each in ended],
            "cells": [cell_string(each.derived) for each in ended],
        }

    settings = {"method": method, "rate": rate, "queries": queries, "seeds": list(seeds)}
    name = f"{method}-{rate:g}-{queries}-{seeds.start}-{seeds.stop}.json"
    record: Record = cell(folder / name, settings, measure)
    return record


def mean_and_error(values: Iterable[float]) -> tuple[float, float]:
    """The mean, and its standard error; NaN of a single value."""
    array = np.array(list(values))
    error = array.std(ddof=1) / np.sqrt(len(array)) if len(array) > 1 else np.nan
    return float(array.mean()), float(error)


def table_text(rows: list[Record]) -> str:
    """The rows as a table of Markdown."""
    lines = ["| method | derived cell | rate | best cell asked | rate |", "|---|---|---|---|---|"]
    for name in dict.fromkeys(row["method"] for row in rows):
        cells = []
        for aim in _AIMS:
            row = next((row for row in rows if (row["method"], row["aim"]) == (name, aim)), None)
            cells += [f"{row['accuracy']:.3f} ± {row['error']:.3f}" if row else "", ""]
            if row and row["rate"]:
                cells[-1] = f"{row['rate']:g}"
        lines.append(f"| {' | '.join([name, *cells])} |")
    return "\n".join(lines)
