"""Undoes what `run_decompositions` makes of a program where it hides the design.

Source: torch/_decomp/decompositions.py: `safe_softmax`, `roll`, `hardswish`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as tree

from .._shared.program_steps import Step, Value
from .._shared.rolls import roll

_ATEN = torch.ops.aten
_GUARD = (_ATEN.logical_not.default, _ATEN.any.dim, _ATEN.logical_not.default, _ATEN.eq.Scalar)


def composed(steps: Sequence[Step]) -> list[Step]:
    """The steps, with guards of attention left out, limits together, and rotations as rolls."""
    return _with_rolls(_with_whole_limits(_without_guards(steps)))


def _without_guards(steps: Sequence[Step]) -> list[Step]:
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


def _with_whole_limits(steps: Sequence[Step]) -> list[Step]:
    """The steps with `clamp(clamp(x, 0), None, 6)` as one limit, as hard swish has it."""
    makers = {step.result: step for step in steps if isinstance(step.result, str)}
    readers = Counter(name for step in steps for name in _read(step))
    kept: dict[int, Step] = {id(step): step for step in steps}
    for step in steps:
        lower = makers.get(step.args[0].name) if _is_upper_limit(step) else None
        if lower is None or not _is_lower_limit(lower) or readers[lower.result] > 1:
            continue
        kept[id(step)] = Step(
            _ATEN.clamp.default, [lower.args[0], lower.args[1], step.args[2]], result=step.result
        )
        del kept[id(lower)]
    return list(kept.values())


def _is_lower_limit(step: Step) -> bool:
    return step.call is _ATEN.clamp.default and len(step.args) == 2 and not step.kwargs


def _is_upper_limit(step: Step) -> bool:
    limited = step.call is _ATEN.clamp.default and len(step.args) == 3 and step.args[1] is None
    return limited and isinstance(step.args[0], Value) and not step.kwargs


def _read(step: Step) -> Iterable[str]:
    items = tree.tree_leaves((step.args, step.kwargs))
    return (item.name for item in items if isinstance(item, Value))


def _with_rolls(steps: Sequence[Step]) -> list[Step]:
    """The steps with a choice of all rows, in an order that rotates them, as a roll."""
    return [
        Step(_select, step.args, step.kwargs, step.result)
        if step.call is _ATEN.index_select.default
        else step
        for step in steps
    ]


def _select(source: Tensor, dim: int, index: Tensor) -> Tensor:
    shift = _rotation(index, source.shape[dim])
    if shift is not None:
        return roll(source, dim, shift)
    chosen: Tensor = _ATEN.index_select.default(source, dim, index)
    return chosen


def _rotation(index: Any, size: int) -> int | None:
    """By how much an index rotates all rows of a dimension; None if it does another thing."""
    if index.is_meta or index.dim() != 1 or len(index) != size or size < 2:
        return None
    first = int(index[0])
    rotated = torch.equal(index, (torch.arange(size, dtype=index.dtype) + first) % size)
    return size - first if rotated and first else None
