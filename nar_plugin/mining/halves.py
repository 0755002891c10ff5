"""Puts the halves of blocks of two streams together."""

from __future__ import annotations

from nar_plugin.mining.segmentation import Repeat
from nar_plugin.tracing.graph import IntArray

LEAST = 6  # borders by which halves are told


def whole(repeat: Repeat, values: IntArray) -> Repeat:
    """The repeat with two of its blocks in one where every other border is wider.

    A block of two streams, such as a text's and a picture's that meet in one attention, has a half
    for each, and the halves may be alike. Between them the one has ended and the other has not, so
    that more values cross than between two blocks.

    Args:
        repeat: Some blocks.
        values: int32[n + 1], how many values cross each border.
    """
    crossing = [int(values[start]) for start in repeat.starts]
    even, odd = crossing[2::2], crossing[1::2]
    if len(even) + len(odd) < LEAST or not (max(even) < min(odd) or max(odd) < min(even)):
        return repeat
    return Repeat(repeat.starts[max(odd) < min(even) :: 2], repeat.stop)
