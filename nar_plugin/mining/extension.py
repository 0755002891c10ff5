"""Lengthens a repeat by the blocks at its ends that begin in another way."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from nar_plugin.mining.likeness import Likeness
from nar_plugin.mining.segmentation import Repeat
from nar_plugin.tracing.graph import IntArray

END_LIKENESS = 0.5  # of a block at the end and its neighbour
SHORTEST, LONGEST = 0.4, 1.5  # of a block at the end, in lengths of the repeat's blocks
CONTAINED = 0.7  # share of a shorter block's operations that its neighbour has too
SHORTEST_CONTAINED = 0.3


def extended(repeat: Repeat, left: int, right: int, likeness: Likeness, cuts: IntArray) -> Repeat:
    """The repeat with every block before and behind it that is like its neighbours.

    The first block of a stack often lacks a norm or projects its input, so that no anchor finds
    it; in a mixture of experts it is a dense layer, which the others contain.

    Args:
        repeat: Some blocks.
        left: No block may begin before this position.
        right: No block may end behind this position.
        likeness: Of stretches of the graph.
        cuts: Positions, ascending, at which blocks may begin and end.
    """
    borders = [*repeat.starts, repeat.stop]
    size = int(np.median(np.diff(borders)))
    while True:
        low, high = borders[0] - LONGEST * size, borders[0] - SHORTEST_CONTAINED * size
        places = cuts[(cuts >= max(left, low)) & (cuts < high)]
        best = _end(places, np.full_like(places, borders[0]), borders[:3], likeness, size)
        if best is None:
            break
        borders.insert(0, int(places[best]))
    while True:
        low, high = borders[-1] + SHORTEST_CONTAINED * size, borders[-1] + LONGEST * size
        places = cuts[(cuts > low) & (cuts <= min(right, high))]
        best = _end(np.full_like(places, borders[-1]), places, borders[-3:], likeness, size)
        if best is None:
            break
        borders.append(int(places[best]))
    return Repeat(tuple(borders[:-1]), borders[-1])


def _end(
    starts: IntArray, stops: IntArray, neighbours: list[int], likeness: Likeness, size: int
) -> int | None:
    """The stretch that is most like one of two neighbouring blocks, if one is alike enough.

    Else, of those that one of them contains, the one with most in common and least besides.
    """
    if not len(starts):
        return None
    lengths = stops - starts
    alike = np.zeros(len(starts), dtype=np.float32)
    most = np.zeros(len(starts), dtype=np.float32)
    counts, joined = likeness.counts(starts, stops), likeness.joined(starts, stops)
    for start, stop in pairwise(neighbours):
        block = np.full_like(starts, start), np.full_like(starts, stop)
        common = likeness.common(counts, likeness.counts(*block))
        sizes = lengths + stop - start
        share = likeness.share(common, sizes, joined, likeness.joined(*block))
        alike = np.maximum(alike, share)
        most = np.maximum(most, common)
    alike[lengths <= SHORTEST * size] = 0
    best = int(np.argmax(alike))
    if alike[best] >= END_LIKENESS:
        return best
    best = int(np.argmax(np.where(most >= CONTAINED * lengths, 2 * most - lengths, 0)))
    return best if most[best] >= CONTAINED * lengths[best] else None
