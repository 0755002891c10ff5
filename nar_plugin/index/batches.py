"""Many queries at once: a backend that reads the vectors once for all of them is asked once."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nar_plugin.index.nearest import Candidates, is_settled, nearest, ranked
from nar_plugin.index.vectors import FloatArray, Rows

MARGIN = 16  # candidates beyond k, of which rounding may have brought some too far down


@runtime_checkable
class BatchCandidates(Candidates, Protocol):
    """A search backend that answers many queries faster than one after another."""

    def best_of_each(self, queries: FloatArray, count: int) -> tuple[FloatArray, NDArray[np.int64]]:
        """For each query the `count` rows of highest inner product, best first.

        Args:
            queries: Unit vectors.
            count: At most the number of rows.

        Shapes:
            queries [m, dim], scores and rows [m, count].
        """


def nearest_of_each(
    backend: Candidates,
    vectors: Rows,
    queries: FloatArray,
    k: int,
    allowed: NDArray[np.bool_] | None = None,
) -> list[tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """What `nearest` gives for each query.

    A query whose candidates do not settle its answer is asked again by itself.

    Args:
        backend: Holds the same vectors.
        vectors: Unit vectors, as far as their type can say.
        queries: Unit vectors.
        k: See `nearest`.
        allowed: See `nearest`.

    Shapes:
        vectors [n, dim], queries [m, dim], allowed [n]; m pairs of scores and rows.
    """
    if not isinstance(backend, BatchCandidates) or allowed is not None or not len(vectors):
        return [nearest(backend, vectors, query, k, allowed) for query in queries]
    if not len(queries):
        return []
    wanted = min(k, len(vectors))
    count = min(wanted + MARGIN, len(vectors))
    scores, rows = backend.best_of_each(queries, count)
    return [
        ranked(vectors, found, query, wanted)
        if count == len(vectors) or is_settled(backend, near, wanted)
        else nearest(backend, vectors, query, k)
        for query, near, found in zip(queries, scores, rows, strict=True)
    ]
