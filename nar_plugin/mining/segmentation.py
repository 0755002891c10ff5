"""The best way to cut a graph into repeats: dynamic programming over candidate blocks."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from nar_plugin.mining.segments import Segments


@dataclass(frozen=True)
class Repeat:
    """Blocks of one design that follow one another.

    Attributes:
        starts: The position at which each block begins.
        stop: The position behind the last block.
    """

    starts: tuple[int, ...]
    stop: int


class _End(NamedTuple):
    """A repeat that ends somewhere: its score with all before it, and its last segment."""

    score: float
    segment: int
    open: bool  # whether one more block follows the last segment, with no anchor behind it


_score = attrgetter("score")


class _Cuts:
    """The best score of the first operations, for one number of operations after the other."""

    def __init__(self, length: int) -> None:
        self.score = [0.0] * (length + 1)
        self.end: list[_End | None] = [None] * (length + 1)
        self.ending: list[_End | None] = [None] * (length + 1)  # exactly there
        self._done = 0
        self._coming: dict[int, list[_End]] = {}

    def add(self, stop: int, end: _End) -> None:
        self._coming.setdefault(stop, []).append(end)

    def advance(self, position: int) -> None:
        """Settle all numbers of operations up to `position`; no repeat may end there later."""
        while self._done < position:
            self._done += 1
            here = self._done
            self.score[here], self.end[here] = self.score[here - 1], self.end[here - 1]
            coming = self._coming.pop(here, ())
            if coming:
                end = self.ending[here] = max(coming, key=_score)
                if end.score > self.score[here]:
                    self.score[here], self.end[here] = end.score, end


def best_repeats(candidates: Segments, length: int) -> list[Repeat]:
    """The disjoint repeats of highest total score, in order.

    A repeat is a chain of segments, each following the one before, and one block more where the
    last anchor has its like. Every chain may begin and end anywhere. Time is linear in segments
    and operations, but for the sort.

    Args:
        candidates: The segments.
        length: The number of operations n.
    """
    start, stop = candidates.start.tolist(), candidates.stop.tolist()
    follows, gain = candidates.follows.tolist(), candidates.gain.tolist()
    opening, cut_off = candidates.opening.tolist(), candidates.cut_off.tolist()
    last_stop, last_gain = candidates.last_stop.tolist(), candidates.last_gain.tolist()
    first = [0.0] * len(start)  # scores with segment k as the first block of its repeat
    later = [-np.inf] * len(start)  # and as a later one
    before: list[_End | None] = [None] * len(start)
    cuts = _Cuts(length)
    usable = np.flatnonzero(candidates.usable)
    order = usable[np.lexsort((candidates.stop[usable], candidates.start[usable]))]
    for k in order.tolist():
        cuts.advance(start[k])
        first[k] = cuts.score[start[k]] + opening[k] - cut_off[k]
        before[k] = cuts.end[start[k]]
        ending = cuts.ending[start[k]]
        if ending is not None and ending.score + opening[k] > first[k]:
            first[k], before[k] = ending.score + opening[k], ending
        if follows[k]:
            later[k] = max(first[k - 1], later[k - 1]) + gain[k]
            cuts.add(stop[k], _End(later[k], k, False))
        if last_gain[k] > -np.inf:
            score = max(first[k], later[k]) + last_gain[k]
            cuts.add(last_stop[k], _End(score, k, True))
    cuts.advance(length)

    found = []
    end = cuts.end[length]
    while end is not None:
        k = end.segment
        starts = [stop[k], start[k]] if end.open else [start[k]]
        grown = not end.open or later[k] > first[k]  # a closed end is always a later block
        while grown:
            k -= 1
            starts.append(start[k])
            grown = later[k] > first[k]
        found.append(
            Repeat(
                tuple(reversed(starts)),
                last_stop[end.segment] if end.open else stop[end.segment],
            )
        )
        end = before[k]
    return found[::-1]
