"""What a search backend answers: rows that may be among the nearest, and how sure it is of them.

Each only proposes candidates (`nearest.py` says why), and says how far their scores can be off, so
it may also round the vectors, and the queries.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nar_plugin.index.store.vectors import FloatArray, Rows, as_float32, blocks

MARGIN = 16  # rows beyond the wanted ones that float32 or float16 may bring out of order
SCORED = 8192  # rows that are float32 at a time


class Proposed(NamedTuple):
    """Rows of the highest scores, as a backend has them, best first.

    Attributes:
        scores: Inner products of the rows with the query, rounded.
        rows: Row numbers.
        error: How far the score of any row, proposed or not, can be from the cosine; None where
            near rows can be missed.

    Shapes:
        scores [count], rows [count].
    """

    scores: FloatArray
    rows: NDArray[np.int64]
    error: float | None


class Candidates(Protocol):
    """A search backend over unit vectors."""

    @property
    def margin(self) -> int:
        """How many rows beyond the wanted ones settle most answers, for all that it rounds."""

    def best(self, query: FloatArray, count: int, allowed: NDArray[np.bool_] | None) -> Proposed:
        """The `count` rows of the highest scores among the allowed ones.

        Args:
            query: A unit vector.
            count: At most the number of allowed rows.
            allowed: Which rows may be proposed; None for all.

        Shapes:
            query [dim], allowed [n].
        """


@runtime_checkable
class BatchCandidates(Candidates, Protocol):
    """A search backend that answers many queries faster than one after another."""

    def best_of_each(self, queries: FloatArray, count: int) -> list[Proposed]:
        """For each query the `count` rows of the highest scores.

        Args:
            queries: Unit vectors.
            count: At most the number of rows.

        Shapes:
            queries [m, dim]; m results.
        """


def best_of(
    vectors: Rows, rows: NDArray[np.int64], query: FloatArray, count: int
) -> tuple[FloatArray, NDArray[np.int64]]:
    """The `count` best of some rows by their own scores, best first.

    Shapes:
        vectors [n, dim], rows [m], query [dim]; scores and rows [min(m, count)].
    """
    scores = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), SCORED):
        part = slice(start, start + SCORED)
        scores[part] = as_float32(vectors[rows[part]]) @ query
    order = np.argsort(-scores, kind="stable")[:count]
    return scores[order], rows[order]


def summing_error(dim: int) -> float:
    """How far a float32 dot product of unit vectors can be off.

    Higham, Accuracy and Stability of Numerical Algorithms, section 3.1.
    """
    return dim * float(np.finfo(np.float32).eps)


def length_error(vectors: Rows) -> float:
    """How far the rows' lengths are from 1, as float16 stores them."""
    if vectors.dtype == np.float32 or not len(vectors):
        return 0.0
    lengths = (np.linalg.norm(rows, axis=1) for rows in blocks(vectors))
    return max(float(np.abs(length - 1).max()) for length in lengths)
