"""What searches: FAISS where it can be imported, else torch, and a large index on a GPU.

Each only proposes candidates (`nearest.py` says why), and says how far their scores can be off, so
it may also round the vectors, and the queries.

FAISS is imported at the first search: it takes 0.2 s, and its GPU wheel raises at import where
the CUDA 12 libraries are missing.
"""

from __future__ import annotations

import logging
import sys
import threading
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nar_plugin.index.vectors import BLOCK, FloatArray, Rows, as_float32, blocks

logger = logging.getLogger("nar_plugin")
GPU_FROM = 100_000  # rows
GPU_BLOCK = 1 << 16  # rows that are copied to it at once
GPU_MOST = 2048  # rows that FAISS gives at most on a GPU
SCORED = 8192  # rows that are float32 at a time
MARGIN = 16  # rows beyond the wanted ones that float32 or float16 may bring out of order
MOST_INTEGER = 127  # of a signed byte


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


class FaissGpuCandidates:
    """FAISS's flat index on a GPU, over vectors rounded to float16: half the bytes to read.

    It takes no filter, gives at most 2,048 rows and serves one thread at a time. What it cannot
    give is scored row by row on the CPU.
    """

    margin = MARGIN

    def __init__(self, vectors: Rows) -> None:
        """Copy the vectors to the GPU; an ImportError or RuntimeError where that cannot be."""
        self._vectors = vectors
        self._lock = threading.Lock()
        self._index: Any = flat_on_gpu(vectors.shape[1])
        rounded = 0.0
        for rows in blocks(vectors, GPU_BLOCK):
            self._index.add(rows)
            halves = rows.astype(np.float16).astype(np.float32)
            rounded = max(rounded, float(np.linalg.norm(halves - rows, axis=1).max()))
        # The query is rounded too: by at most 2^-11 of each number, and its length is 1.
        self._error = summing_error(vectors.shape[1]) + rounded + 2**-11 + length_error(vectors)

    def best(self, query: FloatArray, count: int, allowed: NDArray[np.bool_] | None) -> Proposed:
        """See `Candidates.best`."""
        wanted = count if allowed is None else min(GPU_MOST, len(self._vectors))
        if wanted <= GPU_MOST:
            with self._lock:
                scores, rows = (found[0] for found in self._index.search(query[None], wanted))
            if allowed is not None:
                scores, rows = scores[allowed[rows]], rows[allowed[rows]]
            if len(rows) >= count:
                return Proposed(scores[:count], rows[:count], self._error)
        rows = np.arange(len(self._vectors)) if allowed is None else np.flatnonzero(allowed)
        return Proposed(*best_of(self._vectors, rows, query, count), self._error)

    def best_of_each(self, queries: FloatArray, count: int) -> list[Proposed]:
        """See `BatchCandidates.best_of_each`."""
        if count > GPU_MOST:
            return [self.best(query, count, None) for query in queries]
        with self._lock:
            scores, rows = self._index.search(queries, count)
        return [Proposed(*each, self._error) for each in zip(scores, rows, strict=True)]


def flat_on_gpu(dim: int) -> Any:
    """An empty flat index of FAISS on the GPU; an ImportError where FAISS has none."""
    import faiss

    module: Any = faiss
    if not hasattr(module, "StandardGpuResources") or not module.get_num_gpus():
        raise ImportError("the installed FAISS knows no GPU")
    config = module.GpuIndexFlatConfig()
    config.useFloat16 = True
    return module.GpuIndexFlatIP(module.StandardGpuResources(), dim, config)


class TorchCandidates:
    """Exact search with torch where FAISS is missing, on the CPU or, for large indexes, a GPU."""

    margin = MARGIN

    def __init__(self, vectors: Rows, device: str = "cpu") -> None:
        """Share the memory of the vectors if they are float32, or copy them to the device."""
        import torch

        self._torch = torch
        self._vectors = torch.from_numpy(as_float32(vectors)).to(device)
        self._error = summing_error(vectors.shape[1]) + length_error(vectors)

    def best(self, query: FloatArray, count: int, allowed: NDArray[np.bool_] | None) -> Proposed:
        """See `Candidates.best`."""
        torch, device = self._torch, self._vectors.device
        vector = torch.from_numpy(query).to(device)
        block = BLOCK if device.type == "cpu" else 1 << 20  # products that fit into the cache
        # Not a matmul: the user's autocast or set_float32_matmul_precision would round it.
        starts = range(0, len(self._vectors), block)
        parts = [self._vectors[start : start + block] for start in starts]
        if device.type == "cpu":
            scores = torch.cat([(rows * vector).sum(dim=1) for rows in parts])
        else:  # the same product without its temporary; a GPU's vector products are never rounded
            with torch.autocast(device.type, enabled=False):
                scores = torch.cat([torch.mv(rows, vector) for rows in parts])
        if allowed is not None:
            scores[torch.from_numpy(~allowed).to(device)] = -torch.inf
        top = scores.topk(count)
        return Proposed(top.values.cpu().numpy(), top.indices.cpu().numpy(), self._error)


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


def faiss_allowed() -> bool:
    """Whether FAISS may be imported beside torch: never on macOS.

    There the two wheels bring an OpenMP each, and the process aborts
    (https://github.com/faiss-wheels/faiss-wheels/issues/73).
    """
    return sys.platform != "darwin"


def open_on_gpu(vectors: Rows) -> Candidates | None:
    """A large index on a GPU where there is one that has the memory, by FAISS or torch."""
    for opened in (FaissGpuCandidates, torch_on_gpu) if on_gpu(len(vectors)) else ():
        try:
            return opened(vectors)
        # RuntimeError: its memory is full; AttributeError: see below.
        except (ImportError, RuntimeError, OSError, AttributeError) as error:
            logger.info("%s cannot be used on the GPU: %s", opened.__name__, error)
    return None


def open_on_cpu(vectors: Rows) -> Candidates:
    """FAISS, or torch where FAISS cannot be imported; every row is looked at."""
    if not faiss_allowed():
        return TorchCandidates(vectors)
    try:
        return FaissCandidates(vectors)
    # AttributeError: faiss-cpu and faiss-gpu were installed into the same folder.
    except (ImportError, RuntimeError, OSError, AttributeError) as error:
        logger.info("FAISS cannot be used (%s): searching with torch.", error)
        return TorchCandidates(vectors)


def torch_on_gpu(vectors: Rows) -> TorchCandidates:
    """Torch's search on the GPU."""
    return TorchCandidates(vectors, "cuda")


def on_gpu(rows: int) -> bool:
    """Whether an index of so many rows is searched on a GPU: a small one is faster on the CPU."""
    if rows < GPU_FROM:
        return False
    import torch

    return torch.cuda.is_available()
