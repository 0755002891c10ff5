"""Guesses at the inputs of a wrapper, whose forward hands on what it is given to its lone part."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from types import SimpleNamespace
from typing import Any

from torch import Tensor, nn

from nar_plugin import manager
from nar_plugin.errors import TraceError
from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.tracing.twin.parts import children, parameters
from nar_plugin.tracing.twin.wrappers import unwrap

_SHARE = 0.9  # of the parameters, that a lone part holds
_MOST = 6
_DEEPEST = 4
_BATCH = re.compile(r"(batch|inputs|data|samples?|examples?|features|items?)(_dict)?")

Guess = Callable[[nn.Module], Iterable[ExampleInputs]]


def handed_on(model: nn.Module, own: Guess) -> Iterator[ExampleInputs]:
    """What the lone part takes in, as the wrapper's keywords, its arguments or its batch.

    They are blind, so that what the forward's own messages say is tried before.

    Example:
        ```python
        class Tagger(nn.Module):  # of a BERT, `self.bert`
            def forward(self, **inputs):
                return self.bert(**inputs)

        next(handed_on(Tagger(), own)).kwargs["input_ids"].shape  # (1, 64)
        ```

    Args:
        model: Any module; of one that names its arguments there are none.
        own: Guesses for a part that no library knows.
    """
    if not _is_open(model):
        return
    part, found = _read(model, own)
    given = ((inputs, item) for inputs in found for item in _given(model, part, inputs))
    for inputs, (args, kwargs) in islice(given, _MOST):
        yield ExampleInputs(args, kwargs, inputs.batch, blind=True)


def _read(model: nn.Module, own: Guess) -> tuple[nn.Module, Iterable[ExampleInputs]]:
    """The first part inside that a library knows, else that names its arguments; its inputs."""
    parts = list(islice(_parts(model), _DEEPEST))
    libraries = frozenset(sys.modules) - {"torch"}
    for part in parts:
        answers = manager.call_each("nar_example_inputs", libraries=libraries, model=part)
        for _, found in answers:
            return part, found
    for part in parts:
        if not _is_loose(part):
            return part, own(part)
    return model, ()


def _parts(model: nn.Module) -> Iterator[nn.Module]:
    """The lone part, its own lone part where it hands on what it is given as well, and so on."""
    while _is_open(model) and (part := _lone_part(model)) is not None:
        yield part
        model = part


def _lone_part(model: nn.Module) -> nn.Module | None:
    """The one with a forward that holds nearly all parameters."""
    total = _size(model)
    for child in children(model):
        if total and _size(child) >= _SHARE * total:
            if isinstance(child, nn.ModuleList | nn.ModuleDict):
                return _lone_part(child)
            try:
                return unwrap(child)
            except TraceError:  # TorchScript
                return None
    return None


def _size(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in parameters(module))


def _is_open(model: nn.Module) -> bool:
    """Whether the forward does not say which inputs it wants."""
    return any(item.kind is item.VAR_KEYWORD for item in _parameters(model).values()) or (
        _is_loose(model) or _batch(model) != ""
    )


def _is_loose(model: nn.Module) -> bool:
    """Whether the forward takes `*args`, `**kwargs` or both and names nothing that it needs."""
    kinds = {item.kind for item in _parameters(model).values()}
    loose = {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
    return bool(kinds & loose) and not _required(model)


def _batch(model: nn.Module) -> str:
    """The lone argument's name, if it may be a batch: by the name, or as it is spread out."""
    names = _required(model)
    if len(names) != 1 or len(_parameters(model)) != 1:
        return ""
    (name,) = names
    if getattr(_parameters(model)[name].annotation, "__name__", "") == "Tensor":
        return ""
    spread = rf"\*\*\s*{re.escape(name)}\b"
    return name if _BATCH.fullmatch(name) or re.search(spread, _source(model)) else ""


def _required(model: nn.Module) -> list[str]:
    loose = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return [
        name
        for name, item in _parameters(model).items()
        if item.default is item.empty and item.kind not in loose
    ]


def _given(
    model: nn.Module, part: nn.Module, inputs: ExampleInputs
) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Arguments and keywords for the wrapper, from those for the part."""
    named = _named(part, inputs)
    kinds = {item.kind for item in _parameters(model).values()}
    if _batch(model):
        tensors = {name: value for name, value in named.items() if isinstance(value, Tensor)}
        for fields in [named, tensors] if len(tensors) < len(named) else [tensors]:
            if fields:  # the forward may move all of a batch to a device
                yield (fields,), {}
                yield (SimpleNamespace(**fields),), {}
        if len(values := [*inputs.args, *inputs.kwargs.values()]) == 1:
            yield (values[0],), {}
    elif inspect.Parameter.VAR_KEYWORD in kinds:
        if named and set(_required(model)) <= set(named):
            yield (), named
    elif (placed := _placed(part, inputs, named)) is not None:
        yield placed, {}


def _named(part: nn.Module, inputs: ExampleInputs) -> dict[str, Any]:
    """All inputs by their names; empty where some have none."""
    names = [
        name
        for name, item in _parameters(part).items()
        if item.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    ]
    if len(inputs.args) > len(names):
        return {}
    return {**dict(zip(names, inputs.args, strict=False)), **inputs.kwargs}


def _placed(
    part: nn.Module, inputs: ExampleInputs, named: Mapping[str, Any]
) -> tuple[Any, ...] | None:
    """All inputs in order, with defaults between them; None where one has no place."""
    if not inputs.kwargs:
        return inputs.args
    left = dict(named)
    placed: list[Any] = []
    for name, item in _parameters(part).items():
        if not left or item.kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD:
            break
        placed.append(left.pop(name, item.default))
    return None if left or inspect.Parameter.empty in placed else tuple(placed)


def _parameters(model: nn.Module) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(model.forward).parameters
    except (TypeError, ValueError):  # a forward in C++ or TorchScript
        return {}


def _source(model: nn.Module) -> str:
    try:
        return inspect.getsource(type(model).forward)
    except (OSError, TypeError):
        return ""
