"""Edits that replace one kind of operation: norms, activations, attention heads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from math import gcd

import numpy as np

from nar_plugin.encoder.words import ACTIVATIONS, NORMS
from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.fit.edits.draft import changed
from nar_plugin.train.fit.written_operations import GELU, batch_norm, layer_norm, rms_norm

_GROUPS = 32  # of a group norm (Wu & He 2018, arXiv 1803.08494)
_NEW_ACTIVATIONS = (
    Op("relu"), GELU, Op("silu"), Op("leaky_relu", (("slope", 0.1),)), Op("hardswish"), Op("mish"),
)  # fmt: skip


def _group_norm(width: int) -> Op:
    return Op("group_norm", (("groups", gcd(_GROUPS, width)), ("width", width)))


_NEW_NORMS = {
    "batch_norm": batch_norm,
    "layer_norm": layer_norm,
    "group_norm": _group_norm,
    "rms_norm": rms_norm,
}


def norm(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """Another norm in the place of the commonest one."""
    old = commonest(graph, NORMS)
    stated = all(isinstance(op.get("width"), int) for op in set(graph.ops) if op.kind == old)
    if not old or not stated:
        return None
    new = _NEW_NORMS[str(random.choice([kind for kind in _NEW_NORMS if kind != old]))]
    return replaced(graph, old, lambda op: new(int(op.get("width") or 1)))


def no_norms(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """The graph without its norms, as it is deployed or as a NFNet has none."""
    return without_norms(graph) if commonest(graph, NORMS) else None


def activation(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """Another activation in the place of the commonest one."""
    old = commonest(graph, ACTIVATIONS)
    if not old:
        return None
    others = [op for op in _NEW_ACTIVATIONS if op.kind != old]
    new = others[random.integers(len(others))]
    return replaced(graph, old, lambda _: new)


def heads(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """Twice or half as many heads, each half or twice as wide, where that divides everywhere."""
    found = {op for op in graph.ops if op.kind == "attention"}
    numbers = [[op.get(name) for name in ("heads", "width", "value_width")] for op in found]
    if not numbers or any(type(value) is not int for row in numbers for value in row):
        return None
    more = [all(row[1] % 2 == row[2] % 2 == 0 for row in numbers)]  # type: ignore[operator]
    fewer = [all(row[0] % 2 == 0 for row in numbers)]  # type: ignore[operator]
    ways = ["more"] * more[0] + ["fewer"] * fewer[0]
    if not ways:
        return None
    way = random.choice(ways)

    def split(op: Op) -> Op:
        count, width, value = (int(op.get(n) or 0) for n in ("heads", "width", "value_width"))
        if way == "more":
            return changed(op, heads=2 * count, width=width // 2, value_width=value // 2)
        return changed(op, heads=count // 2, width=2 * width, value_width=2 * value)

    return replaced(graph, "attention", split)


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


def _biased(op: Op) -> Op:
    return replace(op, attributes=tuple((n, n == "bias" or value) for n, value in op.attributes))
