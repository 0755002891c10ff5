"""The cells of docs/operation-embeddings.md: Tables 1 and 2, section 4.4, what the labels know."""

from __future__ import annotations

from dataclasses import asdict

from torch import Tensor

from nar_plugin.train.vae.fit.runs import Run
from nar_plugin.train.vae.fit.training import means, trained
from nar_plugin.train.vae.measure import structure, wirings
from nar_plugin.train.vae.measure.abilities import abilities
from nar_plugin.train.vae.measure.cells import Cells
from nar_plugin.train.vae.measure.prediction import predict, predict_by_trees, standardised
from nar_plugin.train.vae.spaces.networks import Networks, split
from nar_plugin.train.vae.spaces.space import ENAS, Space


def measure_data(space: Space, data: Networks, cells: Cells, fits: int) -> None:
    """What needs no model: the one-hot row of Table 2; of ENAS section 4.4 and the spread too."""
    if space is ENAS and "structure" not in cells.all:
        lengths, clusters = structure.path_length(data.graphs), structure.clustering(data.graphs)
        cells.put(
            "structure",
            {
                "path length": structure.correlation(lengths, data.accuracy),
                "clustering": structure.correlation(clusters, data.accuracy),
                **wirings.spread(data),
            },
        )
    name = f"{space.name}/one-hot"
    if not _is_measured(cells, name, fits):
        train, test = split(data)
        rows = space.one_hot(train.graphs), space.one_hot(test.graphs)
        _predict(cells, name, fits, train, test, *rows)


def measure_model(space: Space, data: Networks, run: Run, cells: Cells, fits: int) -> None:
    """Tables 1 and 2 for a model whose training has ended.

    Args:
        space: In which it was trained.
        data: All networks.
        run: Its training.
        cells: Receives a cell; what it has is not measured again.
        fits: Gaussian processes, each with another seed.

    Raises:
        NarError: The training has not ended.
    """
    if _is_measured(cells, run.name, fits):
        return
    train, test = split(data)
    network, history = trained(run, train.graphs)
    if run.name not in cells.all:
        facts = {
            "epochs": len(history),
            "seconds": round(sum(epoch["seconds"] for epoch in history)),
            "loss": history[-1],
        }
        able = abilities(network, train.graphs, test.graphs, space.valid)
        cells.put(run.name, facts | asdict(able))
    rows = means(network, train.graphs), means(network, test.graphs)
    _predict(cells, run.name, fits, train, test, *rows)


def _is_measured(cells: Cells, name: str, fits: int) -> bool:
    return not _missing(cells, name, fits) and "trees" in cells.all[name]


def _missing(cells: Cells, name: str, fits: int) -> range:
    """Seeds of the Gaussian processes that a cell lacks."""
    return range(len(cells.all.get(name, {}).get("rmse", ())), fits)


def _predict(
    cells: Cells,
    name: str,
    fits: int,
    train: Networks,
    test: Networks,
    rows: Tensor,
    rows_test: Tensor,
) -> None:
    """Add RMSE and Pearson's r of trees and of each seed of the Gaussian process to a cell."""
    data = standardised(rows, train.accuracy, rows_test, test.accuracy)
    if "trees" not in cells.all.get(name, {}):
        cells.put(name, cells.all.get(name, {}) | {"trees": asdict(predict_by_trees(data))})
    for seed in _missing(cells, name, fits):
        one, cell = predict(data, seed), cells.all.get(name, {})
        rmse, pearson = [*cell.get("rmse", ()), one.rmse], [*cell.get("pearson", ()), one.pearson]
        cells.put(name, cell | {"rmse": rmse, "pearson": pearson})
