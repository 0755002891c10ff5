"""What searches: numpy a small index; a large one FAISS or torch on a GPU, else FAISS or numpy.

FAISS is an extra (`nar-plugin[faiss]`) and is imported at the first search of a large index: its
import takes 0.2 s, and its GPU wheel raises there where the CUDA 12 libraries are missing.
"""

from __future__ import annotations

import logging
import sys
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nar_plugin.index.search.candidates import (
    MARGIN,
    Candidates,
    Proposed,
    best_of,
    length_error,
    summing_error,
)
from nar_plugin.index.search.integers import FaissCandidates
from nar_plugin.index.search.products import NumpyCandidates
from nar_plugin.index.store.vectors import FloatArray, Rows, as_float32, blocks

logger = logging.getLogger("nar_plugin")
LARGE = 100_000  # rows from which on FAISS and a GPU are worth their import
# AttributeError: faiss-cpu and faiss-gpu were installed into the same folder.
FAISS_ERRORS = (ImportError, RuntimeError, OSError, AttributeError)
GPU_BLOCK = 1 << 16  # rows that are copied to it at once
GPU_ROWS = 1 << 20  # rows that torch multiplies at once
GPU_MOST = 2048  # rows that FAISS gives at most on a GPU


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
    """Exact search of a large index with torch on a GPU, where FAISS has none."""

    margin = MARGIN

    def __init__(self, vectors: Rows, device: str = "cuda") -> None:
        """Copy the vectors to the device."""
        import torch

        self._torch = torch
        self._vectors = torch.from_numpy(as_float32(vectors)).to(device)
        self._error = summing_error(vectors.shape[1]) + length_error(vectors)

    def best(self, query: FloatArray, count: int, allowed: NDArray[np.bool_] | None) -> Proposed:
        """See `Candidates.best`."""
        torch, device = self._torch, self._vectors.device
        vector = torch.from_numpy(query).to(device)
        # Not a matmul, which the user's set_float32_matmul_precision would round; a GPU's products
        # with a vector are never rounded.
        with torch.autocast(device.type, enabled=False):
            scores = torch.cat(
                [torch.mv(rows, vector) for rows in torch.split(self._vectors, GPU_ROWS)]
            )
        if allowed is not None:
            scores[torch.from_numpy(~allowed).to(device)] = -torch.inf
        top = scores.topk(count)
        return Proposed(top.values.cpu().numpy(), top.indices.cpu().numpy(), self._error)


def faiss_allowed() -> bool:
    """Whether FAISS may be imported beside torch: never on macOS.

    There the two wheels bring an OpenMP each, and the process aborts
    (https://github.com/faiss-wheels/faiss-wheels/issues/73).
    """
    return sys.platform != "darwin"


def faiss_works() -> bool:
    """Whether FAISS may be imported, and can be: it is an extra."""
    if not faiss_allowed():
        return False
    try:
        import faiss  # noqa: F401
    except FAISS_ERRORS as error:
        logger.info("FAISS cannot be used: %s", error)
        return False
    return True


def open_on_gpu(vectors: Rows) -> Candidates | None:
    """A large index on a GPU where there is one that has the memory, by FAISS or torch."""
    for opened in (FaissGpuCandidates, torch_on_gpu) if on_gpu(len(vectors)) else ():
        try:
            return opened(vectors)
        except FAISS_ERRORS as error:  # RuntimeError: its memory is full
            logger.info("%s cannot be used on the GPU: %s", opened.__name__, error)
    return None


def open_on_cpu(vectors: Rows) -> Candidates:
    """FAISS for a large index, where it can be imported, else numpy; every row is looked at."""
    if len(vectors) < LARGE or not faiss_works():
        return NumpyCandidates(vectors)
    return FaissCandidates(vectors)


def torch_on_gpu(vectors: Rows) -> TorchCandidates:
    """Torch's search on the GPU."""
    return TorchCandidates(vectors)


def on_gpu(rows: int) -> bool:
    """Whether an index of so many rows is searched on a GPU: a small one is faster on the CPU."""
    if rows < LARGE:
        return False
    import torch

    return torch.cuda.is_available()
