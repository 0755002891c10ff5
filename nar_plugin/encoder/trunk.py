"""The trunk of a graph: what is left without the operations that only read its results out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nar_plugin.tracing.graph import ArchitectureGraph

READOUTS = frozenset(
    {
        "argmax",
        "hardsigmoid",
        "l2_norm",
        "log_sigmoid_forward",
        "log_softmax",
        "sigmoid",
        "softmax",
        "tanh",
        "topk",
    }
)


def trunk(graph: ArchitectureGraph) -> ArchitectureGraph:
    """The graph without readouts: operations of one input, behind which only readouts come.

    They turn what the last layer says into probabilities, a choice or a unit vector. Whether a
    model does that or leaves it to the loss says nothing of its design. A graph of readouts alone
    keeps the first.
    """
    kept = np.ones(len(graph), dtype=bool)
    readouts = [place for place, op in enumerate(graph.ops) if place and op.kind in READOUTS]
    if not readouts:
        return graph
    starts, ends = graph.edges.T
    readers = np.bincount(starts, minlength=len(graph))
    inputs = np.bincount(ends, minlength=len(graph))
    for place in reversed(readouts):  # what reads an operation is listed behind it
        if inputs[place] == 1 and not readers[place]:
            kept[place] = False
            readers[starts[ends == place]] -= 1
    return graph if kept.all() else part(graph, kept)


def part(graph: ArchitectureGraph, kept: np.ndarray) -> ArchitectureGraph:
    """The operations that are kept, with the edges between them.

    Args:
        graph: The graph.
        kept: bool[n], whether each operation stays.
    """
    numbers = kept.cumsum() - 1
    inner = graph.edges[kept[graph.edges].all(axis=1)]
    places = np.flatnonzero(kept).tolist()
    return replace(
        graph,
        ops=tuple(graph.ops[place] for place in places),
        paths=tuple(graph.paths[place] for place in places),
        edges=numbers[inner].astype(np.int32).reshape(-1, 2),
    )
