"""Edits of widths: of the whole design, or inside its perceptrons."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.edits.draft import PARAMETRIC, Draft, changed
from nar_plugin.train.variations import inner_widths, rewidened

_FACTORS = (Fraction(1, 2), Fraction(3, 2), Fraction(2))
_INNER = (0.5, 0.75, 1.5, 2.0)
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
