"""Exact search past one machine: each Ray actor holds one shard, and answers are merged.

A shard is a contiguous range of the rows, and its actor answers as `nearest` does: exact scores,
ties in row order. So the best of all shards' answers are those of one index over all rows.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from nar_plugin.errors import IndexUnavailable, NarError
from nar_plugin.index.search.nearest import Found, nearest_of_each
from nar_plugin.index.store.vectors import FloatArray

PATIENCE = 60.0  # seconds that an actor has for an answer, before another one is asked


class ShardedSearch:
    """The rows of several files, each held by actors on different nodes of a Ray cluster.

    The cluster is the one that this process is connected to. Every node needs this package and the
    files. An actor whose node is lost starts anew where there is room; until then the other
    replicas of its shard answer.

    Example:
        ```python
        with ShardedSearch([Path("a.npy"), Path("b.npy")], replicas=2) as search:
            scores, rows = search.nearest(query, k=10)
        ```

    Args:
        shards: Files of `numpy.save`, float16 or float32 unit rows; rows are numbered through.
        replicas: Actors that hold each shard, every one on a node of its own.
        patience: Seconds that an actor has for an answer.

    Raises:
        NarError: Ray is not installed, or the cluster has too few nodes or CPUs.

    Shapes:
        each shard [n, dim].
    """

    def __init__(
        self, shards: Sequence[Path], *, replicas: int = 2, patience: float = PATIENCE
    ) -> None:
        try:
            self._ray: Any = importlib.import_module("ray")
        except ImportError as error:
            raise NarError("Sharded search is an extra: pip install 'nar-plugin[ray]'") from error
        self._patience, self._turn = patience, 0
        self._groups = [self._on_nodes(replicas) for _ in shards]
        self._await_room(replicas)
        actor = self._ray.remote(num_cpus=1, max_restarts=-1)(Shard)
        first, self._shards = 0, []
        for path, group in zip(shards, self._groups, strict=True):
            actors = [
                actor.options(**_bundle(group, n)).remote(path, first) for n in range(replicas)
            ]
            self._shards.append(actors)
            first += rows_of(path)
        self._ray.get([each.ready.remote() for actors in self._shards for each in actors])

    def _on_nodes(self, replicas: int) -> Any:
        """A place for each replica of a shard, on different nodes."""
        groups = importlib.import_module("ray.util.placement_group")
        return groups.placement_group([{"CPU": 1}] * replicas, strategy="STRICT_SPREAD")

    def _await_room(self, replicas: int) -> None:
        waiting = [group.ready() for group in self._groups]
        ready, _ = self._ray.wait(waiting, num_returns=len(waiting), timeout=self._patience)
        if len(ready) < len(waiting):
            self.close()
            raise NarError(
                f"{len(waiting)} shards with {replicas} replicas want {len(waiting) * replicas} "
                f"CPUs, and {replicas} nodes for each shard: the cluster has "
                f"{self._ray.cluster_resources().get('CPU', 0):.0f} CPUs on "
                f"{len(self._ray.nodes())} nodes."
            )

    def __enter__(self) -> Self:
        """The search itself."""
        return self

    def __exit__(
        self,
        *_: object,
    ) -> None:
        """Let the actors go."""
        self.close()

    def close(self) -> None:
        """Let the actors go, and the memory that they hold."""
        groups = importlib.import_module("ray.util.placement_group")
        for group in self._groups:
            groups.remove_placement_group(group)

    def nearest(self, query: FloatArray, k: int) -> Found:
        """The k nearest rows of all shards: see `nar_plugin.index.search.nearest.nearest`."""
        (found,) = self.nearest_of_each(query[None], k)
        return found

    def nearest_of_each(self, queries: FloatArray, k: int) -> list[Found]:
        """What `nearest` gives for each query.

        Raises:
            IndexUnavailable: Every replica of a shard was asked twice and is lost.

        Shapes:
            queries [m, dim]; m pairs of scores and rows.
        """
        turn, self._turn = self._turn, self._turn + 1  # replicas take turns
        shared = self._ray.put(queries)
        asked = [actors[turn % len(actors)].nearest.remote(shared, k) for actors in self._shards]
        parts = [self._answer(n, turn, future, shared, k) for n, future in enumerate(asked)]
        return [merged(each, k) for each in zip(*parts, strict=True)]

    def _answer(self, number: int, turn: int, future: Any, queries: Any, k: int) -> list[Found]:
        """A shard's answer, by another replica where one is lost or silent."""
        actors = self._shards[number]
        for attempt in range(1, 2 * len(actors) + 1):
            try:
                found: list[Found] = self._ray.get(future, timeout=self._patience)
                return found
            except self._ray.exceptions.RayTaskError:
                raise  # the search itself failed, as it would elsewhere
            except self._ray.exceptions.RayError:  # its node or process ended, or it is silent
                future = actors[(turn + attempt) % len(actors)].nearest.remote(queries, k)
        raise IndexUnavailable(
            f"Shard {number} does not answer: its {len(actors)} replicas are lost. Add a node to "
            "the cluster, or ask for more replicas."
        )


class Shard:
    """What one actor holds: a range of the rows.

    Args:
        path: See `ShardedSearch`; mapped into memory, and copied as the backend rounds it.
        first: The number of its first row.
    """

    def __init__(self, path: Path, first: int) -> None:
        from nar_plugin.index.search.backends import open_on_cpu, open_on_gpu

        self._first = first
        self._vectors = np.load(path, mmap_mode="r", allow_pickle=False)
        self._backend = open_on_gpu(self._vectors) or open_on_cpu(self._vectors)

    def ready(self) -> int:
        """How many rows it holds, once they are there."""
        return len(self._vectors)

    def nearest(self, queries: FloatArray, k: int) -> list[Found]:
        """The k nearest of its rows for each query, numbered over all shards."""
        found = nearest_of_each(self._backend, self._vectors, queries, k)
        return [(scores, rows + self._first) for scores, rows in found]


def merged(parts: Sequence[Found], k: int) -> Found:
    """The k best of several answers, best first, ties in row order."""
    scores = np.concatenate([part[0] for part in parts])
    rows = np.concatenate([part[1] for part in parts])
    order = np.lexsort((rows, -scores))[:k]
    return scores[order], rows[order]


def rows_of(path: Path) -> int:
    """How many rows a shard's file has; only its head is read."""
    return len(np.load(path, mmap_mode="r", allow_pickle=False))


def _bundle(group: Any, number: int) -> dict[str, Any]:
    strategies = importlib.import_module("ray.util.scheduling_strategies")
    where = strategies.PlacementGroupSchedulingStrategy(
        placement_group=group, placement_group_bundle_index=number
    )
    return {"scheduling_strategy": where}
