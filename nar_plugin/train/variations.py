"""Graphs with another activation, norm or inner width: what the encoder is to see past.

They are what a designer changes first, and what a deployed model lost: its norms are in its
convolutions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from nar_plugin.encoder.words import ACTIVATIONS, NORMS
from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.layers import GELU, batch_norm, layer_norm, rms_norm

_NEW_ACTIVATIONS = (
    Op("relu"),
    GELU,
    Op("gelu", (("approximate", "tanh"),)),
    Op("silu"),
    Op("leaky_relu", (("slope", 0.1),)),
    Op("hardswish"),
)
_LAYERS = frozenset({"linear", "conv"})
_WIDTHS = frozenset({"in", "out", "width", "groups"})
_NEW_NORMS: tuple[Callable[[int], Op], ...] = (
    batch_norm,
    layer_norm,
    lambda width: Op("group_norm", (("groups", 32), ("width", width))),
    rms_norm,
    lambda _: Op("instance_norm"),
)
_INNER = (0.35, 0.5, 0.7, 1.4, 2.0, 2.8)  # half octaves


def varied(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph:
    """The graph with another activation, norm or both, without its norms, or of other inner widths.

    Args:
        graph: A graph; one without any of these is returned as it is.
        random: What draws the change.
    """
    activation, norm = commonest(graph, ACTIVATIONS), commonest(graph, NORMS)
    choices = ["activation"] * bool(activation) + ["norm", "without"] * bool(norm)
    choices += ["both"] * bool(activation and norm)
    inner = inner_widths(graph)
    choices += ["inner"] * bool(inner)
    if not choices:
        return graph
    choice = random.choice(choices)
    if choice == "without":
        return without_norms(graph)
    if choice == "inner":
        return rewidened(graph, inner, float(random.choice(_INNER)))
    if choice in ("activation", "both"):
        others = [op for op in _NEW_ACTIVATIONS if op.kind != activation]
        new = others[random.integers(len(others))]
        graph = replaced(graph, activation, lambda _: new)
    if choice in ("norm", "both"):
        made = [make for make in _NEW_NORMS if make(1).kind != norm]
        make = made[random.integers(len(made))]
        graph = replaced(graph, norm, lambda op: make(_width(op)))
    return graph


def commonest(graph: ArchitectureGraph, kinds: frozenset[str]) -> str:
    """Which of some kinds most operations of a graph have; empty where none has one."""
    counts = Counter(op.kind for op in graph.ops if op.kind in kinds)
    return max(counts, key=lambda kind: (counts[kind], kind), default="")


def replaced(graph: ArchitectureGraph, kind: str, make: Callable[[Op], Op]) -> ArchitectureGraph:
    """The graph with others in place of the operations of one kind."""
    new = {op: make(op) for op in set(graph.ops) if op.kind == kind}
    return replace(graph, ops=tuple(new.get(op, op) for op in graph.ops))


def without_norms(graph: ArchitectureGraph) -> ArchitectureGraph:
    """The graph without its norms; a convolution whose batch norm is gone has a bias."""
    kept = [place for place, op in enumerate(graph.ops) if op.kind not in NORMS]
    place_of = {place: number for number, place in enumerate(kept)}
    source = dict(place_of)  # of what an operation gives, once the norms are gone
    ops = list(graph.ops)
    biased: dict[Op, Op] = {}
    for start, end in graph.edges.tolist():  # a norm has one input, and is listed behind it
        if start in source:
            source.setdefault(end, source[start])
        if graph.ops[end].kind == "batch_norm" and graph.ops[start].get("bias") is False:
            ops[start] = biased.setdefault(graph.ops[start], _biased(graph.ops[start]))
    edges = [
        (source[start], place_of[end])
        for start, end in graph.edges.tolist()
        if start in source and end in place_of
    ]
    return replace(
        graph,
        ops=tuple(ops[place] for place in kept),
        paths=tuple(graph.paths[place] for place in kept),
        edges=np.array(edges, np.int32).reshape(-1, 2),
    )


def inner_widths(graph: ArchitectureGraph) -> dict[int, bool]:
    """The widths inside the perceptrons of a graph, and whether they are gated.

    A layer takes n features to another width, or to twice that where a gate is packed into it, and
    the next takes that back to n, with no sum between: `linear 768 to 3072`, `linear 3072 to 768`.
    The inner of one that is the outer of another is none.
    """
    inner: dict[int, bool] = {}
    outer: set[int] = set()
    ahead: list[frozenset[tuple[int, int]]] = []  # widths of the last layers before each result
    for op, sources in zip(graph.ops, graph.sources(), strict=True):
        before = frozenset[tuple[int, int]]().union(*(ahead[source] for source in sources))
        width, out = op.get("in"), op.get("out")
        layer = op.kind in _LAYERS and op.get("groups", 1) == 1
        if layer and isinstance(width, int) and isinstance(out, int):
            for first, middle in before:
                if first == out != width and middle in (width, 2 * width):
                    inner[width] = inner.get(width, False) or middle == 2 * width
                    outer.add(out)
            ahead.append(frozenset({(width, out)}))
        else:
            summed = op.kind == "add" and len(sources) > 1
            ahead.append(frozenset() if summed else before)
    return {width: gated for width, gated in inner.items() if width not in outer}


def rewidened(
    graph: ArchitectureGraph, inner: Mapping[int, bool], factor: float
) -> ArchitectureGraph:
    """The graph with other inner widths.

    Args:
        graph: A graph.
        inner: Its `inner_widths`.
        factor: What they are multiplied by.
    """
    new = {width: max(1, round(width * factor)) for width in inner}
    new |= {2 * width: 2 * new[width] for width, gated in inner.items() if gated}

    def changed(op: Op) -> Op:
        said = (
            (n, new.get(v, v) if n in _WIDTHS and type(v) is int else v) for n, v in op.attributes
        )
        return replace(op, attributes=tuple(said))

    ops = {op: changed(op) for op in set(graph.ops)}
    return replace(graph, ops=tuple(ops[op] for op in graph.ops))


def _width(op: Op) -> int:
    width = op.get("width")
    return width if isinstance(width, int) else 64


def _biased(op: Op) -> Op:
    return replace(op, attributes=tuple((n, n == "bias" or value) for n, value in op.attributes))
