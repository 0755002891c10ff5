"""Residual sums of a draft: the shortcut, and the branch that is added to it."""

from __future__ import annotations

from typing import NamedTuple

from nar_plugin.train.fit.edits.draft import Draft, Step, features

LEAST = 2  # residual sums of a graph that has blocks


class Residual(NamedTuple):
    """A sum of two values.

    Attributes:
        total: The sum.
        shortcut: The input that fewer operations made.
        branch: The other input.
        width: How many features the branch gives.
    """

    total: Step
    shortcut: Step
    branch: Step
    width: int


def residuals(draft: Draft) -> list[Residual]:
    """The residual sums: two inputs, of which one is longer on its way; none if under two."""
    heights = draft.heights()
    found = []
    for step in draft.of("add"):
        if len(step.inputs) != 2 or step.op.attributes or id(step) not in heights:
            continue
        low, high = sorted(step.inputs, key=lambda source: heights[id(source)])
        width = features(high)
        if heights[id(low)] < heights[id(high)] and width and features(low) in (width, None):
            found.append(Residual(step, low, high, width))
    return found if len(found) >= LEAST else []


def read_instead(step: Step, old: Step, new: Step) -> None:
    """Let one step read another value in the place of an old one."""
    step.inputs = [new if source is old else source for source in step.inputs]
