"""Refusals about arguments that are missing or too many."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from torch import Tensor, nn

from nar_plugin.hookspecs import ExampleInputs

from ..._shared.picture_inputs import IMAGE
from ..guess.arguments import companions


def missing(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """Add the arguments whose names the message lists."""
    yield from _with(model, inputs, re.findall(r"'(\w+)'", words[0]))


def optional(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """Something is None: the arguments that the message names, else each in turn, else all."""
    given = list(parameters(model))[: len(inputs.args)]
    left = [name for name in parameters(model) if name not in given and name not in inputs.kwargs]
    named = [name for name in left if re.search(rf"\b{re.escape(name)}\b", " ".join(words))]
    if named:
        yield from _with(model, inputs, named)
    for name in left[:5]:
        yield from _with(model, inputs, [name])
    yield from _with(model, inputs, left[:5])


def _with(model: nn.Module, inputs: ExampleInputs, names: list[str]) -> Iterator[ExampleInputs]:
    values = (*inputs.args, *inputs.kwargs.values())
    first = next((item for item in values if isinstance(item, Tensor)), None)
    if first is not None and names:
        for variant in range(3):
            added = {name: value(name, first, model, variant) for name in names}
            yield replace(inputs, kwargs={**inputs.kwargs, **added})


def value(name: str, main: Tensor, model: nn.Module, variant: int = 0) -> Any:
    """A value for a name, which is the main input when the name says nothing else."""
    if IMAGE.search(name) and main.dim() >= 4:
        return main
    found = [value for value in companions(name, main, model) if value is not None]
    return found[min(variant, len(found) - 1)] if found else main


def unexpected(
    model: nn.Module, inputs: ExampleInputs, words: list[str]
) -> Iterator[ExampleInputs]:
    """Leave out an argument that the forward does not take."""
    kwargs = {name: value for name, value in inputs.kwargs.items() if name != words[0]}
    yield replace(inputs, kwargs=kwargs)


def fewer(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """Leave out the last positional argument."""
    if len(inputs.args) > 1:
        yield replace(inputs, args=inputs.args[:-1])


def place_of(name: str, model: nn.Module, inputs: ExampleInputs) -> int | str | None:
    """Where the inputs hold an argument of the forward, if they do."""
    if name in inputs.kwargs:
        return name
    names = list(parameters(model))[: len(inputs.args)]
    return names.index(name) if name in names else None


def parameters(model: nn.Module) -> dict[str, inspect.Parameter]:
    """The named parameters of the forward; none where it has no signature."""
    try:
        parameters = inspect.signature(model.forward).parameters
    except (TypeError, ValueError):
        return {}
    loose = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return {name: item for name, item in parameters.items() if item.kind not in loose}
