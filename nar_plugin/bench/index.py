"""What a search costs as an index grows: build time, disk, memory, latency, recall."""

from __future__ import annotations

import resource
import statistics
import sys
import time
from typing import Any

import numpy as np

from nar_plugin import api
from nar_plugin.index import approximate
from nar_plugin.index.nearest import Candidates, nearest, open_backend
from nar_plugin.index.vectors import FloatArray, Rows, as_float32, blocks, unit

SIZES = (10_000, 15_000, 100_000, 1_000_000)
QUERIES = 200
K = 10
BLOCK = 1 << 15


def measure_index(rows: int, *, queries: int = QUERIES, seed: int = 0) -> dict[str, Any]:
    """Build a search over synthetic vectors and ask it, in one thread, warm.

    The vectors are normal with the mean and covariance of the index that answers, scaled to length
    1 and stored in half precision; queries are drawn in the same way.

    Args:
        rows: How many vectors.
        queries: How many searches.
        seed: Of the vectors.

    Returns:
        `rows`, `kind`, `build_s`, `disk_mb` and `memory_mb` (vectors and what is built over them),
        `p50_ms`, `cpu_ms` (the same without waiting for other programs), `p95_ms` and `recall`
        at 10.
    """
    import faiss

    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        vectors, asked = synthetic(rows, seed), as_float32(synthetic(queries, seed + 1))
        started = time.perf_counter()
        backend, disk = built(vectors)
        seconds = time.perf_counter() - started
        times, spent, found = [], [], []
        nearest(backend, vectors, asked[0], K)
        for query in asked:
            begun, before = time.perf_counter(), time.process_time()
            _, best = nearest(backend, vectors, query, K)
            times.append(1000 * (time.perf_counter() - begun))
            spent.append(1000 * (time.process_time() - before))
            found.append(set(best.tolist()))
    finally:
        faiss.omp_set_num_threads(threads)
    return {
        "rows": rows,
        "kind": "exact" if backend.error is not None else "IVF-PQ",
        "build_s": seconds,
        "disk_mb": (vectors.nbytes + disk) / 1e6,
        "memory_mb": peak_megabytes(),
        "p50_ms": statistics.median(times),
        "cpu_ms": statistics.median(spent),
        "p95_ms": float(np.percentile(times, 95)),
        "recall": recall(found, true_neighbours(vectors, asked)),
    }


def built(vectors: Rows) -> tuple[Candidates, int]:
    """What an index of this size searches with, and the bytes that it adds on the disk."""
    if len(vectors) < approximate.APPROXIMATE_FROM:
        return open_backend(vectors), 0
    from nar_plugin.index.manifest import FileEntry

    numbers = np.arange(len(vectors))
    content = approximate.built(vectors, numbers)
    entry = FileEntry.of(content, approximate.PATH, "derived", len(vectors))
    opened = approximate.opened(content, entry, vectors.shape[1])
    searched = approximate.ApproximateCandidates(opened, len(vectors), vectors, numbers)
    return searched, len(content)


def synthetic(count: int, seed: int) -> Rows:
    """Unit vectors with the mean and the covariance of those of the index that answers.

    Shapes:
        float16[count, dim].
    """
    known = api.load_index().vectors
    mean = known.mean(axis=0)
    values, axes = np.linalg.eigh(np.cov(known, rowvar=False))
    spread = (axes * np.sqrt(np.maximum(values, 0))).astype(np.float32)  # [dim, dim]
    rng = np.random.default_rng(seed)
    made = np.empty((count, len(mean)), np.float16)
    for start in range(0, count, BLOCK):
        stop = min(start + BLOCK, count)
        normal = rng.standard_normal((stop - start, len(mean)), dtype=np.float32)
        made[start:stop] = unit(normal @ spread.T + mean)
    return made


def true_neighbours(vectors: Rows, asked: FloatArray) -> list[set[int]]:
    """The rows of the `K` highest scores of each query, all rows looked at."""
    scores = np.full((len(asked), K), -2.0, np.float32)
    rows = np.zeros((len(asked), K), np.int64)
    start = 0
    for block in blocks(vectors):
        both = np.concatenate([scores, asked @ unit(block).T], axis=1)
        order = np.argpartition(-both, K - 1, axis=1)[:, :K]
        numbers = np.arange(start, start + len(block))
        candidates = np.concatenate([rows, np.broadcast_to(numbers, (len(asked), len(block)))], 1)
        scores = np.take_along_axis(both, order, axis=1)
        rows = np.take_along_axis(candidates, order, axis=1)
        start += len(block)
    return [set(best.tolist()) for best in rows]


def recall(found: list[set[int]], true: list[set[int]]) -> float:
    """The share of the true neighbours that were found."""
    hits = sum(len(mine & theirs) for mine, theirs in zip(found, true, strict=True))
    return hits / sum(map(len, true))


def peak_megabytes() -> float:
    """The most memory that this process has had so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak / 1e3
