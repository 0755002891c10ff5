"""The cells of docs/operation-embeddings.md: Tables 1 and 2, section 4.4, what the labels know."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from torch import Tensor

from nar_plugin.train.vae import enas, structure, wirings
from nar_plugin.train.vae.abilities import abilities
from nar_plugin.train.vae.cells import Cells
from nar_plugin.train.vae.enas import Enas
from nar_plugin.train.vae.folders import folder_of
from nar_plugin.train.vae.prediction import predict, standardised
from nar_plugin.train.vae.protocol import Protocol
from nar_plugin.train.vae.training import means, trained

GP_SEEDS = 10


def measure_data(data: Enas, cells: Cells) -> None:
    """What needs no model: section 4.4, the spread inside a wiring, the one-hot row of Table 2."""
    if "structure" not in cells.all:
        lengths, clusters = structure.path_length(data.graphs), structure.clustering(data.graphs)
        cells.put(
            "structure",
            {
                "path length": structure.correlation(lengths, data.accuracy),
                "clustering": structure.correlation(clusters, data.accuracy),
                **wirings.spread(data),
            },
        )
    if _open(cells, "one-hot"):
        train, test = enas.split(data)
        _predict(
            cells, "one-hot", train, test, enas.one_hot(train.graphs), enas.one_hot(test.graphs)
        )


def measure_model(
    data: Enas, model: str, protocol: Protocol, seed: int, work: Path, cells: Cells
) -> None:
    """Tables 1 and 2 for a model whose training has ended.

    Args:
        data: All networks.
        model: A name of `models.MODELS`.
        protocol: By which it was trained.
        seed: With which it was trained.
        work: Folder of the trainings.
        cells: Receives a cell; what it has is not measured again.

    Raises:
        NarError: The training has not ended.
    """
    name = f"{model}/{protocol.name}/{seed}"
    if not _open(cells, name):
        return
    train, test = enas.split(data)
    folder = folder_of(work, model, protocol, seed)
    network, history = trained(model, train.graphs, protocol, seed, folder)
    if name not in cells.all:
        facts = {
            "epochs": len(history),
            "seconds": round(sum(epoch["seconds"] for epoch in history)),
            "loss": history[-1],
        }
        cells.put(name, facts | asdict(abilities(network, test.graphs)))
    _predict(cells, name, train, test, means(network, train.graphs), means(network, test.graphs))


def _open(cells: Cells, name: str) -> bool:
    """Whether a cell lacks some of the Gaussian processes."""
    return len(cells.all.get(name, {}).get("rmse", ())) < GP_SEEDS


def _predict(
    cells: Cells, name: str, train: Enas, test: Enas, rows: Tensor, rows_test: Tensor
) -> None:
    """Add RMSE and Pearson's r of each seed of the Gaussian process to a cell."""
    data = standardised(rows, train.accuracy, rows_test, test.accuracy)
    while _open(cells, name):
        cell = cells.all.get(name, {})
        one = predict(data, len(cell.get("rmse", ())))
        rmse, pearson = [*cell.get("rmse", ()), one.rmse], [*cell.get("pearson", ()), one.pearson]
        cells.put(name, cell | {"rmse": rmse, "pearson": pearson})
