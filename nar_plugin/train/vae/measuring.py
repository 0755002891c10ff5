"""The cells of docs/operation-embeddings.md: Tables 1 and 2, section 4.4, what the labels know."""

from __future__ import annotations

import statistics
from dataclasses import asdict
from pathlib import Path

from torch import Tensor

from nar_plugin.train.vae import enas, structure, wirings
from nar_plugin.train.vae.abilities import abilities
from nar_plugin.train.vae.autoencoder import Autoencoder
from nar_plugin.train.vae.cells import Cell, Cells
from nar_plugin.train.vae.enas import Enas
from nar_plugin.train.vae.folders import folder_of
from nar_plugin.train.vae.prediction import predict, standardised
from nar_plugin.train.vae.protocol import Protocol
from nar_plugin.train.vae.training import means, trained

GP_SEEDS = 10


def measure_data(data: Enas, cells: Cells, gp_seeds: int = GP_SEEDS) -> None:
    """What needs no model: section 4.4, the spread inside a wiring, the one-hot row of Table 2."""
    if cells.get("structure") is None:
        lengths, clusters = structure.path_length(data.graphs), structure.clustering(data.graphs)
        cells.put(
            "structure",
            {
                "path length": structure.correlation(lengths, data.accuracy),
                "clustering": structure.correlation(clusters, data.accuracy),
                **wirings.spread(data),
            },
        )
    if cells.get("one-hot") is None:
        train, test = enas.split(data)
        rows = enas.one_hot(train.graphs), enas.one_hot(test.graphs)
        cells.put("one-hot", _predicted(train, test, *rows, gp_seeds))


def measure_model(
    data: Enas,
    model: str,
    protocol: Protocol,
    seed: int,
    work: Path,
    cells: Cells,
    gp_seeds: int = GP_SEEDS,
) -> None:
    """Tables 1 and 2 for a model whose training has ended.

    Raises:
        NarError: It has not.
    """
    name = f"{model}/{protocol.name}/{seed}"
    if cells.get(name) is not None:
        return
    train, test = enas.split(data)
    network, history = trained(
        model, train.graphs, protocol, seed, folder_of(work, model, protocol, seed)
    )
    cells.put(
        name,
        {
            "epochs": len(history),
            "seconds": round(sum(epoch["seconds"] for epoch in history)),
            "loss": history[-1],
            **asdict(abilities(network, test.graphs)),
            **_from_latent(network, train, test, gp_seeds),
        },
    )


def _from_latent(network: Autoencoder, train: Enas, test: Enas, gp_seeds: int) -> Cell:
    rows = means(network, train.graphs), means(network, test.graphs)
    return _predicted(train, test, *rows, gp_seeds)


def _predicted(train: Enas, test: Enas, rows: Tensor, rows_test: Tensor, gp_seeds: int) -> Cell:
    """RMSE and Pearson's r, mean and deviation over seeds of the Gaussian process."""
    data = standardised(rows, train.accuracy, rows_test, test.accuracy)
    found = [predict(data, seed) for seed in range(gp_seeds)]
    cell: Cell = {"gp seeds": gp_seeds}
    for name in ("rmse", "pearson"):
        values = [getattr(one, name) for one in found]
        cell[name] = statistics.fmean(values)
        cell[f"{name} deviation"] = statistics.pstdev(values)
    return cell
