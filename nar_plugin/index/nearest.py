"""The rows nearest to a vector: FAISS where it can be imported, else torch, with equal answers.

The two sum a dot product in different orders, so their scores differ in the last bits, and each
breaks ties in its own way. A backend therefore only proposes candidates: enough of them that no
other row can belong to the answer. Their scores are then computed anew in float64, by one routine
for all backends, and ties go to the earlier row.

FAISS is imported at the first search: it takes 0.2 s, and its GPU wheel raises at import where
the CUDA 12 libraries are missing.
"""

from __future__ import annotations

import logging
import sys
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nar_plugin.index.vectors import FloatArray

logger = logging.getLogger("nar_plugin")

BLOCK = 1024  # rows that the torch backend scores at a time: their products fit into the cache


class Candidates(Protocol):
    """A search backend over unit vectors, float32[n, dim]."""

    def best(
        self, query: FloatArray, count: int, allowed: NDArray[np.bool_] | None
    ) -> tuple[FloatArray, NDArray[np.int64]]:
        """The `count` rows of highest inner product among the allowed ones, best first.

        Args:
            query: A unit vector.
            count: At most the number of allowed rows.
            allowed: Which rows may be proposed; None for all.

        Returns:
            Approximate scores and row numbers.

        Shapes:
            query [dim], allowed [n], scores [count], rows [count].
        """


class FaissCandidates:
    """Exact search with `faiss.IndexFlatIP` on the CPU, which beats a GPU at one query a time."""

    def __init__(self, vectors: FloatArray) -> None:
        """Copy the vectors into FAISS; an ImportError or RuntimeError if it cannot be imported."""
        import faiss

        self._faiss: Any = faiss
        self._index: Any = faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(vectors)

    def best(
        self, query: FloatArray, count: int, allowed: NDArray[np.bool_] | None
    ) -> tuple[FloatArray, NDArray[np.int64]]:
        """See `Candidates.best`."""
        if allowed is None:
            parameters = None
        else:
            bits = np.packbits(allowed, bitorder="little")
            parameters = self._faiss.SearchParameters(sel=self._faiss.IDSelectorBitmap(bits))
        scores, rows = self._index.search(query[None], count, params=parameters)
        return scores[0], rows[0]


class TorchCandidates:
    """Exact search with torch on the CPU, for where FAISS is missing."""

    def __init__(self, vectors: FloatArray) -> None:
        """Share the memory of the vectors."""
        import torch

        self._torch = torch
        self._vectors = torch.from_numpy(vectors)

    def best(
        self, query: FloatArray, count: int, allowed: NDArray[np.bool_] | None
    ) -> tuple[FloatArray, NDArray[np.int64]]:
        """See `Candidates.best`."""
        torch = self._torch
        vector = torch.from_numpy(query)
        # Not a matmul: the user's autocast or set_float32_matmul_precision would round it.
        starts = range(0, len(self._vectors), BLOCK)
        blocks = [self._vectors[start : start + BLOCK] for start in starts]
        scores = torch.cat([(rows * vector).sum(dim=1) for rows in blocks])
        if allowed is not None:
            scores[torch.from_numpy(~allowed)] = -torch.inf
        top = scores.topk(count)
        return top.values.numpy(), top.indices.numpy()


def open_backend(vectors: FloatArray) -> Candidates:
    """FAISS, or torch where FAISS cannot be imported.

    On macOS always torch: the two wheels bring an OpenMP each, and the process aborts
    (https://github.com/faiss-wheels/faiss-wheels/issues/73).
    """
    if sys.platform == "darwin":
        return TorchCandidates(vectors)
    try:
        return FaissCandidates(vectors)
    # AttributeError: faiss-cpu and faiss-gpu were installed into the same folder.
    except (ImportError, RuntimeError, OSError, AttributeError) as error:
        logger.info("FAISS cannot be used (%s): searching with torch.", error)
        return TorchCandidates(vectors)


def nearest(
    backend: Candidates,
    vectors: FloatArray,
    query: FloatArray,
    k: int,
    allowed: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The k nearest rows by cosine, the same whatever the backend.

    Args:
        backend: Holds the same vectors.
        vectors: Unit vectors.
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
    rows = candidates(backend, query, k, limit, allowed)
    # Summed row by row and not by BLAS, whose last bits depend on the row's place in the matrix.
    scores = (vectors[rows].astype(np.float64) * query).sum(axis=1)
    order = np.lexsort((rows, -scores))[:k]
    return np.clip(scores[order], -1.0, 1.0), rows[order]


def candidates(
    backend: Candidates,
    query: FloatArray,
    k: int,
    limit: int,
    allowed: NDArray[np.bool_] | None,
) -> NDArray[np.int64]:
    """Rows among which the k nearest are, rounding and ties included.

    A float32 dot product of unit vectors is off by at most dim * eps (Higham, Accuracy and
    Stability of Numerical Algorithms, section 3.1). So once the last candidate is more than twice
    that below the k-th, every row that could be among the k nearest has been seen.
    """
    margin = 2 * len(query) * float(np.finfo(np.float32).eps)
    count = min(limit, k + 16)
    while True:
        scores, rows = backend.best(query, count, allowed)
        if count == limit or scores[k - 1] - scores[-1] > margin:
            return rows
        count = min(limit, 4 * count)
