"""Networks of a search space with the accuracies that were measured of them, and their split."""

from __future__ import annotations

import random
from dataclasses import dataclass

import torch
from torch import Tensor

from nar_plugin.train.vae.spaces.graphs import Graphs

_TRAIN = 0.9


@dataclass(frozen=True)
class Networks:
    """Graphs and their accuracies.

    Attributes:
        graphs: n of them.
        accuracy: float64[n]; the space says of what kind and in which unit.
    """

    graphs: Graphs
    accuracy: Tensor

    def __getitem__(self, chosen: slice) -> Networks:
        """Some of them."""
        return Networks(self.graphs[chosen], self.accuracy[chosen])


def split(data: Networks) -> tuple[Networks, Networks]:
    """Shuffle with seed 0, as D-VAE does; nine tenths train, the rest is the test side."""
    order = list(range(len(data.graphs)))
    random.Random(0).shuffle(order)  # Python's own generator, as there
    chosen = torch.tensor(order)
    shuffled = Networks(data.graphs[chosen], data.accuracy[chosen])
    train = int(len(order) * _TRAIN)
    return shuffled[:train], shuffled[train:]
