"""The rows nearest to a vector, the same whatever searches.

Backends sum a dot product in different orders, so their scores differ in the last bits, and each
breaks ties in its own way. So a backend only proposes candidates: enough of them that no other row
can belong to the answer. Their scores are then computed anew in float64, by one routine for all
backends, and ties go to the earlier row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nar_plugin.index.search.candidates import BatchCandidates, Candidates, Proposed
from nar_plugin.index.store.vectors import FloatArray, Rows, as_float32

ROUNDED = 1e-3  # error of the scores where a backend states none: they are of float16 rows

Found = tuple[NDArray[np.float64], NDArray[np.int64]]


def nearest(
    backend: Candidates,
    vectors: Rows,
    query: FloatArray,
    k: int,
    allowed: NDArray[np.bool_] | None = None,
) -> Found:
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
    count = min(limit, k + backend.margin)
    while True:
        proposed = backend.best(query, count, allowed)
        found = rescored(vectors, query, proposed, k)
        if count == limit or proposed.error is None or is_settled(proposed, found):
            return clipped(found)
        count = min(limit, 4 * count)


def nearest_of_each(
    backend: Candidates,
    vectors: Rows,
    queries: FloatArray,
    k: int,
    allowed: NDArray[np.bool_] | None = None,
) -> list[Found]:
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
    k = min(k, len(vectors))
    count = min(k + backend.margin, len(vectors))
    answers = []
    for query, proposed in zip(queries, backend.best_of_each(queries, count), strict=True):
        found = rescored(vectors, query, proposed, k)
        settled = count == len(vectors) or is_settled(proposed, found)
        answers.append(clipped(found) if settled else nearest(backend, vectors, query, k))
    return answers


def rescored(vectors: Rows, query: FloatArray, proposed: Proposed, k: int) -> Found:
    """The k best of the proposed rows by their exact scores, best first, ties in row order.

    Those that seem best are scored, and then those that rounding leaves a chance beside them.

    Args:
        vectors: Unit vectors, as far as their type can say.
        query: A unit vector.
        proposed: At least k rows.
        k: At least 1.

    Shapes:
        vectors [n, dim], query [dim], scores and rows [k].
    """
    rough = proposed.scores.astype(np.float64)
    first, others = np.split(np.argsort(-rough, kind="stable"), [k])
    scores = exact_cosines(vectors, proposed.rows[first], query)
    close = others[rough[others] >= scores.min() - stated(proposed)]
    more = exact_cosines(vectors, proposed.rows[close], query)
    scores, rows = np.append(scores, more), proposed.rows[np.append(first, close)]
    order = np.lexsort((rows, -scores))[:k]
    return scores[order], rows[order]


def stated(proposed: Proposed) -> float:
    """How far the scores of a backend can be from the cosines."""
    return ROUNDED if proposed.error is None else proposed.error


def is_settled(proposed: Proposed, found: Found) -> bool:
    """Whether no row that was not proposed can be among those that were found."""
    return bool(found[0][-1] > proposed.scores[-1] + stated(proposed))


def clipped(found: Found) -> Found:
    """Cosines that rounding has not left beyond 1."""
    return np.clip(found[0], -1.0, 1.0), found[1]


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
