"""Edits of widths: of the whole design, or inside its perceptrons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.fit.edits.draft import PARAMETRIC, Draft, changed

_FACTORS = (Fraction(1, 2), Fraction(3, 2), Fraction(2))
_INNER = (0.5, 0.75, 1.5, 2.0)
_LAYERS = frozenset({"linear", "conv"})
_WIDTHS = frozenset({"in", "out", "width", "groups"})
_NARROW = 4  # widths up to this are no channels: colours, coordinates, single gates


def width(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """All channels and features times one factor; what comes in and goes out stays."""
    draft = Draft(graph)
    if any(op.get("experts") for op in set(graph.ops)):
        return None  # as wide as there are experts, which stay
    first, last = draft.first_layers(), draft.last_layers()
    factors = list(_FACTORS)
    random.shuffle(factors)
    for factor in factors:
        ops = [
            _scaled(step.op, factor, first=id(step) in first, last=id(step) in last)
            for step in draft.steps
        ]
        if all(ops) and any(op != step.op for op, step in zip(ops, draft.steps, strict=True)):
            for op, step in zip(ops, draft.steps, strict=True):
                step.op = op or step.op
            return draft.graph()
    return None


def inner_width(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph | None:
    """Other widths inside the perceptrons."""
    inner = inner_widths(graph)
    return rewidened(graph, inner, float(random.choice(_INNER))) if inner else None


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


def _scaled(op: Op, factor: Fraction, *, first: bool, last: bool) -> Op | None:
    """The operation in the wider design; None where a width does not divide."""
    names = {"in", "out", "width"}
    if op.kind in PARAMETRIC:
        names -= ({"in"} if first else set()) | ({"out"} if last else set())
    if op.kind == "attention":  # as many more heads, each as wide as before
        names = {"heads"}
    said = dict(op.attributes)
    if op.kind == "conv" and said["groups"] == said["in"] and "in" in names:
        names.add("groups")  # depthwise
    new: dict[str, int | str | bool] = {}
    for name in names & said.keys():
        value = said[name]
        if type(value) is not int or (value <= _NARROW and name != "heads"):
            continue
        scaled = value * factor
        if scaled.denominator != 1:
            return None
        new[name] = int(scaled)
    return changed(op, **new)
