"""The cells of the search: expected improvement and random search, seed by seed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from nar_plugin.train.vae import enas
from nar_plugin.train.vae.cells import Cells
from nar_plugin.train.vae.enas import Enas
from nar_plugin.train.vae.folders import folder_of
from nar_plugin.train.vae.oracle import Oracle
from nar_plugin.train.vae.protocol import Protocol
from nar_plugin.train.vae.search import search
from nar_plugin.train.vae.training import trained

WAYS = {"expected improvement": True, "random": False}


def measure_search(
    data: Enas, model: str, protocol: Protocol, seed: int, work: Path, cells: Cells, seeds: int
) -> None:
    """Search with seeds 0 to `seeds` - 1, in both ways; what is there is not searched again.

    Args:
        data: All networks.
        model: A trained model.
        protocol: By which it was trained.
        seed: With which it was trained.
        work: Folder of the trainings.
        cells: Receives the cell `search MODEL PROTOCOL SEED`, rounds by way and seed.
        seeds: How many searches in each way.

    Raises:
        NarError: The training has not ended.
    """
    name = f"search {model} {protocol.name} {seed}"
    done = {way: dict(cells.all.get(name, {}).get(way, {})) for way in WAYS}
    missing = [(str(s), way) for s in range(seeds) for way in WAYS if str(s) not in done[way]]
    if not missing:
        return
    train, _ = enas.split(data)
    folder = folder_of(work, model, protocol, seed)
    network, _ = trained(model, train.graphs, protocol, seed, folder)
    oracle = Oracle(data)
    for number, way in missing:
        rounds = search(network, train, oracle, int(number), improve=WAYS[way])
        done[way][number] = [asdict(one) for one in rounds]
        cells.put(name, dict(done))
