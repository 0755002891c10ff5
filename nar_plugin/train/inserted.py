"""Graphs with something put behind each of their layers.

A further activation, noise, a gate or an adapter everywhere changes every neighbourhood of a graph,
and leaves what its layers are there for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from nar_plugin.tracing.graph import ArchitectureGraph, Op

LAYERS = ("linear", "conv")
_WIDTH = 64  # where a layer states no width


class Chain(NamedTuple):
    """Operations that come behind a layer.

    Attributes:
        ops: The operations; the last gives what the layer gave.
        edges: Pairs of their places, source and target; the layer stands at -1.
    """

    ops: tuple[Op, ...]
    edges: tuple[tuple[int, int], ...]


def behind(
    graph: ArchitectureGraph, kinds: Collection[str], make: Callable[[int], Chain]
) -> ArchitectureGraph:
    """The graph with a chain behind each operation of some kinds.

    Args:
        graph: A graph.
        kinds: Behind what.
        make: The chain for a layer that gives so many features.
    """
    chains: dict[int, Chain] = {}  # by width, so that equal operations are one object
    ops: list[Op] = []
    paths: list[str] = []
    edges: list[tuple[int, int]] = []
    gives: list[int] = []  # where what each operation gave comes from now
    for op, path, sources in zip(graph.ops, graph.paths, graph.sources(), strict=True):
        place = len(ops)
        edges += [(gives[source], place) for source in sources]
        ops.append(op)
        if op.kind in kinds:
            width = op.get("out")
            width = width if isinstance(width, int) else _WIDTH
            chain = chains.setdefault(width, make(width))
            ops += chain.ops
            edges += [(place + 1 + start, place + 1 + end) for start, end in chain.edges]
        gives.append(len(ops) - 1)
        paths += [path] * (len(ops) - place)
    joined = np.array(edges, dtype=np.int32).reshape(-1, 2)
    return replace(graph, ops=tuple(ops), paths=tuple(paths), edges=joined)


def single(op: Op) -> Chain:
    """One operation behind a layer."""
    return Chain((op,), ((-1, 0),))


def gate(*ops: Op) -> Chain:
    """What a layer gives, times what these make of it."""
    count = len(ops)
    steps = [(place - 1, place) for place in range(count)]
    return Chain((*ops, Op("mul")), (*steps, (-1, count), (count - 1, count)))
