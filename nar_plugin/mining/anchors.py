"""Anchors: equal beginnings, between which lie the candidates for blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nar_plugin.tracing.graph import IntArray

LENGTHS = (1, 2, 3, 4, 6, 8)  # operations that must be equal at a beginning


@dataclass(frozen=True)
class Anchors:
    """Positions at which a block may begin, those that begin alike side by side.

    A position stands there once for each length of `LENGTHS` that tells it from other positions.

    Attributes:
        places: int32[a], positions, ascending inside a group.
        groups: int64[a], which of them begin alike.
    """

    places: IntArray
    groups: np.ndarray[tuple[int], np.dtype[np.int64]]


def anchors(labels: IntArray, thin: IntArray) -> Anchors:
    """Group positions by the next labels, for several numbers of labels.

    Args:
        labels: int32[n], in topological order.
        thin: The positions to look at, ascending.
    """
    count = len(labels)
    end = int(labels.max(initial=0)) + 1  # stands behind the last operation
    gram = labels.astype(np.int64)
    places, groups, used = [], [], 0
    shared = np.ones(len(thin), dtype=np.int64)  # how many begin like each, by the last length
    for length in range(1, max(LENGTHS) + 1):
        if length > 1:
            following = np.full(count, end, dtype=np.int64)
            following[: max(0, count - length + 1)] = labels[length - 1 :]
            _, gram = np.unique(gram * (end + 1) + following, return_inverse=True)
        if length in LENGTHS:
            chosen = gram[thin]
            before, shared = shared, np.bincount(chosen)[chosen]
            new = np.flatnonzero((shared > 1) & (shared != before))  # else the group is the same
            order = new[np.argsort(chosen[new], kind="stable")]
            places.append(thin[order])
            groups.append(chosen[order] + used)
            used += int(gram.max(initial=0)) + 1
    return Anchors(np.concatenate(places), np.concatenate(groups))
