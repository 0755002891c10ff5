"""Random decisions of a decoder, and what ends a graph."""

from __future__ import annotations

import torch
from torch import Tensor

from nar_plugin.train.vae.spaces.graphs import END, START, Graphs


class Draw:
    """Draws decisions from their scores, from one seed."""

    def __init__(self, seed: int, device: torch.device | None = None) -> None:
        self._generator = torch.Generator(device or "cpu").manual_seed(seed)
        self._device = device or torch.device("cpu")

    def normal(self, *shape: int) -> Tensor:
        """float32[shape] from N(0, 1)."""
        return torch.randn(*shape, generator=self._generator, device=self._device)

    def order(self, count: int) -> Tensor:
        """int64[count]: numbers below `count` in any order."""
        return torch.randperm(count, generator=self._generator, device=self._device)

    def kinds(self, scores: Tensor) -> Tensor:
        """int64[...]: one of the last axis of float32[..., kinds], by softmax."""
        flat = scores.softmax(-1).flatten(0, -2)
        return torch.multinomial(flat, 1, generator=self._generator).view(scores.shape[:-1])

    def bits(self, scores: Tensor) -> Tensor:
        """bool[...]: yes by the sigmoid of each score."""
        return torch.rand(scores.shape, generator=self._generator, device=self._device) < (
            scores.sigmoid()
        )


def finish(graphs: Graphs) -> Graphs:
    """Drop what stands after the first output, and give the output its edges.

    As in D-VAE's decoder: the last vertex is an output whatever was drawn, and an output reads
    each vertex that nothing else reads.
    """
    types, edges = graphs.types.clone(), graphs.edges.clone()
    types[:, -1] = END
    place = torch.arange(graphs.vertices, device=types.device)
    last = (types == END).long().argmax(1)[:, None]  # [n, 1]
    types[place > last] = START
    edges &= (place < last)[:, None, :]  # neither the output nor what comes after it has any yet
    loose = ~edges.any(2) & (place < last)
    edges |= loose[:, :, None] & (place == last)[:, None, :]
    return Graphs(types, edges, graphs.kinds)
