"""Refusals about arguments that are missing, too many, or of another shape than asserted."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from nar_plugin.hooks import _torch_edits as edit
from nar_plugin.hooks._torch_arguments import companions
from nar_plugin.hooks._torch_layers import IMAGE
from torch import Tensor, nn

from nar_plugin.hookspecs import ExampleInputs


def missing(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
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
    kwargs = {name: value for name, value in inputs.kwargs.items() if name != words[0]}
    yield replace(inputs, kwargs=kwargs)


def fewer(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    if len(inputs.args) > 1:
        yield replace(inputs, args=inputs.args[:-1])


def asserted(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """An argument's dimension that should have a size: `words` are all three."""
    name, at, want = words[0], int(words[1]), int(words[2])
    for place, parameter in enumerate(parameters(model)):
        value = inputs.args[place] if place < len(inputs.args) else inputs.kwargs.get(parameter)
        if parameter == name and isinstance(value, Tensor) and -value.dim() <= at < value.dim():
            shape = list(value.shape)
            shape[at] = want
            where = place if place < len(inputs.args) else parameter
            yield edit.put(inputs, where, edit.shaped(shape, value))


def parameters(model: nn.Module) -> dict[str, inspect.Parameter]:
    try:
        parameters = inspect.signature(model.forward).parameters
    except (TypeError, ValueError):
        return {}
    loose = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return {name: item for name, item in parameters.items() if item.kind not in loose}
