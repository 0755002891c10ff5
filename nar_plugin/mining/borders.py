"""What crosses the border before each operation: blocks meet where little does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nar_plugin.tracing.graph import ArchitectureGraph, IntArray

REACH = 3  # operations to a side within which no thinner border may lie
NEAR = 8  # operations to a side among which a border's width is compared
SHARED, WIDER = (
    1.0,
    0.5,
)  # worth of many readers, cost of each value too many, in operations
JOIN = 2  # operations to a side of the thin place at which two branches have joined


class Borders:
    """What crosses the border before each operation of a graph.

    Attributes:
        values: int32[n + 1], how many distinct results are made before and read after it.
        readers: int32[n + 1], how many edges cross it.
    """

    def __init__(self, graph: ArchitectureGraph) -> None:
        self.readers = np.zeros(len(graph) + 1, dtype=np.int32)
        self.values = np.zeros(len(graph) + 1, dtype=np.int32)
        sources, targets = graph.edges[:, 0], graph.edges[:, 1]
        last = np.zeros(len(graph), dtype=np.int32)
        np.maximum.at(last, sources, targets)
        made = np.flatnonzero(last).astype(np.int32)
        _open_and_close(self.readers, sources, targets)
        _open_and_close(self.values, made, last[made])

    def thin(self) -> IntArray:
        """Positions where a block may begin.

        No fewer values may cross within reach behind it; nor before it, unless there the count
        rises: the values of a stem can be fewer than those of the blocks.
        """
        before, behind = self._fewest(REACH, 0), self._fewest(0, REACH)
        rising = np.append(self.values[1:] > self.values[:-1], False)
        thin = (self.values <= behind) & ((self.values <= before) | rising)
        return np.flatnonzero(thin[:-1]).astype(np.int32)

    def joins(self) -> IntArray:
        """int32[n + 1], how often before each position branches have joined: residual sums."""
        thin = self.values <= self._fewest(JOIN, JOIN)
        closing = np.zeros(len(self.values), dtype=np.int32)
        closing[1:] = (self.values[:-1] > self.values[1:]) & thin[1:]
        return np.cumsum(closing, dtype=np.int32)

    def appeal(self) -> NDArray[np.float64]:
        """float64[n + 1], how much each border looks like one between blocks.

        At best few values cross that many operations read (the first layers of a block and its
        residual connection), and no fewer cross near by.
        """
        values = np.maximum(1, self.values)
        shared = 1 - values / np.maximum(values, self.readers)
        wider = self.values - self._fewest(NEAR, NEAR)
        return np.asarray(SHARED * shared - WIDER * wider, dtype=np.float64)

    def _fewest(self, left: int, right: int) -> IntArray:
        """The fewest values that cross a border up to `left` before or `right` behind it."""
        padded = np.pad(self.values, (left, right), mode="edge")
        window = np.lib.stride_tricks.sliding_window_view(padded, left + right + 1)
        return np.asarray(window.min(axis=1), dtype=np.int32)


def _open_and_close(counts: IntArray, first: IntArray, last: IntArray) -> None:
    """Turn intervals (first, last] into how many of them cover each position."""
    np.add.at(counts, first + 1, 1)
    inside = last + 1 < len(counts)
    np.add.at(counts, (last + 1)[inside], -1)
    np.cumsum(counts, out=counts)
