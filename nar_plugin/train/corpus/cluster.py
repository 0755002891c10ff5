"""Traces architectures on a Ray cluster: for lists that one machine would take days for."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from nar_plugin.errors import NarError
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.train.corpus.workers import died, start_worker, trace_named

_TRIES = 3  # of a name whose node or process ended


def traced_on_ray(todo: list[NamedArchitecture]) -> Iterator[dict[str, Any]]:
    """Records in order of completion, one for each name; each takes a CPU of the cluster.

    The cluster is the one that this process is connected to, else the one of `RAY_ADDRESS`, else a
    new one of this machine. Every node needs this package and the model libraries. A name whose
    node ends is traced again on another one.

    Raises:
        NarError: Ray is not installed.
    """
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError as error:
        raise NarError("The engine ray is an extra: pip install 'nar-plugin[ray]'") from error
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    # A worker process ends after 200 names, so that what libraries leave in memory goes with it.
    tracing = ray.remote(num_cpus=1, max_retries=_TRIES - 1, max_calls=200)(_trace)
    queue = list(reversed(todo))
    running: dict[Any, NamedArchitecture] = {}
    while queue or running:
        most = 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))  # nodes come and go
        while queue and len(running) < most:
            item = queue.pop()
            running[tracing.remote(item)] = item
        finished, _ = ray.wait(list(running))
        for future in finished:
            item = running.pop(future)
            try:
                yield ray.get(future)
            except ray.exceptions.RayError:  # tracing itself raises nothing: its process ended
                yield died(item)


def _trace(item: NamedArchitecture) -> dict[str, Any]:
    start_worker()
    return trace_named(item)
