"""Which search is best at what size: each kind with the least work that reaches a recall of .95.

Example: `python docs/benchmarks/index_kinds.py 30000 100000 200000`.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import faiss
import numpy as np

from nar_plugin.bench.index import asked_one_by_one, recall, synthetic, true_neighbours
from nar_plugin.index.search import approximate
from nar_plugin.index.search.candidates import MARGIN, Proposed
from nar_plugin.index.search.integers import FaissCandidates
from nar_plugin.index.store.manifest import FileEntry
from nar_plugin.index.store.vectors import Rows, blocks

RECALL = 0.95
QUERIES = 200


class Factory:
    """A FAISS index by its factory's name; its candidates are ranked as ours are."""

    margin = MARGIN

    def __init__(self, vectors: Rows, name: str) -> None:
        """Train it on a part of the vectors, and add them all."""
        self.index = faiss.index_factory(vectors.shape[1], name, faiss.METRIC_INNER_PRODUCT)
        self.index.train(np.concatenate(list(blocks(vectors[:20_000]))))
        for rows in blocks(vectors):
            self.index.add(rows)
        self.bytes = len(faiss.serialize_index(self.index))

    def set(self, work: int) -> None:
        """Say how many lists, or how many nodes, a search looks at."""
        if isinstance(self.index, faiss.IndexHNSW):
            self.index.hnsw.efSearch = work
        else:
            self.index.nprobe = work

    def best(self, query: Any, count: int, allowed: Any) -> Proposed:
        """See `Candidates.best`."""
        scores, rows = self.index.search(query[None], count)
        return Proposed(scores[0], rows[0], error=None)


class Ours(approximate.ApproximateCandidates):
    """The approximate index that `save` writes."""

    def __init__(self, vectors: Rows) -> None:
        """Build it as `save` does."""
        numbers = np.arange(len(vectors))
        content = approximate.built(vectors, numbers)
        entry = FileEntry.of(content, approximate.PATH, "derived", len(vectors))
        opened = approximate.opened(content, entry, vectors.shape[1])
        super().__init__(opened, len(vectors), vectors, numbers)
        self.bytes = len(content)

    def set(self, work: int) -> None:
        """Say how many lists a search looks at."""
        self._probes = work


class Exact(FaissCandidates):
    """Every row, rounded to 8-bit integers."""

    def __init__(self, vectors: Rows) -> None:
        """Round them."""
        super().__init__(vectors)
        self.bytes = 0  # it is made when the index is loaded

    def set(self, work: int) -> None:
        """Nothing to choose."""


def kinds(rows: int) -> dict[str, tuple[Callable[[Rows], Any], list[int]]]:
    """By name: what builds it, and how much work a search may do, least first."""
    lists = approximate.lists_for(rows)
    probes = [max(1, round(share * lists)) for share in (0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1)]
    efforts = [32, 64, 128, 256, 512, 1024, 2048]
    return {
        "exact": (Exact, [0]),
        "IVF-PQ, 800 ranked": (Ours, probes),
        "IVF, float16": (lambda vectors: Factory(vectors, f"IVF{lists},SQfp16"), probes),
        "HNSW, float16": (lambda vectors: Factory(vectors, "HNSW32,SQfp16"), efforts),
    }


faiss.omp_set_num_threads(1)
print("| rows | search | build | beside the vectors | work | CPU | recall@10 |")
print("|---|---|---|---|---|---|---|")
for rows in map(int, sys.argv[1:] or ["100000"]):
    with TemporaryDirectory() as folder:
        vectors = synthetic(rows, 0, Path(folder))
        asked = np.concatenate(list(blocks(synthetic(QUERIES, 1, Path(folder)))))
        true = true_neighbours(vectors, asked)
        for name, (made, efforts) in kinds(rows).items():
            begun = time.process_time()
            backend = made(vectors)
            seconds = time.process_time() - begun
            for work in efforts:
                backend.set(work)
                _, spent, found = asked_one_by_one(backend, vectors, asked)
                share = recall(found, true)
                if share >= RECALL:
                    break
            print(
                f"| {rows:,} | {name} | {seconds:.0f} s | {backend.bytes / 1e6:.0f} MB | {work} | "
                f"{median(spent):.1f} ms | {share:.3f} |",
                flush=True,
            )
