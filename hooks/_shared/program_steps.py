"""The calls of a program, and what stands for their arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Value:
    """The result of an earlier step, an input or a weight, by its name in the file."""

    name: str


@dataclass(frozen=True, slots=True)
class Step:
    """One call.

    Attributes:
        call: What is called.
        args: Positional arguments; a `Value` in them, in lists too, stands for what has its name.
        kwargs: Keyword arguments, in the same way.
        result: A name for the whole result, or a list of names, one for each part of it. None
            leaves a part out.
    """

    call: Callable[..., Any]
    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    result: Any = None


def run(steps: Iterable[Step], values: dict[str, Any]) -> None:
    """Make the calls, one after another; each finds its arguments in `values`, and adds to them."""
    for step in steps:
        made = step.call(*filled(step.args, values), **filled(step.kwargs, values))
        _bind(step.result, made, values)


def filled(item: Any, values: Mapping[str, Any]) -> Any:
    """An argument with the results for which its values stand."""
    if isinstance(item, Value):
        return values[item.name]
    if isinstance(item, list | tuple):
        return type(item)(filled(each, values) for each in item)
    if isinstance(item, Mapping):
        return {key: filled(each, values) for key, each in item.items()}
    return item


def _bind(result: Any, made: Any, values: dict[str, Any]) -> None:
    if isinstance(result, list | tuple):
        for name, part in zip(result, made, strict=False):
            _bind(name, part, values)
    elif result is not None:
        values[result] = made
