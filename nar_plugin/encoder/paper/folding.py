"""Graphs folded: what no layer of a graph network can tell apart is computed once.

After l convolutions the row of a node depends on nothing but its input, its neighbours' inputs and
so on l steps away, with their degrees: its Weisfeiler-Lehman colour. Architectures repeat their
blocks, so a batch has far fewer colours than nodes. A level holds one row for each colour, and its
edges lead to rows of the level below. The results are those of the unfolded graphs; only dropout,
which equal rows then share, differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Rows:
    """Rows that are weighted sums of rows below, as a compressed sparse matrix.

    Attributes:
        starts: int64[r + 1], where the entries of each row begin.
        sources: int64[e], rows below.
        weights: float32[e].
    """

    starts: Ints
    sources: Ints
    weights: Floats

    def of(self, chosen: Ints) -> Rows:
        """Some of the rows."""
        sizes = self.starts[chosen + 1] - self.starts[chosen]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        places = np.repeat(self.starts[chosen] - starts[:-1], sizes) + np.arange(starts[-1])
        return Rows(starts, self.sources[places], self.weights[places])


class Mix(NamedTuple):
    """`Rows` as tensors, with their transpose for the way back.

    Attributes:
        sources: int64[e]; `starts`: int64[r]; `weights`: float32[e].
        targets: int64[e] of the transpose; `back`: int64[n], its starts; `weights_back`.
        own: int64[r], the row below that is the node itself; empty for a readout.
    """

    sources: Tensor
    starts: Tensor
    weights: Tensor
    targets: Tensor
    back: Tensor
    weights_back: Tensor
    own: Tensor


class FoldedBatch(NamedTuple):
    """g graphs as levels.

    Attributes:
        inputs: int64[n], which input each row of the lowest level is.
        mixes: From each level to the next: D^-1/2 (M + I) D^-1/2 of Eq. 3.
        readout: From the last level to the graphs: the mean over all nodes.
    """

    inputs: Tensor
    mixes: list[Mix]
    readout: Mix


class Folded:
    """Many graphs, folded together.

    Args:
        inputs: int64[n], the input of each node of all graphs, side by side.
        edges: int64[E, 2], source and target, numbered over all graphs.
        sizes: The number of nodes of each graph.
        layers: How many convolutions will be done.
        both: Whether edges are read both ways; else a node hears its parents alone.
    """

    def __init__(
        self,
        inputs: Ints,
        edges: Ints,
        sizes: Sequence[int] | Ints,
        layers: int,
        *,
        both: bool = True,
    ) -> None:
        count = len(inputs)
        loops = np.arange(count)
        ways = [edges, edges[:, ::-1]] if both else [edges]
        target = np.concatenate([*(way[:, 1] for way in ways), loops])
        source = np.concatenate([*(way[:, 0] for way in ways), loops])
        order = np.argsort(target, kind="stable")
        source = source[order]
        degrees = np.bincount(target, minlength=count)
        starts = np.concatenate([[0], np.cumsum(degrees)])
        root = 1 / np.sqrt(degrees)
        weights = (root[target[order]] * root[source]).astype(np.float32)
        nodes = Rows(starts, source, weights)
        colour = inputs
        key = _mixed(inputs.astype(np.uint64) * np.uint64(1 << 20) + degrees.astype(np.uint64), 0)
        self.levels: list[Rows] = []
        self.own: list[Ints] = []
        for _ in range(layers):
            # The sum of its neighbours' hashes names their multiset.
            key = _mixed(key, 1) + np.add.reduceat(_mixed(key, 2)[source], starts[:-1])
            _, first, found = np.unique(key, return_index=True, return_inverse=True)
            rows = nodes.of(first)
            self.levels.append(Rows(rows.starts, colour[rows.sources], rows.weights))
            self.own.append(colour[first])
            colour = found
        self.readout = _means(colour, np.asarray(sizes, dtype=np.int64))

    def __len__(self) -> int:
        """The number of graphs."""
        return len(self.readout.starts) - 1

    def batch(self, chosen: Ints, device: torch.device) -> FoldedBatch:
        """Some of the graphs, each level with the rows alone that they need."""
        rows = self.readout.of(chosen)
        needed, sources = np.unique(rows.sources, return_inverse=True)
        none = np.zeros(0, dtype=np.int64)
        readout = _mix(Rows(rows.starts, sources, rows.weights), none, len(needed), device)
        mixes: list[Mix] = []
        for level, own in zip(self.levels[::-1], self.own[::-1], strict=True):
            rows, mine = level.of(needed), own[needed]
            needed, sources = np.unique(rows.sources, return_inverse=True)
            below = Rows(rows.starts, sources, rows.weights)
            mixes.append(_mix(below, np.searchsorted(needed, mine), len(needed), device))
        return FoldedBatch(torch.from_numpy(needed).to(device), mixes[::-1], readout)


class _Mixing(torch.autograd.Function):
    """A sparse matrix times a dense one, forwards and backwards in the order of memory."""

    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, rows: Tensor, mix: Mix) -> Tensor:
        ctx.mix = mix  # type: ignore[attr-defined]
        return _sums(rows, mix.sources, mix.starts, mix.weights)

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, gradient: Tensor) -> tuple[Tensor, None]:
        mix: Mix = ctx.mix  # type: ignore[attr-defined]
        return _sums(gradient.contiguous(), mix.targets, mix.back, mix.weights_back), None


def mixed(rows: Tensor, mix: Mix) -> Tensor:
    """float32[r, d]: weighted sums of rows float32[n, d]."""
    result: Tensor = _Mixing.apply(rows, mix)
    return result


def _sums(rows: Tensor, sources: Tensor, starts: Tensor, weights: Tensor) -> Tensor:
    # On one core ten times as fast as index_add of gathered rows.
    return torch.nn.functional.embedding_bag(
        sources, rows, starts, mode="sum", per_sample_weights=weights
    )


def _mix(rows: Rows, own: Ints, below: int, device: torch.device) -> Mix:
    targets = np.repeat(np.arange(len(rows.starts) - 1), np.diff(rows.starts))
    order = np.argsort(rows.sources, kind="stable")
    back = np.searchsorted(rows.sources[order], np.arange(below))
    arrays = (
        *(rows.sources, rows.starts[:-1], rows.weights),
        *(targets[order], back, rows.weights[order], own),
    )
    return Mix(*(torch.from_numpy(np.ascontiguousarray(array)).to(device) for array in arrays))


def _means(colour: Ints, sizes: Ints) -> Rows:
    """The share of each colour in each graph."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    span = int(colour.max(initial=0)) + 1
    pairs, counts = np.unique(owner * span + colour, return_counts=True)
    graph, rows = np.divmod(pairs, span)
    starts = np.searchsorted(graph, np.arange(len(sizes) + 1))
    return Rows(starts, rows, (counts / sizes[graph]).astype(np.float32))


def _mixed(values: NDArray[np.uint64], role: int) -> NDArray[np.uint64]:
    """uint64[n], a hash of each value in a role (splitmix64)."""
    found = (values + np.uint64(role + 1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        found = (found ^ (found >> np.uint64(shift))) * np.uint64(factor)
    return found ^ (found >> np.uint64(31))
