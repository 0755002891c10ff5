"""What a search costs as an index grows: build time, disk, memory, latency, recall.

The vectors lie in a file that is mapped into memory, so ten million of them (10 GB) can be measured
where memory holds a few gigabytes: what is built over them is built block by block.
"""

from __future__ import annotations

import os
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from nar_plugin import api
from nar_plugin.index import EMBEDDED, ArchitectureIndex
from nar_plugin.index.search import approximate
from nar_plugin.index.search.backends import open_on_cpu, open_on_gpu
from nar_plugin.index.search.candidates import Candidates
from nar_plugin.index.search.nearest import nearest, nearest_of_each
from nar_plugin.index.store.vectors import FloatArray, Rows, as_float32, blocks, unit

SIZES = (10_000, 15_000, 100_000, 1_000_000)
QUERIES = 200
K = 10
BATCH = 1000
LOADS = 15
BLOCK = 1 << 15


def measure_load(runs: int = LOADS) -> dict[str, Any]:
    """Load the embedded index over and over, every byte verified, as the first query does.

    Args:
        runs: How often; the libraries are imported before.

    Returns:
        `rows`, `p50_ms`, `least_ms`, and `cpu_ms`, the median without waiting for other programs.
    """
    rows = len(ArchitectureIndex.load(EMBEDDED))
    times, spent = [], []
    for _ in range(runs):
        begun, before = time.perf_counter(), time.process_time()
        ArchitectureIndex.load(EMBEDDED)
        times.append(1000 * (time.perf_counter() - begun))
        spent.append(1000 * (time.process_time() - before))
    return {
        "rows": rows,
        "p50_ms": statistics.median(times),
        "least_ms": min(times),
        "cpu_ms": statistics.median(spent),
    }


@contextmanager
def one_thread() -> Iterator[None]:
    """FAISS, where it is installed, searches in one thread."""
    try:
        import faiss
    except ImportError:
        yield
        return
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)


def measure_index(rows: int, *, queries: int = QUERIES, seed: int = 0) -> dict[str, Any]:
    """Build a search over synthetic vectors and ask it, in one thread, warm.

    The vectors are normal with the mean and covariance of the index that answers, scaled to length
    1 and stored in half precision; queries are drawn in the same way. The first tenth of the
    queries, which have the file's pages read, is not counted.

    Args:
        rows: How many vectors.
        queries: How many searches.
        seed: Of the vectors.

    Returns:
        `rows`, `kind`, `build_s`, `disk_mb` (vectors and what is built over them), `memory_mb`
        (the process's most while building and searching, without the mapped vectors), `p50_ms`,
        `cpu_ms` (the same without waiting for other programs), `p95_ms`, `batch_ms` (a thousand
        searches at once) and `recall` at 10.
    """
    with one_thread(), TemporaryDirectory() as folder:
        vectors = synthetic(rows, seed, Path(folder))
        asked = as_float32(synthetic(queries, seed + 1, Path(folder)))
        many = as_float32(synthetic(BATCH, seed + 2, Path(folder)))
        with Peak() as peak:
            started = time.perf_counter()
            kind, backend, disk = built(vectors)
            seconds = time.perf_counter() - started
            times, spent, found = asked_one_by_one(backend, vectors, asked)
            started_batch = time.perf_counter()
            nearest_of_each(backend, vectors, unit(many), K)
            batch = time.perf_counter() - started_batch
        true = true_neighbours(vectors, asked)
    return {
        "rows": rows,
        "kind": kind,
        "build_s": seconds,
        "disk_mb": (vectors.nbytes + disk) / 1e6,
        "memory_mb": peak.megabytes,
        "p50_ms": statistics.median(times),
        "cpu_ms": statistics.median(spent),
        "p95_ms": float(np.percentile(times, 95)),
        "batch_ms": 1000 * batch,
        "recall": recall(found, true),
    }


def asked_one_by_one(
    backend: Candidates, vectors: Rows, asked: FloatArray
) -> tuple[list[float], list[float], list[set[int]]]:
    """Milliseconds and processor milliseconds of each search, and the rows that each found.

    The times are those of the later nine tenths.
    """
    times, spent, found = [], [], []
    for query in asked:
        begun, before = time.perf_counter(), time.process_time()
        _, best = nearest(backend, vectors, query, K)
        times.append(1000 * (time.perf_counter() - begun))
        spent.append(1000 * (time.process_time() - before))
        found.append(set(best.tolist()))
    first = len(asked) // 10
    return times[first:], spent[first:], found


def built(vectors: Rows) -> tuple[str, Candidates, int]:
    """How an index of this size is searched: in words, by what, and with how many bytes more."""
    if found := open_on_gpu(vectors):
        return "flat on the GPU", found, 0
    if len(vectors) < approximate.APPROXIMATE_FROM:
        return "exact", open_on_cpu(vectors), 0
    from nar_plugin.index.store.manifest import FileEntry

    numbers = np.arange(len(vectors))
    content = approximate.built(vectors, numbers)
    entry = FileEntry.of(content, approximate.PATH, "derived", len(vectors))
    opened = approximate.opened(content, entry, vectors.shape[1])
    searched = approximate.ApproximateCandidates(opened, len(vectors), vectors, numbers)
    return "IVF-PQ", searched, len(content)


def synthetic(count: int, seed: int, folder: Path) -> Rows:
    """Unit vectors with the mean and the covariance of those of the index that answers.

    Args:
        count: How many.
        seed: Equal seeds give equal vectors.
        folder: Receives the file that they are mapped from.

    Shapes:
        float16[count, dim].
    """
    mean, spread = spectrum()
    rng = np.random.default_rng(seed)
    path = folder / f"{seed}.vectors"
    made = np.memmap(path, np.float16, "w+", shape=(count, len(mean)))
    for start in range(0, count, BLOCK):
        stop = min(start + BLOCK, count)
        normal = rng.standard_normal((stop - start, len(mean)), dtype=np.float32)
        made[start:stop] = unit(normal @ spread.T + mean)
    return made


def spectrum() -> tuple[FloatArray, FloatArray]:
    """Mean and axes of the vectors of the index that answers: normal @ axes.T + mean is like one.

    Shapes:
        float32[dim] and float32[dim, dim].
    """
    known = api.load_index().vectors
    values, axes = np.linalg.eigh(np.cov(known, rowvar=False))
    spread = (axes * np.sqrt(np.maximum(values, 0))).astype(np.float32)
    return known.mean(axis=0), spread


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


class Peak:
    """The most memory that the process has in a `with` block, without mapped files.

    Looked at every 20 ms, since the system's own peak counts the pages of mapped files.
    """

    def __init__(self) -> None:
        self.megabytes = 0.0
        self._done = threading.Event()
        self._watch = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Peak:
        """Begin to look."""
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self._done.set()
        self._watch.join()

    def _look(self) -> None:
        while True:
            self.megabytes = max(self.megabytes, own_megabytes())
            if self._done.wait(0.02):
                return


def own_megabytes() -> float:
    """Memory of this process without mapped files; everywhere but on Linux its peak with them."""
    if sys.platform == "linux":
        _, resident, shared = Path("/proc/self/statm").read_text().split()[:3]
        return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE") / 1e6
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak / 1e3
