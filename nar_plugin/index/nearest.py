"""The rows nearest to a vector, the same whatever searches.

Backends sum a dot product in different orders, so their scores differ in the last bits, and each
breaks ties in its own way. So a backend only proposes candidates: enough of them that no other row
can belong to the answer. Their scores are then computed anew in float64, by one routine for all
backends, and ties go to the earlier row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nar_plugin.index.backends import BatchCandidates, Candidates
from nar_plugin.index.vectors import FloatArray, Rows, as_float32

MARGIN = 16  # candidates beyond k, of which rounding may have brought some too far down


def nearest(
    backend: Candidates,
    vectors: Rows,
    query: FloatArray,
    k: int,
    allowed: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The k nearest rows by cosine, the same whatever the backend.

    Args:
        backend: Holds the same vectors.
        vectors: Unit vectors, as far as their type can say.
        query: A unit vector.
        k: At least 1; more than the allowed rows gives all of them.
        allowed: Which rows may be found; None for all.

    Returns:
        Scores in [-1, 1] and row numbers, best first, equal scores in row order.

    Shapes:
        vectors [n, dim], query [dim], allowed [n], scores and rows [min(k, allowed rows)].
    """
    limit = len(vectors) if allowed is None else int(allowed.sum())
    k = min(k, limit)
    if not k:
        return np.empty(0), np.empty(0, np.int64)
    return ranked(vectors, candidates(backend, query, k, limit, allowed), query, k)


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


def ranked(
    vectors: Rows, rows: NDArray[np.int64], query: FloatArray, k: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The k best of some rows by their exact scores, best first, equal scores in row order.

    Shapes:
        vectors [n, dim], rows [m], query [dim]; scores and rows [min(k, m)].
    """
    scores = exact_cosines(vectors, rows, query)
    order = np.lexsort((rows, -scores))[:k]
    return np.clip(scores[order], -1.0, 1.0), rows[order]


def exact_cosines(vectors: Rows, rows: NDArray[np.int64], query: FloatArray) -> NDArray[np.float64]:
    """The cosines of some rows to the query, the same wherever they stand.

    Shapes:
        vectors [n, dim], rows [m], query [dim]; result [m].
    """
    # Summed row by row and not by BLAS, whose last bits depend on the row's place in the matrix.
    found = as_float32(vectors[rows]).astype(np.float64)
    cosines: NDArray[np.float64] = (found * query).sum(axis=1)
    cosines /= np.sqrt((found * found).sum(axis=1))
    return cosines


def candidates(
    backend: Candidates,
    query: FloatArray,
    k: int,
    limit: int,
    allowed: NDArray[np.bool_] | None,
) -> NDArray[np.int64]:
    """Rows among which the k nearest are, rounding and ties included.

    Once the last candidate is more than twice the backend's error below the k-th, every row that
    could be among the k nearest has been seen.
    """
    count = min(limit, k + MARGIN)
    if backend.error is None:
        return backend.best(query, count, allowed)[1]
    while True:
        scores, rows = backend.best(query, count, allowed)
        if count == limit or is_settled(backend, scores, k):
            return rows
        count = min(limit, 4 * count)


def is_settled(backend: Candidates, scores: FloatArray, k: int) -> bool:
    """Whether no row below the last of these candidates can be among the k nearest."""
    error = backend.error
    return error is not None and bool(scores[k - 1] - scores[-1] > 2 * error)
