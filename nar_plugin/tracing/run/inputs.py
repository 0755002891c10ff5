"""Which inputs a forward is traced with: the user's, or the plugins' guesses in order."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from nar_plugin import manager
from nar_plugin.errors import TraceError
from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.tracing.record.constants import KNOWN_ELEMENTS
from nar_plugin.tracing.record.host_copies import on_host, out_of_reach
from nar_plugin.tracing.record.kernels import without_memory
from nar_plugin.tracing.record.nested import inside_changed

MOST_REAL_ELEMENTS = 1 << 26
_MOST_NAMED = 5


class Given(ExampleInputs):
    """A user's own inputs, of as many samples as they like."""


def given(example_inputs: Any) -> ExampleInputs:
    """A user's `example_inputs` in one form.

    Args:
        example_inputs: A tensor, a tuple or list of positional arguments, or a dict of keyword
            arguments.
    """
    if isinstance(example_inputs, ExampleInputs):
        return example_inputs
    if isinstance(example_inputs, Mapping):
        return Given(kwargs=dict(example_inputs))
    if isinstance(example_inputs, tuple | list):
        return Given(args=tuple(example_inputs))
    return Given(args=(example_inputs,))


def stated(model: nn.Module) -> ExampleInputs | None:
    """What the model says itself in `example_input_array`, as Lightning's modules do."""
    try:
        array = getattr(model, "example_input_array", None)
    except (Exception, SystemExit):  # a property of somebody else's
        return None
    if isinstance(array, torch.Tensor) or (isinstance(array, Mapping | tuple | list) and array):
        return given(array)
    return None


def guesses(model: nn.Module) -> Iterator[tuple[ExampleInputs, bool]]:
    """The inputs that the plugins propose for a model, best first, without repetition.

    Yields:
        The inputs, and whether a plugin of the model's own library knows them.
    """
    seen: set[str] = set()
    for plugin, proposals in manager.call_each(
        "nar_example_inputs", only_imported=True, model=model
    ):
        for proposal in proposals:
            text = describe(proposal)
            if text not in seen:
                seen.add(text)
                yield proposal, plugin != "torch"


def mended(model: nn.Module, inputs: ExampleInputs, message: str) -> Iterator[ExampleInputs]:
    """What the plugins make of inputs that a forward refused with a message."""
    for _, proposals in manager.call_each(
        "nar_mended_inputs", only_imported=True, model=model, inputs=inputs, message=message
    ):
        for proposal in proposals:
            yield replace(proposal, batch=inputs.batch)


def on_meta(inputs: ExampleInputs, data: list[torch.Tensor], constants: list[torch.Tensor]) -> Any:
    """Arguments for the trace: floats as meta tensors, small integers as private real ones.

    Args:
        inputs: The inputs as given or guessed; none of their tensors is written to.
        data: Receives the meta tensors.
        constants: Receives the real tensors.
    """

    def change(tensor: torch.Tensor) -> torch.Tensor:
        real = tensor.is_floating_point() or tensor.is_complex()
        unknown = tensor.is_meta or out_of_reach(tensor)
        if real or unknown or tensor.numel() > KNOWN_ELEMENTS:
            dtype = torch.float32 if tensor.is_floating_point() else tensor.dtype
            data.append(without_memory(torch.empty(tensor.shape, dtype=dtype, device="meta")))
            return data[-1]
        constants.append(on_host(tensor))
        return constants[-1]

    return changed(tuple(inputs.args), change), changed(dict(inputs.kwargs), change)


