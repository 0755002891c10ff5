"""The accuracy that shared weights would give a network: the file's where it says, else a guess."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from nar_plugin.train.vae.enas import LAYERS, Enas, wiring
from nar_plugin.train.vae.graphs import END, Graphs
from nar_plugin.train.vae.prediction import SparseProcess, fitted


@dataclass(frozen=True)
class Answers:
    """What the oracle says of networks.

    Attributes:
        accuracy: float64[n], by shared weights; never a test accuracy.
        known: bool[n], whether the file has the wiring; elsewhere the accuracy is a surrogate's.
    """

    accuracy: Tensor
    known: Tensor


class Oracle:
    """Answers by the wiring, which is all that the accuracies know (`wirings.spread`).

    Where the file has no network of the wiring, a Gaussian process over its 15 free edges guesses.

    Args:
        data: All networks of the file.
    """

    def __init__(self, data: Enas) -> None:
        rows = wiring(data.graphs)
        self._table = dict(zip(_keys(rows), data.accuracy.tolist(), strict=True))
        self._mean, self._deviation = data.accuracy.mean(), data.accuracy.std()
        targets = ((data.accuracy - self._mean) / self._deviation).float()
        self._surrogate: SparseProcess = fitted(rows.float() * 2 - 1, targets, seed=0)

    @torch.no_grad()
    def ask(self, graphs: Graphs) -> Answers:
        """The accuracies of valid networks of six layers."""
        rows = wiring(graphs)
        guess = self._surrogate(rows.float() * 2 - 1).mean * self._deviation + self._mean
        found = [self._table.get(key) for key in _keys(rows)]
        known = torch.tensor([one is not None for one in found])
        table = torch.tensor([one or 0.0 for one in found], dtype=torch.float64)
        return Answers(torch.where(known, table, guess.double()), known)


def whole(graphs: Graphs) -> Tensor:
    """bool[g]: which networks have all six layers."""
    return (graphs.types == END).long().argmax(1) == LAYERS + 1


def _keys(rows: Tensor) -> list[tuple[int, ...]]:
    return [tuple(row) for row in rows.tolist()]
