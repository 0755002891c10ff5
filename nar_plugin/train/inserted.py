"""Graphs with something put behind each of their layers.

A further activation, noise, a gate or an adapter everywhere changes every neighbourhood of a graph,
and leaves what its layers are there for: the encoder is to see past it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.layers import GELU, batch_norm, layer_norm, linear

LAYERS = ("linear", "conv")
_PLACES = (LAYERS, LAYERS, LAYERS, ("linear",), ("conv",), ("add",))
_WIDTH = 64  # where no operation states a width
_NARROWER = 8  # times, an adapter
_OPERATIONS: tuple[Callable[[int], Op], ...] = (
    lambda _: Op("relu"),
    lambda _: GELU,
    lambda _: Op("silu"),
    lambda _: Op("tanh"),
    lambda _: Op("sigmoid"),
    lambda _: Op("softplus"),
    lambda _: Op("mul", (("operand", "param"),)),
    lambda _: Op("mul", (("operand", "const"),)),  # noise
    lambda _: Op("add", (("operand", "const"),)),
    lambda _: Op("l2_norm"),
    layer_norm,
    batch_norm,
)


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
    widths: list[int] = []  # how many features each operation gives, by the last that says so
    for op, path, sources in zip(graph.ops, graph.paths, graph.sources(), strict=True):
        place = len(ops)
        edges += [(gives[source], place) for source in sources]
        ops.append(op)
        said = op.get("out") or op.get("width")
        width = said if isinstance(said, int) else max((widths[s] for s in sources), default=_WIDTH)
        widths.append(width)
        if op.kind in kinds:
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


def adapter(width: int) -> Chain:
    """A narrow perceptron beside a shortcut (Houlsby et al. 2019, arXiv 1902.00751, Figure 2)."""
    narrow = max(1, width // _NARROWER)
    ops = (linear(width, narrow), Op("relu"), linear(narrow, width), Op("add"))
    return Chain(ops, ((-1, 0), (0, 1), (1, 2), (2, 3), (-1, 3)))


def inserted(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph:
    """The graph with something behind all its layers, its linear ones, convolutions or sums.

    Half the time it is one operation, else a gate or an adapter.

    Args:
        graph: A graph; one that has none of these is returned as it is.
        random: What draws the change.
    """
    has = {op.kind for op in graph.ops}
    places = [kinds for kinds in _PLACES if has.intersection(kinds)]
    if not places:
        return graph
    kinds = places[random.integers(len(places))]
    sort = random.choice(["operation", "operation", "gate", "adapter"])
    if sort == "adapter":
        return behind(graph, kinds, adapter)
    if sort == "gate":
        return behind(graph, kinds, lambda width: gate(linear(width, width), Op("sigmoid")))
    make = _OPERATIONS[random.integers(len(_OPERATIONS))]
    return behind(graph, kinds, lambda width: single(make(width)))
