"""The overlap of designs: the mass of labels that they have in common, exactly and all at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from nar_plugin.encoder.labels import COMPARED, VIEWS, WIDTHLESS, Counts, counts_of
from nar_plugin.encoder.relabelling import Hashes
from nar_plugin.tracing.graph import ArchitectureGraph

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class LabelTable:
    """How each of n graphs spreads a mass of 1 over labels.

    Every view that the table has of a graph has the same part of it. Inside a view a label that
    occurs c times weighs sqrt(c): with c itself, the blocks of a deep design would leave nothing
    for what stands there once.

    Attributes:
        starts: int64[n + 1], where the labels of each graph begin.
        labels: uint64[T], ascending inside a graph's view.
        counts: int64[T], how often each occurs.
        views: uint8[T], the view of each.
    """

    starts: IntArray
    labels: Hashes
    counts: IntArray
    views: NDArray[np.uint8]

    @classmethod
    def of(cls, graphs: Sequence[ArchitectureGraph]) -> Self:
        """The table of graphs, in order."""
        return cls.from_counts(counts_of(graphs), len(graphs))

    @classmethod
    def from_counts(cls, found: Counts, graphs: int) -> Self:
        """The table of counted labels of a number of graphs."""
        starts = np.searchsorted(found.graphs, np.arange(graphs + 1))
        return cls(starts, found.labels, found.counts, found.views)

    def __len__(self) -> int:
        """The number of graphs."""
        return len(self.starts) - 1

    def counted(self) -> Counts:
        """The labels as the encoder reads them."""
        return Counts(self.graphs, self.views, self.labels, self.counts)

    def compared(self) -> LabelTable:
        """The table of the views that count in an overlap, and of no other."""
        return self._first(COMPARED)

    def widthless(self) -> LabelTable:
        """The table of the views that tell no width, in which a block is the same at any width."""
        return self._first(WIDTHLESS)

    def _first(self, views: int) -> LabelTable:
        kept = self.views < views
        if kept.all():
            return self
        starts = np.append(0, kept.cumsum())[self.starts]
        return LabelTable(starts, self.labels[kept], self.counts[kept], self.views[kept])

    @cached_property
    def graphs(self) -> IntArray:
        """int64[T]: the graph of each label."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def shares(self) -> FloatArray:
        """float32[T]: the part of its graph's mass that each label has."""
        roots = np.sqrt(self.counts.astype(np.float64))
        cells = self.graphs * len(VIEWS) + self.views
        totals = np.bincount(cells, roots, minlength=len(self) * len(VIEWS))
        used = (totals.reshape(len(self), len(VIEWS)) > 0).sum(axis=1)
        shares: FloatArray = (roots / totals[cells] / used[self.graphs]).astype(np.float32)
        return shares

    def taken(self, numbers: IntArray) -> LabelTable:
        """The table of some of the graphs, in the order of their numbers."""
        sizes = np.diff(self.starts)[numbers]
        starts = np.concatenate([[0], sizes.cumsum()])
        places = ranges(self.starts[numbers], sizes)
        return LabelTable(starts, self.labels[places], self.counts[places], self.views[places])

    @staticmethod
    def joined(tables: Sequence[LabelTable]) -> LabelTable:
        """One table of the graphs of several, in order."""
        sizes = [np.diff(table.starts) for table in tables]
        return LabelTable(
            np.concatenate([[0], np.concatenate([*sizes, np.zeros(0, np.int64)]).cumsum()]),
            np.concatenate([np.zeros(0, np.uint64), *(table.labels for table in tables)]),
            np.concatenate([np.zeros(0, np.int64), *(table.counts for table in tables)]),
            np.concatenate([np.zeros(0, np.uint8), *(table.views for table in tables)]),
        )


class Postings:
    """The graphs of a table by label, so that one design is compared with all of them at once.

    Args:
        table: The n graphs.
    """

    def __init__(self, table: LabelTable) -> None:
        order = _order(table.labels)
        self._graphs = table.graphs[order].astype(np.int32)
        self._shares = table.shares[order]
        labels = table.labels[order]
        first = np.flatnonzero(np.concatenate([[True], labels[1:] != labels[:-1]])[: len(labels)])
        self._labels = labels[first]
        self._starts = np.append(first, len(order))
        self._count = len(table)

    def overlaps(self, table: LabelTable, number: int) -> FloatArray:
        """float32[n]: the overlap of one graph of a table with each graph here."""
        own = slice(table.starts[number], table.starts[number + 1])
        labels, shares = table.labels[own], table.shares[own]
        if not len(self._labels):
            return np.zeros(self._count, np.float32)
        found = np.searchsorted(self._labels, labels).clip(max=len(self._labels) - 1)
        known = self._labels[found] == labels
        found, shares = found[known], shares[known]
        starts = self._starts[found]
        sizes = self._starts[found + 1] - starts
        places = ranges(starts, sizes)
        common = np.minimum(self._shares[places], np.repeat(shares, sizes))
        total = np.bincount(self._graphs[places], common, minlength=self._count)
        result: FloatArray = total.astype(np.float32)
        return result


def _order(labels: Hashes) -> IntArray:
    """int64[T]: the places of the labels, ascending by label and among equal ones by place.

    A sort of plain numbers is four times quicker than one of places: each number is the upper bits
    of a label, with the place below them.
    """
    bits = len(labels).bit_length()
    lower = np.uint64((1 << bits) - 1)
    keys = np.sort((labels & ~lower) | np.arange(len(labels), dtype=np.uint64))
    order: IntArray = (keys & lower).astype(np.int64)
    found = labels[order]
    if (found[1:] < found[:-1]).any():  # two labels that differ in their lower bits alone
        order = np.argsort(labels, kind="stable")
    return order


def overlaps(table: LabelTable, firsts: IntArray, seconds: IntArray) -> FloatArray:
    """float32[m]: the overlap of each first graph of a table with its second."""
    found = [
        _overlap(table, int(one), int(other)) for one, other in zip(firsts, seconds, strict=True)
    ]
    return np.array(found, dtype=np.float32)


def _overlap(table: LabelTable, one: int, other: int) -> float:
    first = slice(table.starts[one], table.starts[one + 1])
    second = slice(table.starts[other], table.starts[other + 1])
    _, left, right = np.intersect1d(
        table.labels[first], table.labels[second], assume_unique=True, return_indices=True
    )
    return float(np.minimum(table.shares[first][left], table.shares[second][right]).sum())


def ranges(starts: IntArray, sizes: IntArray) -> IntArray:
    """int64[sum of sizes]: the numbers of each range, one range after the other."""
    before = sizes.cumsum() - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))
