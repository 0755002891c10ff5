"""What a search is told of a network: a measured accuracy where there is one, else a guess."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from nar_plugin.train.vae.measure.prediction import fitted
from nar_plugin.train.vae.spaces.enas import wiring
from nar_plugin.train.vae.spaces.graphs import Graphs
from nar_plugin.train.vae.spaces.networks import Networks
from nar_plugin.train.vae.spaces.space import ENAS, NAS201, Space


@dataclass(frozen=True)
class Answers:
    """What an oracle says of networks.

    Attributes:
        accuracy: float64[n], of the kind that the space has.
        known: bool[n], whether it was measured; elsewhere the accuracy is a surrogate's.
    """

    accuracy: Tensor
    known: Tensor


Ask = Callable[[Graphs], Answers]


def exact(data: Networks) -> Ask:
    """Answer from a table that has all networks of the space."""
    table = dict(zip(data.graphs.keys(), data.accuracy.tolist(), strict=True))

    def ask(graphs: Graphs) -> Answers:
        found = [table[key] for key in graphs.keys()]
        return Answers(
            torch.tensor(found, dtype=torch.float64), torch.ones(len(graphs), dtype=torch.bool)
        )

    return ask


def shared_weights(data: Networks) -> Ask:
    """Answer for ENAS by the wiring, which is all that the accuracies know (`wirings.spread`).

    Where the file has no network of the wiring, a Gaussian process over its 15 free edges guesses.
    The accuracies are of shared weights, never test accuracies.
    """
    rows = wiring(data.graphs)
    table = dict(zip(_keys(rows), data.accuracy.tolist(), strict=True))
    mean, deviation = data.accuracy.mean(), data.accuracy.std()
    targets = ((data.accuracy - mean) / deviation).float()
    surrogate = fitted(rows.float() * 2 - 1, targets, seed=0)

    @torch.no_grad()
    def ask(graphs: Graphs) -> Answers:
        rows = wiring(graphs)
        guess = surrogate(rows.float() * 2 - 1).mean * deviation + mean
        found = [table.get(key) for key in _keys(rows)]
        known = torch.tensor([one is not None for one in found])
        measured = torch.tensor([one or 0.0 for one in found], dtype=torch.float64)
        return Answers(torch.where(known, measured, guess.double()), known)

    return ask


def _keys(rows: Tensor) -> list[tuple[int, ...]]:
    return [tuple(row) for row in rows.tolist()]


_ORACLES = {ENAS.name: shared_weights, NAS201.name: exact}


def oracle(space: Space, data: Networks) -> Ask:
    """What answers for networks of a space, from all of its measured ones."""
    return _ORACLES[space.name](data)
