"""Where the mass of two designs lies, and what of it the overlap moves from part to part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nar_plugin.encoder.labels import COMPARED, VIEWS, placed_labels, read
from nar_plugin.tracing.graph import ArchitectureGraph

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Masses:
    """The labels of two designs that are compared, and how often each block carries them.

    Attributes:
        views: int64[L], the view of each label.
        counts: Of each design float64[L, blocks], how often a block's operations carry each label.
    """

    views: IntArray
    counts: tuple[FloatArray, FloatArray]

    @classmethod
    def of(
        cls, graphs: tuple[ArchitectureGraph, ArchitectureGraph], owners: tuple[IntArray, IntArray]
    ) -> Masses:
        """The masses of two designs that are cut into blocks.

        Args:
            graphs: The two.
            owners: Of each int64[n], the block of each operation.
        """
        reads = [_with_places(graph) for graph in graphs]
        placed = np.concatenate(
            [own[places] for own, (_, places) in zip(owners, reads, strict=True)]
        )
        border = len(reads[0][1])
        views, labels, blocks, seconds = [], [], [], []
        for each in placed_labels([graph for graph, _ in reads], COMPARED):
            views.append(np.full(len(each.labels), each.view))
            labels.append(each.labels)
            blocks.append(placed[each.places])
            seconds.append(each.places >= border)
        names, first, numbers = np.unique(
            np.concatenate(labels), return_index=True, return_inverse=True
        )
        block, second = np.concatenate(blocks), np.concatenate(seconds)
        counts = []
        for own, of in zip(owners, (~second, second), strict=True):
            width = int(own.max(initial=-1)) + 1
            cells = numbers[of] * width + block[of]
            flat = np.bincount(cells, minlength=len(names) * width).astype(np.float64)
            counts.append(flat.reshape(len(names), width))
        return cls(np.concatenate(views)[first], (counts[0], counts[1]))

    def shares(self) -> tuple[FloatArray, FloatArray]:
        """The mass of each label in each block, of each design: float64[L, blocks].

        All of a label weighs as in `overlap.LabelTable`; its carriers have equal parts.
        """
        one, other = (self._shares(counts) for counts in self.counts)
        return one, other

    def _shares(self, counts: FloatArray) -> FloatArray:
        totals = counts.sum(axis=1)
        roots = np.sqrt(totals)
        of_view = np.bincount(self.views, roots, minlength=len(VIEWS))
        used = (of_view > 0).sum()
        whole = roots / np.maximum(of_view, 1e-12)[self.views] / max(used, 1)
        return np.asarray(counts * (whole / np.maximum(totals, 1))[:, None])

    def likenesses(self) -> FloatArray:
        """float64[blocks of a, blocks of b]: the overlap of each block with each.

        As if the blocks were the designs, labels of what stands around them included.
        """
        one, other = (self._alone(counts) for counts in self.counts)
        firsts, numbers = np.unique(one.T, axis=0, return_inverse=True)
        seconds, places = np.unique(other.T, axis=0, return_inverse=True)
        found = np.array([np.minimum(first, seconds).sum(axis=1) for first in firsts])
        return np.asarray(found[numbers.reshape(-1)][:, places.reshape(-1)])

    def _alone(self, counts: FloatArray) -> FloatArray:
        roots = np.sqrt(counts)
        of_view = np.zeros((len(VIEWS), counts.shape[1]))
        np.add.at(of_view, self.views, roots)
        used = np.maximum((of_view > 0).sum(axis=0), 1)
        return np.asarray(roots / np.maximum(of_view, 1e-12)[self.views] / used)

    def moved(
        self, parts: tuple[IntArray, IntArray], pairs: Sequence[tuple[int, int]]
    ) -> FloatArray:
        """float64[parts of a, parts of b]: the mass that the overlap moves between parts.

        Equal labels cost nothing to move, so many ways to move them are equally good. This is the
        one that keeps as much as it can within pairs and spreads the rest evenly. It sums to the
        overlap, no row to more than the part's share, and no column.

        Args:
            parts: Of each design int64[blocks], the part that each block belongs to.
            pairs: Parts that correspond, each in one pair at most.
        """
        left, right = (
            _joined(shares, part) for shares, part in zip(self.shares(), parts, strict=True)
        )
        moved = np.zeros((left.shape[1], right.shape[1]))
        total = np.minimum(left.sum(axis=1), right.sum(axis=1))
        for one, other in pairs:
            common = np.minimum(left[:, one], right[:, other])
            moved[one, other] = common.sum()
            left[:, one] -= common
            right[:, other] -= common
            total -= common
        spread = np.clip(total, 0, None)
        rests = (side / np.maximum(side.sum(axis=1), 1e-12)[:, None] for side in (left, right))
        first, second = rests
        return np.asarray(moved + (first * spread[:, None]).T @ second)


def _joined(shares: FloatArray, part: IntArray) -> FloatArray:
    """float64[L, parts]: the shares of blocks, summed over the blocks of each part."""
    member = np.zeros((len(part), int(part.max(initial=-1)) + 1))
    member[np.arange(len(part)), part] = 1
    return np.asarray(shares @ member)


def _with_places(graph: ArchitectureGraph) -> tuple[ArchitectureGraph, IntArray]:
    """What of a graph is labelled, and the place of each of its operations in the graph."""
    numbered = replace(graph, paths=tuple(map(str, range(len(graph)))))
    labelled = read(numbered)
    return labelled, np.array(list(map(int, labelled.paths)), dtype=np.int64)
