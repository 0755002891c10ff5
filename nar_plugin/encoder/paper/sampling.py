"""Motifs as the paper samples them: repeated subsequences of the encoded sequence (section 3.2)."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from nar_plugin.encoder.words import kind
from nar_plugin.mining.step_labels import encode_neighbours, node_labels
from nar_plugin.tracing.graph import ArchitectureGraph, IntArray

_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def sampled_starts(graph: ArchitectureGraph, steps: int, longest: int) -> NDArray[np.int64]:
    """Where the motifs of a graph begin.

    Eq. 2 labels each operation by its kind, its parents and its children, s times over. A motif is
    a subsequence of these labels that occurs at least twice; the longest are taken first, and of
    one length those to the left. What no such subsequence covers is a motif by itself, operation by
    operation: "each node can be represented by a motif".

    Args:
        graph: The graph; the order of its operations is that of the sequence.
        steps: s.
        longest: Most operations of a subsequence.

    Returns:
        int64[m], ascending; the first is 0.
    """
    labels = encode_neighbours(node_labels(graph, kind), graph.edges, steps)
    count = len(labels)
    covered = np.zeros(count, dtype=bool)
    begins = np.ones(count, dtype=bool)
    windows = _windows(labels, min(longest, count // 2))
    for length in range(len(windows), 1, -1):
        for place in _repeats(windows[length - 1], length, covered):
            covered[place : place + length] = True
            begins[place + 1 : place + length] = False
    return np.flatnonzero(begins)


def _windows(labels: IntArray, longest: int) -> list[NDArray[np.uint64]]:
    """For each length from 1, a hash of every window of labels."""
    own = (labels.astype(np.uint64) + np.uint64(1)) * _FACTOR
    own ^= own >> np.uint64(31)
    found = [own]
    for length in range(2, longest + 1):
        found.append(found[-1][:-1] * _FACTOR + own[length - 1 :])
    return found


def _repeats(windows: NDArray[np.uint64], length: int, covered: NDArray[np.bool_]) -> list[int]:
    """Places of windows that occur twice, apart from one another and from what is covered."""
    before = np.concatenate([[0], np.cumsum(covered)])
    free = np.flatnonzero(before[length:] == before[:-length])
    words = windows[free].tolist()
    counts = Counter(words)
    chosen: dict[int, list[int]] = {}
    end = 0
    for place, word in zip(free.tolist(), words, strict=True):
        if counts[word] > 1 and place >= end:
            chosen.setdefault(word, []).append(place)
            end = place + length
    return [place for places in chosen.values() if len(places) > 1 for place in places]
