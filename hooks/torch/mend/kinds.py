"""Refusals about what an input is: ids, numbers, a list, a dict, an object."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.tracing.twin.parts import modules

from ..._shared.layer_inputs import STEPS
from ..._shared.layers import floats
from ..._shared.picture_inputs import IMAGE
from ..guess.arguments import EDGES
from . import arguments
from . import edits as edit

_LONGEST_LIST = 8


def token_ids(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """Ids where floats were."""
    yield from edit.each_float(inputs, edit.as_ids)


def as_floats(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """Floats where ids were."""
    yield from edit.each(inputs, edit.as_floats)


def vectors(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """Ids where features were wanted: vectors as wide as the model's own, the last ids first."""
    for place in [*edit.places(inputs)][::-1]:
        value = edit.value_at(inputs, place)
        if isinstance(value, Tensor) and value.dtype == torch.int64:
            for width in _widths(model):
                yield edit.put(inputs, place, floats(*value.shape, width))
                yield edit.put(inputs, place, floats(len(value), width))


def _widths(model: nn.Module) -> list[int]:
    """Of the first table's rows, and what the first linear layer takes in."""
    found: dict[type[nn.Module], int] = {}
    for module in modules(model):
        if isinstance(module, nn.Embedding):
            found.setdefault(nn.Embedding, module.embedding_dim)
        elif isinstance(module, nn.Linear):
            found.setdefault(nn.Linear, module.in_features)
    return list(dict.fromkeys(found.values()))


def numbers(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """A tensor where the forward compares a number."""
    for place in edit.places(inputs):
        if isinstance(edit.value_at(inputs, place), Tensor):
            yield edit.put(inputs, place, 1)


def lists(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """A list of tensors where one tensor was."""
    for place, value in enumerate(inputs.args):
        if isinstance(value, Tensor) and value.dim() > 1:
            yield edit.put(inputs, place, edit.as_list(value))
            yield edit.put(inputs, place, [value, value])


def first_of(model: nn.Module, inputs: ExampleInputs) -> Iterator[ExampleInputs]:
    """A list of one, such as one clip for one pathway, where the forward takes the first of it."""
    name = next(iter(arguments.parameters(model)), "")
    value = inputs.args[0] if inputs.args else None
    if isinstance(value, Tensor) and re.search(rf"\b{name}\[0\]", _source(model)):
        yield edit.put(inputs, 0, [value])


def longer_lists(
    model: nn.Module, inputs: ExampleInputs, words: list[str]
) -> Iterator[ExampleInputs]:
    """The forward takes more of a list than there are, as of clips for two pathways."""
    for place, value in enumerate(inputs.args):
        if isinstance(value, list) and 0 < len(value) < _LONGEST_LIST:
            yield edit.put(inputs, place, [*value, value[-1]])


def dicts(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """The forward reads its argument by keys; they stand in its source, or a KeyError tells."""
    by_key = r"\b{}\[\s*['\"](\w+)['\"]\s*\]"
    yield from _composed(model, inputs, by_key, dict)
    yield from _composed(model, inputs, by_key, lambda values: [values], each_of=True)
    yield replace(inputs, args=({}, *inputs.args[1:]))


def key(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """A dict lacks a key, or each of a list of them."""
    for place, value in enumerate(inputs.args):
        fields = value[0] if isinstance(value, list) and value else value
        if isinstance(fields, dict):
            known = next((item for item in fields.values() if isinstance(item, Tensor)), None)
            for like in [torch.tensor([1]), floats(1)] if known is None else [known]:
                made = {**fields, words[0]: arguments.value(words[0], like, model)}
                yield edit.put(inputs, place, made if value is fields else [made])


def keywords(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """The forward takes names alone; those of `**kwargs` stand in its source."""
    first = next((item for item in inputs.args if isinstance(item, Tensor)), None)
    if first is None or not _source(model):
        return
    names = []
    for name, parameter in inspect.signature(model.forward).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            read = rf"\b{name}(?:\[|\.(?:get|pop)\()\s*['\"](\w+)['\"]"
            names += re.findall(read, _source(model))
        elif parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty:
            names.append(name)
    if names:
        rest = {name: arguments.value(name, first, model) for name in names[1:]}
        yield ExampleInputs((), {**inputs.kwargs, **rest, names[0]: first})


def objects(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """The forward reads its argument by attributes, as those of a PyG `Data`."""
    yield from _composed(model, inputs, r"\b{}\.([a-z]\w*)\b(?!\()", lambda d: SimpleNamespace(**d))


def _composed(
    model: nn.Module,
    inputs: ExampleInputs,
    pattern: str,
    make: Callable[[dict[str, Any]], Any],
    *,
    each_of: bool = False,
) -> Iterator[ExampleInputs]:
    """The first argument made of what the forward reads of it, or of `each_of` its elements."""
    first = next((item for item in inputs.args if isinstance(item, Tensor)), None)
    if first is None:
        return
    source = _source(model)
    names = list(arguments.parameters(model))[:1]
    if each_of:
        names = [item for name in names for item in _loops(name, source)]
        first = first[0] if first.dim() == 4 else first  # a picture of a batch
    for name in names[:1]:
        keys = dict.fromkeys(re.findall(pattern.format(re.escape(name)), source))
        if keys:
            if any(EDGES.search(key) for key in keys) and first.shape[0] < STEPS:
                first = floats(STEPS, first.shape[-1])
            values = {
                key: first if each_of and IMAGE.search(key) else arguments.value(key, first, model)
                for key in keys
            }
            yield ExampleInputs((make(values), *inputs.args[1:]), inputs.kwargs)


def _loops(name: str, source: str) -> list[str]:
    """What the loops over a name call its elements."""
    return re.findall(rf"\bfor (\w+) in {re.escape(name)}\b", source)


def _source(model: nn.Module) -> str:
    try:
        return inspect.getsource(type(model).forward)
    except (OSError, TypeError):
        return ""
