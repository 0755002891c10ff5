"""Sharded search on a cluster of this machine, beside one index over the same rows."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from nar_plugin.bench.index import K, one_thread, synthetic
from nar_plugin.index.search.backends import open_on_cpu
from nar_plugin.index.search.nearest import Found, nearest, nearest_of_each
from nar_plugin.index.search.sharded import ShardedSearch
from nar_plugin.index.store.vectors import FloatArray, Rows, as_float32

_BATCH = 100


def measure_sharded(
    rows: int, *, shards: int = 4, replicas: int = 1, nodes: int = 2, queries: int = 50
) -> dict[str, Any]:
    """Ask one index and then its shards the same, and lose a node where there are replicas.

    Args:
        rows: How many vectors, in half precision; each index holds them as 8-bit integers.
        shards: How many ranges of them.
        replicas: Actors that hold each; from 2 on, a node is killed while queries run.
        nodes: Of the cluster, all on this machine.
        queries: One by one; a hundred at once besides.

    Returns:
        `equal`, whether every answer has the rows and scores of the one index; `one_ms` and
        `sharded_ms`, medians; `added_ms` between them; `one_batch_ms` and `sharded_batch_ms` of a
        hundred; `asked_in_loss` and `equal_in_loss`, None without replicas.

    Raises:
        NarError: Ray is not installed.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        vectors = synthetic(rows, 0, folder)
        asked = as_float32(synthetic(max(queries, _BATCH), 1, folder))
        single, one_ms, together, one_batch = _by_one_index(vectors, asked, queries)
        paths = _written(vectors, shards, folder)
        cpus = -(-shards * replicas // nodes)
        with (
            local_cluster(nodes, cpus) as kill_a_node,
            ShardedSearch(paths, replicas=replicas) as search,
        ):
            search.nearest(asked[0], K)
            found, sharded_ms = _timed(lambda q: search.nearest(q, K), asked[:queries])
            started = time.perf_counter()
            batch = search.nearest_of_each(asked[:_BATCH], K)
            sharded_batch = time.perf_counter() - started
            lost = None
            if replicas > 1:
                half = queries // 2
                before, _ = _timed(lambda q: search.nearest(q, K), asked[:half])
                kill_a_node()
                after, _ = _timed(lambda q: search.nearest(q, K), asked[half:queries])
                lost = [*before, *after]
    return {
        "rows": rows,
        "shards": shards,
        "replicas": replicas,
        "nodes": nodes,
        "equal": all(map(same, found + batch, single + together)),
        "one_ms": one_ms,
        "sharded_ms": sharded_ms,
        "added_ms": sharded_ms - one_ms,
        "one_batch_ms": 1000 * one_batch,
        "sharded_batch_ms": 1000 * sharded_batch,
        "asked_in_loss": None if lost is None else len(lost),
        "equal_in_loss": None if lost is None else all(map(same, lost, single)),
    }


def _by_one_index(
    vectors: Rows, asked: FloatArray, queries: int
) -> tuple[list[Found], float, list[Found], float]:
    """Answers one by one with their median, and together with their seconds."""
    with one_thread():
        backend = open_on_cpu(vectors)
        single, median = _timed(lambda query: nearest(backend, vectors, query, K), asked[:queries])
        started = time.perf_counter()
        together = nearest_of_each(backend, vectors, asked[:_BATCH], K)
        return single, median, together, time.perf_counter() - started


def _timed(ask: Callable[[FloatArray], Found], queries: FloatArray) -> tuple[list[Found], float]:
    """The answers, and the median of the milliseconds."""
    found, spent = [], []
    for query in queries:
        started = time.perf_counter()
        found.append(ask(query))
        spent.append(1000 * (time.perf_counter() - started))
    return found, statistics.median(spent)


def same(one: Found, other: Found) -> bool:
    """Whether two answers are equal, to the last bit of a score."""
    return all(map(np.array_equal, one, other))


def _written(vectors: np.ndarray, shards: int, folder: Path) -> list[Path]:
    """A file for each of so many ranges."""
    paths = []
    for number, part in enumerate(np.array_split(vectors, shards)):
        paths.append(folder / f"{number}.npy")
        np.save(paths[-1], part, allow_pickle=False)
    return paths


@contextmanager
def local_cluster(nodes: int, cpus: int) -> Iterator[Callable[[], None]]:
    """A Ray cluster of several nodes on this machine; gives what kills one without warning.

    The head holds no CPU, so that no actor runs there.
    """
    import ray
    from ray.cluster_utils import Cluster

    store: dict[str, Any] = {"object_store_memory": 100 << 20}
    cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **store})
    try:
        workers = [cluster.add_node(num_cpus=cpus, **store) for _ in range(nodes)]
        ray.init(address=cluster.address, log_to_driver=False)
        yield lambda: cluster.remove_node(workers[0], allow_graceful=False)
    finally:
        ray.shutdown()
        cluster.shutdown()
