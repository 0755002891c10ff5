"""Which operations of a traced design do its work."""

from __future__ import annotations

from collections import defaultdict

from nar_plugin.tracing.graph import ArchitectureGraph

_WORKERS = frozenset(
    {"conv", "linear", "matmul", "attention", "lstm", "gru", "rnn_tanh", "rnn_relu"}
)


def flops_of_operations(graph: ArchitectureGraph) -> list[float] | None:
    """The FLOPs of each operation; None where they were not counted, as for a row of an index.

    A trace counts them by the module that makes a call (`ArchitectureGraph.work_of_modules`). The
    layers and products of the module share them alike, or those of the modules inside it. What a
    module without operations computes, as weights made of weights, is of the one around it.

    Args:
        graph: The design, with module paths.

    Returns:
        Numbers that sum to the FLOPs of the design.
    """
    if not graph.work_of_modules:
        return None
    under: defaultdict[str, list[int]] = defaultdict(list)
    for place, path in enumerate(graph.paths):
        under[path].append(place)
        while path:
            path = path.rpartition(".")[0]
            under[path].append(place)
    found = [0.0] * len(graph)
    for module, flops in graph.work_of_modules.items():
        path = module
        while path and path not in under:
            path = path.rpartition(".")[0]
        inside = under[path]
        workers = [place for place in inside if graph.ops[place].kind in _WORKERS] or inside
        workers = [place for place in workers if graph.paths[place] == path] or workers
        for place in workers:
            found[place] += flops / len(workers)
    return found
