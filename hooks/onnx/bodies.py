"""ONNX's graphs inside graphs: branches, and the bodies of loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from .._shared.program_steps import Step, run
from .values import ints, operator, tensor

_MOST_ROUNDS = 64  # of a loop; a design's are few, and data's say nothing of it


@dataclass(frozen=True, slots=True)
class Body:
    """A graph that is an attribute, such as a branch.

    Attributes:
        inputs: Names of its own inputs.
        steps: Its calls.
        outputs: Names of its results.
        outer: Names that it takes from around it.
    """

    inputs: tuple[str, ...]
    steps: tuple[Step, ...]
    outputs: tuple[str, ...]
    outer: tuple[str, ...]

    def run(self, outside: Mapping[str, Any], *given: Any) -> list[Any]:
        """Its results for these inputs."""
        values = {**outside, **dict(zip(self.inputs, given, strict=True))}
        run(self.steps, values)
        return [values[name] for name in self.outputs]


def _holds(condition: Any) -> bool:
    """Whether a condition holds; one that depends on the data does."""
    if isinstance(condition, np.ndarray):
        return bool(condition.all())
    return True


@operator("If")
def _branch(attributes: dict[str, Any], outside: dict[str, Any], condition: Any) -> Any:
    chosen = "then_branch" if _holds(condition) else "else_branch"
    return attributes[chosen].run(outside)


@operator("Loop")
def _loop(
    attributes: dict[str, Any], outside: dict[str, Any], count: Any, condition: Any, *state: Any
) -> Any:
    """The rounds that are known, else one."""
    body, carried, stacked = attributes["body"], list(state), []
    rounds = ints(count)[0] if isinstance(count, np.ndarray) else 1
    rounds = 1 if rounds > 1 << 30 else min(rounds, _MOST_ROUNDS)  # without a bound: while
    for place in range(rounds):
        if condition is not None and not _holds(condition):
            break
        condition, *made = body.run(outside, np.array(place), np.array(True), *carried)
        carried = made[: len(carried)]
        stacked.append(made[len(carried) :])
    return [*carried, *_stacked(stacked)]


@operator("Scan")
def _scan(attributes: dict[str, Any], outside: dict[str, Any], *given: Any) -> Any:
    """A round for each slice."""
    body, width = attributes["body"], attributes["num_scan_inputs"]
    carried, slices = list(given[:-width]), [tensor(item) for item in given[-width:]]
    stacked = []
    for place in range(min(slices[0].shape[0], _MOST_ROUNDS)):
        made = body.run(outside, *carried, *(item[place] for item in slices))
        carried = made[: len(carried)]
        stacked.append(made[len(carried) :])
    return [*carried, *_stacked(stacked)]


def _stacked(rounds: list[list[Any]]) -> list[Any]:
    return [torch.stack([tensor(item) for item in items]) for items in zip(*rounds, strict=True)]
