"""Every row as 8-bit integers, searched by FAISS on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nar_plugin.index.search.candidates import Proposed, length_error, summing_error
from nar_plugin.index.store.vectors import FloatArray, Rows, blocks

MOST_INTEGER = 127  # of a signed byte


class FaissCandidates:
    """FAISS on the CPU, which beats a GPU at one query a time, over vectors of 8-bit integers.

    A search of a flat index is as fast as its bytes are read: these are a quarter of float32's, and
    FAISS multiplies them as integers. What one of them is worth differs by column: between a share
    of the column's largest number, best for the vectors, and one for all, best for the queries.
    """

    margin = 128

    def __init__(self, vectors: Rows) -> None:
        """Copy the vectors into FAISS; an ImportError or RuntimeError if it cannot be imported."""
        import faiss

        self._faiss: Any = faiss
        dim = vectors.shape[1]
        peaks = np.zeros(dim, np.float32)
        for rows in blocks(vectors):
            np.maximum(peaks, np.abs(rows).max(axis=0), out=peaks)
        most = peaks.max(initial=0) or 1
        self._steps = np.sqrt(np.where(peaks > 0, peaks, most) * most) / MOST_INTEGER  # [dim]
        kind = faiss.ScalarQuantizer.QT_8bit_direct_signed
        self._index: Any = faiss.IndexScalarQuantizer(dim, kind, faiss.METRIC_INNER_PRODUCT)
        rounded = self._longest = 0.0
        for rows in blocks(vectors):
            integers = np.rint(rows / self._steps)
            self._index.add(integers)
            off = np.linalg.norm(integers * self._steps - rows, axis=1)
            rounded = max(rounded, float(off.max()))
            self._longest = max(self._longest, float(np.linalg.norm(integers, axis=1).max()))
        # Cauchy-Schwarz: the query has length 1. And what rounding to unit length left out.
        self._error = 2 * summing_error(dim) + rounded + length_error(vectors)

    def best(self, query: FloatArray, count: int, allowed: NDArray[np.bool_] | None) -> Proposed:
        """See `Candidates.best`."""
        if allowed is None:
            parameters = None
        else:
            bits = np.packbits(allowed, bitorder="little")
            parameters = self._faiss.SearchParameters(sel=self._faiss.IDSelectorBitmap(bits))
        (found,) = self._search(query[None], count, parameters)
        return found

    def best_of_each(self, queries: FloatArray, count: int) -> list[Proposed]:
        """See `BatchCandidates.best_of_each`."""
        return self._search(queries, count, None)

    def _search(self, queries: FloatArray, count: int, parameters: Any) -> list[Proposed]:
        """What FAISS finds for queries that are rounded to integers, too."""
        weighted = queries * self._steps
        peaks = np.abs(weighted).max(axis=1, keepdims=True)
        steps = np.where(peaks > 0, peaks, 1) / MOST_INTEGER  # [m, 1]
        integers = np.rint(weighted / steps)
        off = np.linalg.norm(integers * steps - weighted, axis=1) * self._longest
        scores, rows = self._index.search(integers, count, params=parameters)
        found = zip(scores * steps, rows, (self._error + off).tolist(), strict=True)
        return [Proposed(*each) for each in found]
