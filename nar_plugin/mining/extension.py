"""Lengthens a repeat by the blocks at its ends that begin in another way."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from nar_plugin.mining.likeness import Likeness
from nar_plugin.mining.segmentation import Repeat
from nar_plugin.tracing.graph import IntArray

END_LIKENESS = 0.5  # of a block at the end and its neighbour
SHORTEST, LONGEST = 0.4, 1.5  # of a block at the end, in lengths of the repeat's blocks


def extended(repeat: Repeat, left: int, right: int, likeness: Likeness, cuts: IntArray) -> Repeat:
    """The repeat with every block before and behind it that is like its neighbours.

    The first block of a stack often lacks a norm or projects its input, so that no anchor finds
    it.

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
        low, high = borders[0] - LONGEST * size, borders[0] - SHORTEST * size
        places = cuts[(cuts >= max(left, low)) & (cuts < high)]
        best = _most_alike(places, np.full_like(places, borders[0]), borders[:3], likeness)
        if best is None:
            break
        borders.insert(0, int(places[best]))
    while True:
        low, high = borders[-1] + SHORTEST * size, borders[-1] + LONGEST * size
        places = cuts[(cuts > low) & (cuts <= min(right, high))]
        best = _most_alike(np.full_like(places, borders[-1]), places, borders[-3:], likeness)
        if best is None:
            break
        borders.append(int(places[best]))
    return Repeat(tuple(borders[:-1]), borders[-1])


def _most_alike(
    starts: IntArray, stops: IntArray, neighbours: list[int], likeness: Likeness
) -> int | None:
    """The stretch that is most like one of two neighbouring blocks, if one is alike enough."""
    if not len(starts):
        return None
    alike = np.zeros(len(starts), dtype=np.float32)
    for start, stop in pairwise(neighbours):
        block = np.full_like(starts, start), np.full_like(starts, stop)
        alike = np.maximum(alike, likeness.of((starts, stops), block))
    best = int(np.argmax(alike))
    return best if alike[best] >= END_LIKENESS else None
