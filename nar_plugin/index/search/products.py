"""Every row as float32, multiplied by numpy: enough for a small index, and nothing to import."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nar_plugin.index.search.candidates import MARGIN, Proposed, length_error, summing_error
from nar_plugin.index.store.vectors import FloatArray, Rows, as_float32


class NumpyCandidates:
    """Exact search by one product of the rows with the query.

    Ten thousand rows of 512 numbers take some milliseconds, less than FAISS takes to be imported.
    """

    margin = MARGIN

    def __init__(self, vectors: Rows) -> None:
        """Share the memory of the vectors if they are float32, or copy them."""
        self._vectors = as_float32(vectors)
        self._error = summing_error(vectors.shape[1]) + length_error(vectors)

    def best(self, query: FloatArray, count: int, allowed: NDArray[np.bool_] | None) -> Proposed:
        """See `Candidates.best`."""
        scores = self._vectors @ query  # [n]
        if allowed is not None:
            scores[~allowed] = -np.inf
        return self._highest(scores, count)

    def best_of_each(self, queries: FloatArray, count: int) -> list[Proposed]:
        """See `BatchCandidates.best_of_each`."""
        return [self._highest(scores, count) for scores in queries @ self._vectors.T]  # [m, n]

    def _highest(self, scores: FloatArray, count: int) -> Proposed:
        rows = np.argpartition(-scores, count - 1)[:count]
        rows = rows[np.argsort(-scores[rows], kind="stable")]
        return Proposed(scores[rows], rows, self._error)
