"""Which inputs a forward is traced with: the user's, or the plugins' guesses in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn

from nar_plugin import manager
from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.tracing.recorder import KNOWN_ELEMENTS


def given(example_inputs: Any) -> ExampleInputs:
    """A user's `example_inputs` in one form.

    Args:
        example_inputs: A tensor, a tuple or list of positional arguments, or a dict of keyword
            arguments.
    """
    if isinstance(example_inputs, ExampleInputs):
        return example_inputs
    if isinstance(example_inputs, Mapping):
        return ExampleInputs(kwargs=dict(example_inputs))
    if isinstance(example_inputs, tuple | list):
        return ExampleInputs(args=tuple(example_inputs))
    return ExampleInputs(args=(example_inputs,))


def guesses(model: nn.Module) -> Iterator[ExampleInputs]:
    """The inputs that the plugins propose for a model, best first, without repetition."""
    seen: set[str] = set()
    for _, proposals in manager.call_each("nar_example_inputs", only_imported=True, model=model):
        for proposal in proposals:
            text = describe(proposal)
            if text not in seen:
                seen.add(text)
                yield proposal


def on_meta(inputs: ExampleInputs, data: list[torch.Tensor], constants: list[torch.Tensor]) -> Any:
    """Arguments for the trace: floats as meta tensors, small integers as private real ones.

    Args:
        inputs: The inputs as given or guessed; none of their tensors is written to.
        data: Receives the meta tensors.
        constants: Receives the real tensors.
    """

    def change(item: Any) -> Any:
        if isinstance(item, torch.Tensor):
            if item.is_floating_point() or item.is_complex():
                dtype = torch.float32 if item.is_floating_point() else item.dtype
                data.append(torch.empty(item.shape, dtype=dtype, device="meta"))
                return data[-1]
            if item.is_meta or item.numel() > KNOWN_ELEMENTS:
                data.append(torch.empty(item.shape, dtype=item.dtype, device="meta"))
                return data[-1]
            constants.append(item.detach().to("cpu", copy=True))
            return constants[-1]
        if isinstance(item, dict):
            return {key: change(value) for key, value in item.items()}
        if type(item) is list or type(item) is tuple:
            return type(item)(change(value) for value in item)
        return item

    return change(tuple(inputs.args)), change(dict(inputs.kwargs))


def describe(inputs: ExampleInputs) -> str:
    """Such as `float32[1, 3, 224, 224]` or `input_ids=int64[1, 64]`."""
    words = [_word(item) for item in inputs.args]
    words += [f"{key}={_word(item)}" for key, item in inputs.kwargs.items()]
    return ", ".join(words) or "no arguments"


def _word(item: Any) -> str:
    if isinstance(item, torch.Tensor):
        return f"{str(item.dtype).removeprefix('torch.')}{list(item.shape)}"
    if isinstance(item, list | tuple):
        return f"[{', '.join(_word(entry) for entry in item[:4])}]"
    if isinstance(item, dict):
        return "{" + ", ".join(f"{key}: {_word(entry)}" for key, entry in item.items()) + "}"
    text = repr(item)
    return text if len(text) < 40 else type(item).__name__
