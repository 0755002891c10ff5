"""How alike two stretches of a graph are, from counts of their labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nar_plugin.tracing.graph import IntArray

FloatArray = NDArray[np.float32]

COLUMNS = (32, 64, 32)  # of each kind of label; more labels than columns share them
UNLIKE_JOINS = 0.25  # how much another number of residual sums counts


class Likeness:
    """Compares stretches [start, stop) of a sequence in constant time each.

    Args:
        levels: Labels int32[n] of several kinds, coarse and fine. Two stretches are alike as far
            as their multisets of labels overlap, on average over the kinds: order and a few more
            or fewer operations do not matter, as between a block and one with a projection.
        joins: int32[n + 1], residual sums before each position.
    """

    def __init__(self, levels: tuple[IntArray, ...], joins: IntArray) -> None:
        self._counts = _prefix_counts(levels)
        self._kinds = len(levels)
        self._joins = joins

    def counts(self, start: IntArray, stop: IntArray) -> IntArray:
        """int32[m, columns], how often each label occurs in each stretch."""
        return np.asarray(self._counts[stop] - self._counts[start], dtype=np.int32)

    def common(self, one: IntArray, other: IntArray) -> FloatArray:
        """float32[m], how many operations two stretches have in common, from their counts."""
        both = one.sum(axis=1) + other.sum(axis=1) - np.abs(one - other).sum(axis=1)
        return np.asarray(both / (2 * self._kinds), dtype=np.float32)

    def of(self, one: tuple[IntArray, IntArray], other: tuple[IntArray, IntArray]) -> FloatArray:
        """float32[m], from 0 to 1 for equal stretches, each given as starts and stops."""
        common = self.common(self.counts(*one), self.counts(*other))
        sizes = (one[1] - one[0]) + (other[1] - other[0])
        return self.share(common, sizes, self.joined(*one), self.joined(*other))

    def joined(self, start: IntArray, stop: IntArray) -> IntArray:
        """int32[m], residual sums in each stretch."""
        return np.asarray(self._joins[stop] - self._joins[start], dtype=np.int32)

    @staticmethod
    def share(common: FloatArray, sizes: IntArray, one: IntArray, other: IntArray) -> FloatArray:
        """Common operations as a share of both stretches, less where the residual sums differ.

        A stretch with one sum is still like one with none: the first block of a stage that
        changes the resolution often has no residual connection.
        """
        fewer, more = np.minimum(one, other), np.maximum(one, other)
        more = np.where((fewer == 0) & (more == 1), 0, more)
        alike = 2 * common / np.maximum(sizes, 1)
        return np.asarray(alike * ((fewer + 1) / (more + 1)) ** UNLIKE_JOINS, dtype=np.float32)


def _prefix_counts(levels: tuple[IntArray, ...]) -> IntArray:
    table = np.zeros((len(levels[0]) + 1, sum(COLUMNS)), dtype=np.int32)
    rows = np.arange(1, len(table))
    offset = 0
    for labels, columns in zip(levels, COLUMNS, strict=True):
        table[rows, offset + labels % columns] = 1
        offset += columns
    return np.cumsum(table, axis=0, dtype=np.int32)
