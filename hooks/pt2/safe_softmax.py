"""Takes out what torch adds when it writes attention out: rows without any key are set to zero.

Source: torch/_decomp/decompositions.py, `safe_softmax`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from .._shared.program import Step, Value

_ATEN = torch.ops.aten
_GUARD = (_ATEN.logical_not.default, _ATEN.any.dim, _ATEN.logical_not.default, _ATEN.eq.Scalar)


def without_guards(steps: Sequence[Step]) -> list[Step]:
    """The steps with `where(not any(not (x == -inf)), 0, softmax(x))` as the softmax alone."""
    makers = {step.result: step for step in steps if isinstance(step.result, str)}
    kept, guards = [], set()
    for step in steps:
        if step.call is _ATEN.where.self and (names := _guard(step.args[0], makers)):
            guards.update(names)
            kept.append(Step(_same, [step.args[2]], result=step.result))
        else:
            kept.append(step)
    return [step for step in kept if not (isinstance(step.result, str) and step.result in guards)]


def _guard(condition: object, makers: dict[str, Step]) -> list[str]:
    """The names of the steps that make such a condition; none of any other."""
    names, value = [], condition
    for call in _GUARD:
        step = makers.get(value.name) if isinstance(value, Value) else None
        if step is None or step.call is not call:
            return []
        names.append(step.result)
        value, last = step.args[0], step
    return names if last.args[1] == -math.inf else []


def _same(value: object) -> object:
    return value
