"""The cells of the search: expected improvement and random search, seed by seed."""

from __future__ import annotations

from dataclasses import asdict

from nar_plugin.train.vae.fit.runs import Run
from nar_plugin.train.vae.fit.training import trained
from nar_plugin.train.vae.measure.cells import Cells
from nar_plugin.train.vae.search.latent_search import search
from nar_plugin.train.vae.search.oracle import oracle
from nar_plugin.train.vae.spaces.networks import Networks, split
from nar_plugin.train.vae.spaces.space import Space

WAYS = {"expected improvement": True, "random": False}


def measure_search(space: Space, data: Networks, run: Run, cells: Cells, seeds: int) -> None:
    """Search with seeds 0 to `seeds` - 1, in both ways; what is there is not searched again.

    Args:
        space: In which the model was trained.
        data: All networks.
        run: The training of the model.
        cells: Receives the cell `search SPACE/MODEL/PROTOCOL/SEED`, rounds by way and seed.
        seeds: How many searches in each way.

    Raises:
        NarError: The training has not ended.
    """
    name = f"search {run.name}"
    done = {way: dict(cells.all.get(name, {}).get(way, {})) for way in WAYS}
    missing = [(str(s), way) for s in range(seeds) for way in WAYS if str(s) not in done[way]]
    if not missing:
        return
    train, _ = split(data)
    network, _ = trained(run, train.graphs)
    ask = oracle(space, data)
    for number, way in missing:
        rounds = search(network, train, space, ask, int(number), improve=WAYS[way])
        done[way][number] = [asdict(one) for one in rounds]
        cells.put(name, dict(done))