def on_cpu(inputs: ExampleInputs, data: list[torch.Tensor]) -> Any:
    """Real arguments: what is on meta becomes random floats from [0, 1) or zeros.

    Args:
        inputs: The inputs as given or guessed; none of their tensors is written to.
        data: Receives all tensors.

    Raises:
        TraceError: A tensor is too large to be made.
    """
    generator = torch.Generator().manual_seed(0)

    def change(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.numel() > MOST_REAL_ELEMENTS:
            raise TraceError(f"an input has over {MOST_REAL_ELEMENTS:,} elements")
        if not (tensor.is_meta or out_of_reach(tensor)):
            made = on_host(tensor)
            made = made.float() if made.is_floating_point() else made
        elif tensor.is_floating_point():
            made = torch.rand(tensor.shape, generator=generator)
        else:
            made = torch.zeros(tensor.shape, dtype=tensor.dtype)
        data.append(made)
        return made

    return changed(tuple(inputs.args), change), changed(dict(inputs.kwargs), change)


def changed(item: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """The item with every tensor changed, in dicts, lists and tuples too."""
    if isinstance(item, torch.Tensor):
        return inside_changed(item, change) if item.is_nested else change(item)
    if isinstance(item, dict):
        return {key: changed(value, change) for key, value in item.items()}
    if isinstance(item, tuple) and hasattr(item, "_fields"):  # such as a PackedSequence
        return type(item)(*(changed(value, change) for value in item))
    if type(item) is list or type(item) is tuple:
        return type(item)(changed(value, change) for value in item)
    if isinstance(item, SimpleNamespace):
        return SimpleNamespace(**changed(vars(item), change))
    if callable(getattr(item, "apply", None)) and callable(getattr(item, "clone", None)):
        return copy.copy(item).apply(change)  # torch_geometric's Data and Batch
    return item


def describe(inputs: ExampleInputs) -> str:
    """Such as `float32[1, 3, 224, 224]` or `input_ids=int64[1, 64]`."""
    words = [_word(item) for item in inputs.args]
    words += [f"{key}={_word(item)}" for key, item in inputs.kwargs.items()]
    return ", ".join(words) or "no arguments"


def caption(inputs: ExampleInputs) -> str:
    """As `describe`, of at most five inputs: a functional program is given its weights too."""
    kept, left = _first(inputs.args, _MOST_NAMED)
    named, left = _first(dict(inputs.kwargs), left)
    rest = _count((inputs.args, dict(inputs.kwargs))) - _count((kept, named))
    text = describe(replace(inputs, args=kept, kwargs=named))
    return f"{text} and {rest} more" if rest else text


def _first(item: Any, most: int) -> tuple[Any, int]:
    """The first entries of containers, and how many more there may be."""
    if isinstance(item, dict):
        pairs: dict[Any, Any] = {}
        for key, value in item.items():
            if most > 0:
                pairs[key], most = _first(value, most)
        return pairs, most
    if type(item) is list or type(item) is tuple:
        entries = []
        for value in item:
            if most > 0:
                entry, most = _first(value, most)
                entries.append(entry)
        return type(item)(entries), most
    return item, most - 1


def _count(item: Any) -> int:
    if isinstance(item, dict):
        return sum(map(_count, item.values()))
    return sum(map(_count, item)) if type(item) is list or type(item) is tuple else 1


def _word(item: Any) -> str:
    if isinstance(item, torch.Tensor) and item.is_nested:
        return f"nested[{', '.join(_word(entry) for entry in item.unbind()[:4])}]"
    if isinstance(item, torch.Tensor):
        return f"{str(item.dtype).removeprefix('torch.')}{list(item.shape)}"
    if isinstance(item, list | tuple):
        return f"[{', '.join(_word(entry) for entry in item[:4])}]"
    if isinstance(item, dict):
        return "{" + ", ".join(f"{key}: {_word(entry)}" for key, entry in item.items()) + "}"
    if isinstance(item, SimpleNamespace):
        return "." + _word(vars(item))
    try:
        if callable(getattr(item, "to_dict", None)):
            return type(item).__name__ + _word(item.to_dict())
        text = repr(item)
    except (Exception, SystemExit):  # somebody else's
        return type(item).__name__
    return text if len(text) < 40 else type(item).__name__
