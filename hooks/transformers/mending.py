"""Reads what a model of transformers said when it refused inputs, and mends them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

from torch import nn

from nar_plugin.hookspecs import ExampleInputs

_LACKING = re.compile(r"'\w*Output\w*' object has no attribute '\w+'")


def mended(model: nn.Module, inputs: ExampleInputs, message: str) -> Iterator[ExampleInputs]:
    """Inputs that answer a forward's complaint, likeliest first.

    Example:
        ```python
        mended(llama4, inputs, "'CausalLMOutputWithPast' object has no attribute 'image_outputs'")
        ```

    Args:
        model: Any model of transformers.
        inputs: What its forward was called with, by name.
        message: What it said.
    """
    if _LACKING.search(message):
        yield from _as_tuple(model, inputs)


def _as_tuple(model: nn.Module, inputs: ExampleInputs) -> Iterator[ExampleInputs]:
    """The same, and a tuple asked for: the outputs have computed all that they are to name.

    In 5.24.0 Llama 4 names a field that its language model does not return. By position: the
    decorator `capture_outputs` takes `return_dict` away from the named arguments.
    """
    parameters: Mapping[str, inspect.Parameter] = inspect.signature(model.forward).parameters
    asked = parameters.get("return_dict")
    if inputs.args or asked is None or asked.kind is not asked.POSITIONAL_OR_KEYWORD:
        return
    named: dict[str, Any] = {**inputs.kwargs, "return_dict": False}
    args: list[Any] = []
    for name, item in parameters.items():
        args.append(named.pop(name, None if item.default is item.empty else item.default))
        if name == "return_dict":
            yield ExampleInputs(tuple(args), named)
            return
