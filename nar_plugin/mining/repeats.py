"""Finds the repeated subsequences of a label sequence: blocks that follow one another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nar_plugin.tracing.graph import IntArray

MOST_PERIODS = 64  # candidate block lengths that are looked at in one model
SHORTEST_BLOCK = 3  # operations; below this a repeat is a chain of layers, not a block


@dataclass(frozen=True)
class Run:
    """A stretch [start, stop) of the sequence that has the given period."""

    start: int
    stop: int
    period: int


def periodic_runs(levels: list[tuple[IntArray, IntArray]]) -> list[Run]:
    """Stretches that repeat with some period at least twice, not overlapping.

    For each candidate period p (the commonest distances between equal labels) the positions with
    labels[i] == labels[i + p] form maximal stretches; one that C^0 widens to at least p positions
    is a repeat. The time is linear in the sequence for each candidate.

    Args:
        levels: Pairs of labels C^s and C^0, int32[n] in topological order, the finest first: what
            repeats with its widths is taken before what repeats only in shape.

    Returns:
        Disjoint runs in order of their start.
    """
    taken = np.zeros(len(levels[0][0]), dtype=bool)
    kept: list[Run] = []
    for encoded, plain in levels:
        kept += _disjoint(_runs(encoded, plain), plain, taken)
    return sorted(kept, key=lambda run: run.start)


def _runs(encoded: IntArray, plain: IntArray) -> list[Run]:
    found: list[Run] = []
    for period in _candidate_periods(encoded):
        for start, stop in _stretches(encoded[:-period] == encoded[period:]):
            if 2 * (stop - start) >= period:
                run = _widened(Run(start, stop + period, period), plain)
                if run.stop - run.start >= 2 * period:
                    found.append(run)
    return found


def _widened(run: Run, plain: IntArray) -> Run:
    """The run of the labels C^0 around one of the labels C^s, by less than a period a side.

    The first and the last block of a stack have other neighbours than the inner ones, so C^s
    leaves their borders out; their operations themselves repeat.
    """
    start, stop, period = run.start, run.stop, run.period
    while start > max(0, run.start - period) and plain[start - 1] == plain[start - 1 + period]:
        start -= 1
    while stop < min(len(plain), run.stop + period) and plain[stop] == plain[stop - period]:
        stop += 1
    return Run(start, stop, period)


def _candidate_periods(labels: IntArray) -> list[int]:
    order = np.argsort(labels, kind="stable")
    same = labels[order[1:]] == labels[order[:-1]]
    distances = (order[1:] - order[:-1])[same]
    distances = distances[distances >= SHORTEST_BLOCK]
    values, counts = np.unique(distances, return_counts=True)
    best = np.argsort(-counts * values, kind="stable")[:MOST_PERIODS]
    return sorted(int(value) for value in values[best])


def _stretches(equal: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[tuple[int, int]]:
    padded = np.concatenate(([False], equal, [False])).astype(np.int8)
    change = np.diff(padded)
    starts, stops = np.flatnonzero(change == 1), np.flatnonzero(change == -1)
    return list(zip(starts.tolist(), stops.tolist(), strict=True))


def _disjoint(
    runs: list[Run], labels: IntArray, taken: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> list[Run]:
    """The block whose copies save most comes first; what it covers is marked as taken.

    A block of p operations that occurs c times saves (c - 1) p operations of description, so ten
    blocks are found before one stretch of five and its repetition.
    """
    blocks = [
        (run.period, tuple(sorted(labels[run.start : run.start + run.period]))) for run in runs
    ]
    copies: dict[object, int] = {}
    for run, block in zip(runs, blocks, strict=True):
        copies[block] = copies.get(block, 0) + (run.stop - run.start) // run.period
    ranked = sorted(
        zip(runs, blocks, strict=True),
        key=lambda pair: (-(copies[pair[1]] - 1) * pair[0].period, pair[0].period, pair[0].start),
    )
    kept = []
    for run, _ in ranked:
        free = np.flatnonzero(~taken[run.start : run.stop])
        if len(free) == 0:
            continue
        start, stop = run.start + int(free[0]), run.start + int(free[-1]) + 1
        if taken[start:stop].any() or stop - start < 2 * run.period:
            continue
        taken[start:stop] = True
        kept.append(Run(start, stop, run.period))
    return kept
