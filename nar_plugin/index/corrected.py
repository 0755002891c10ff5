"""The rows of the best scores: cosines, corrected for how crowded each row's neighbourhood is.

score(q, x) = cos(q, x) - SHARE * (density(x) - density(q)), see `density.py`. A backend proposes by
cosine alone. So a pool of the nearest rows is scored, and enlarged until no row outside it can
belong to the answer: such a row is at most as near as the last of the pool, and its neighbourhood
at least as dense as the least dense one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nar_plugin.index.candidates import BatchCandidates, Candidates, Proposed
from nar_plugin.index.density import NEIGHBOURS, SHARE
from nar_plugin.index.nearest import Found, nearest_of_each, rescored, stated
from nar_plugin.index.vectors import FloatArray, Rows

POOL = 256  # rows beyond k that are scored at first
# Of an index so large and so unevenly crowded that these do not settle it, the answer is
# approximate: the best of so many nearest rows.
MOST_POOLED = 4096


class Searched(NamedTuple):
    """The rows of an index, and what searches them.

    Shapes:
        vectors [n, dim], densities [n].
    """

    backend: Candidates
    vectors: Rows
    densities: FloatArray


def density_at(searched: Searched, query: FloatArray, apart: int = -1) -> float:
    """The mean cosine of a query to its nearest rows, `apart` left out; 0 where no row has one.

    Shapes:
        query [dim].
    """
    return densities_at(searched, query[None], apart)[0]


def densities_at(searched: Searched, queries: FloatArray, apart: int = -1) -> list[float]:
    """What `density_at` gives for each query.

    Shapes:
        queries [m, dim].
    """
    if not searched.densities.any():  # a lone row, or an index of before there were any
        return [0.0] * len(queries)
    found = nearest_of_each(searched.backend, searched.vectors, queries, NEIGHBOURS + 1)
    others = [cosines[rows != apart][:NEIGHBOURS] for cosines, rows in found]
    return [float(cosines.mean()) if len(cosines) else 0.0 for cosines in others]


def best(
    searched: Searched,
    query: FloatArray,
    density: float,
    k: int,
    allowed: NDArray[np.bool_] | None = None,
) -> Found:
    """The k rows of the best scores, the same whatever the backend.

    Args:
        searched: The rows.
        query: A unit vector.
        density: See `density_at`.
        k: At least 1; more than the allowed rows gives all of them.
        allowed: Which rows may be found; None for all.

    Returns:
        Scores and row numbers, best first, equal scores in row order.

    Shapes:
        query [dim], allowed [n], scores and rows [min(k, allowed rows)].
    """
    limit = len(searched.vectors) if allowed is None else int(allowed.sum())
    k = min(k, limit)
    if not k:
        return np.empty(0), np.empty(0, np.int64)
    count = min(k + POOL, limit)
    while True:
        pool = searched.backend.best(query, count, allowed)
        found = scored(searched, query, density, k, pool)
        if count >= min(limit, MOST_POOLED):
            return found
        if is_settled(searched, density, found, pool, allowed):
            return found
        count = min(limit, MOST_POOLED, 4 * count)


def best_of_each(
    searched: Searched, queries: FloatArray, k: int, allowed: NDArray[np.bool_] | None = None
) -> list[Found]:
    """What `best` gives for each query.

    Shapes:
        queries [m, dim], allowed [n].
    """
    densities = densities_at(searched, queries)
    asked = list(zip(queries, densities, strict=True))
    count = min(k + POOL, len(searched.vectors))
    backend = searched.backend
    if not isinstance(backend, BatchCandidates) or allowed is not None or not asked or not count:
        return [best(searched, query, density, k, allowed) for query, density in asked]
    k = min(k, count)
    answers = []
    for (query, density), pool in zip(asked, backend.best_of_each(queries, count), strict=True):
        found = scored(searched, query, density, k, pool)
        whole = count == len(searched.vectors)
        settled = whole or is_settled(searched, density, found, pool, None)
        answers.append(found if settled else best(searched, query, density, k))
    return answers


def scored(searched: Searched, query: FloatArray, density: float, k: int, pool: Proposed) -> Found:
    """The k best of a pool, best first, equal scores in row order.

    Shapes:
        query [dim]; scores and rows [k].
    """
    more_dense = searched.densities[pool.rows].astype(np.float64) - density
    return rescored(searched.vectors, query, pool, k, SHARE * more_dense)


def is_settled(
    searched: Searched,
    density: float,
    found: Found,
    pool: Proposed,
    allowed: NDArray[np.bool_] | None,
) -> bool:
    """Whether no allowed row outside the pool can have the score of the last that was found."""
    densities = searched.densities if allowed is None else searched.densities[allowed]
    nearest_outside = float(pool.scores[-1]) + stated(pool)
    most = nearest_outside - SHARE * (float(densities.min()) - density)
    return bool(found[0][-1] > most)
