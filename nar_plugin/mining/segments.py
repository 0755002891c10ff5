"""Candidate blocks between anchors, and what each saves as a copy of the one before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nar_plugin.mining.anchors import Anchors
from nar_plugin.mining.likeness import FloatArray, Likeness
from nar_plugin.tracing.graph import IntArray

SHORTEST_BLOCK = 3  # operations; below this a repeat is a chain of layers, not a block
LIKENESS = 0.5  # of a block and the one before it
LAST_LIKENESS = 0.7  # of a block behind the last anchor, whose end is a guess
LAGS = 2  # blocks before it that a block may be a copy of: two kinds of layers may alternate
SHARPNESS = 4  # the higher, the less a small difference costs
# Scores, in operations. Chosen on the development models of `nar dev bench motifs`.
MENTION = 1.0  # what it costs to say that a block is repeated
LEAST_SAVING = 3.0  # what a repeat must save
FIRST, LONG = 0.5, 16  # worth of each operation of the first block, up to so many
CUT_OFF, LOOK_BACK = 0.5, 12  # cost of each operation cut off its front, up to so many

BoolArray = NDArray[np.bool_]
Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Segments:
    """m stretches from one anchor to the next of its group, in order of groups and places.

    Scores count operations: what need not be written twice.

    Attributes:
        start: int32[m].
        stop: int32[m], where the next segment of the group begins.
        usable: bool[m], whether it is one: of one group, and long enough.
        follows: bool[m], whether it is like the segment before it and begins where that ends.
        gain: float64[m], what it saves as a copy of one before it.
        opening: float64[m], the score of a repeat that begins with it.
        cut_off: float64[m], what such a repeat costs where none ends before it.
        last_stop: int32[m], the end of a block that begins at `stop`, as long as the segment.
        last_gain: float64[m], what that block saves as its copy; -inf where it is unlike.
    """

    start: IntArray
    stop: IntArray
    usable: BoolArray
    follows: BoolArray
    gain: Scores
    opening: Scores
    cut_off: Scores
    last_stop: IntArray
    last_gain: Scores


def segments(
    found: Anchors, likeness: Likeness, labels: IntArray, appeal: NDArray[np.float64]
) -> Segments:
    """Compare neighbouring segments, vectorised: time and memory are linear in the anchors.

    Args:
        found: Anchors of a graph with n operations.
        likeness: Of its stretches.
        labels: int32[n], C^0.
        appeal: float64[n + 1], how much each border looks like one between blocks.
    """
    start, stop = found.places[:-1], found.places[1:]
    usable = (found.groups[:-1] == found.groups[1:]) & (stop - start >= SHORTEST_BLOCK)
    stop = np.where(usable, stop, start)
    size = stop - start
    counts = likeness.counts(start, stop)
    joined = likeness.joined(start, stop)

    common = likeness.common(counts[1:], counts[:-1])
    alike = _behind(likeness.share(common, size[1:] + size[:-1], joined[1:], joined[:-1]), 1)
    follows = usable & np.roll(usable, 1) & (alike >= LIKENESS)
    most = _behind(common, 1)
    chained = follows
    for lag in range(2, min(LAGS, len(start) - 1) + 1):
        chained = chained & np.roll(follows, lag - 1)
        earlier = _behind(likeness.common(counts[lag:], counts[:-lag]), lag)
        most = np.where(chained, np.maximum(most, earlier), most)

    last_stop = np.minimum(stop + size, len(labels)).astype(np.int32)
    last = likeness.counts(stop, last_stop)
    last_common = likeness.common(last, counts)
    last_alike = likeness.share(
        last_common, last_stop - start, likeness.joined(stop, last_stop), joined
    )
    last_gain = _saved(last_common, last_alike) + appeal[stop]
    return Segments(
        start,
        stop,
        usable,
        follows,
        _saved(most, alike) + appeal[start],
        FIRST * np.minimum(size, LONG) - LEAST_SAVING,
        CUT_OFF * _cut_off(start, stop, usable, labels).astype(np.float64),
        last_stop,
        np.where(usable & (last_alike >= LAST_LIKENESS), last_gain, -np.inf),
    )


def _saved(common: FloatArray, alike: FloatArray) -> Scores:
    """What a copy saves: what it has in common, less the more it differs, less its mention."""
    return np.asarray(common * (1 - (1 - alike) ** SHARPNESS) - MENTION, dtype=np.float64)


def _cut_off(start: IntArray, stop: IntArray, usable: BoolArray, labels: IntArray) -> IntArray:
    """How many operations before each segment repeat before the next one, or the one behind it.

    A repeat that begins in the middle of a block cuts off the first half of the first block.
    """
    most = np.zeros(len(start), dtype=np.int32)
    for lag in range(1, min(LAGS, len(start)) + 1):
        later = np.roll(stop, 1 - lag)
        same = usable.copy()
        for step in range(1, lag):
            same &= np.roll(usable, -step)
            same[-step:] = False
        for back in range(1, LOOK_BACK + 1):
            same &= (start >= back) & (4 * back <= 3 * (stop - start))
            same[same] = labels[start[same] - back] == labels[later[same] - back]
            if not same.any():
                break
            most[same] = np.maximum(most[same], back)
    return most


def _behind(values: FloatArray, lag: int) -> FloatArray:
    """Values that belong to segment k + lag, at their segments."""
    return np.concatenate([np.zeros(lag, dtype=np.float32), values])
