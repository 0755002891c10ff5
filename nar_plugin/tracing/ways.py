"""The ways to trace a model, one after another: guesses, a copy with weights, the module tree."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from nar_plugin.errors import NarError, TraceError
from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.tracing import inputs as example
from nar_plugin.tracing.attempts import Attempts
from nar_plugin.tracing.forwardless import forwardless, lone_part
from nar_plugin.tracing.graph import ArchitectureGraph
from nar_plugin.tracing.module_tree import from_modules
from nar_plugin.tracing.twin import dequantized
from nar_plugin.tracing.wrappers import unwrap


def trace(model: nn.Module, example_inputs: Any = None) -> ArchitectureGraph:
    """Follow one forward pass of a model, as in eval mode, and return its canonical graph.

    The model is only read: a twin on the meta device runs in its place. When the plugins' guesses
    are refused, the forward's own message mends them. When the forward needs values that meta
    tensors do not have, a copy of a small model with weights runs on the CPU. When no inputs can
    be found, the module tree stands in. The graph's `method` and `reason` say which way it was.

    Args:
        model: Any module; wrappers of `torch.compile`, DDP and PEFT are looked through.
        example_inputs: A tensor, a tuple of positional or a dict of keyword arguments, on any
            device. None takes the model's `example_input_array`, or lets the plugins guess.

    Returns:
        The graph, with parameters and FLOPs at batch 1 and the traced input.

    Raises:
        TraceError: The forward refused the given inputs, there is none that could take them, or
            the model has no layers at all. The text has the model's own message.
    """
    if not isinstance(model, nn.Module):
        raise NarError(f"trace wants a torch.nn.Module; got {type(model).__name__}: {model!r}")
    default = torch.get_default_device().type  # a user may trace under `torch.device("meta")`
    with nullcontext() if default == "cpu" else torch.device("cpu"):
        return _traced(unwrap(model), example_inputs)


def _traced(
    model: nn.Module, example_inputs: Any, stated: ExampleInputs | None = None
) -> ArchitectureGraph:
    if example_inputs is None:
        stated = stated or example.stated(model)
        model = dequantized(model)
    if why := forwardless(model):
        if part := lone_part(model):
            return _of_part(model, part, example_inputs, stated)
        return _without_forward(model, example_inputs, why)
    attempts = Attempts(model)
    if example_inputs is None:
        graph = attempts.with_guesses(stated)
    else:
        inputs = example.given(example_inputs)
        graph = attempts.with_inputs(inputs, "the forward accepted the given inputs")
    if graph is None:
        graph = attempts.on_reals()
    if graph is None and example_inputs is None:
        return _by_modules(model, attempts)
    if graph is None:
        raise TraceError(
            f"The forward of {type(model).__name__} refused the given inputs:\n{attempts}\n"
            "Pass inputs that it accepts: example_inputs=(tensor, ...) or {'name': tensor}, and "
            "(batch,) for a dict that is one argument."
        )
    return graph


def _of_part(
    model: nn.Module,
    part: tuple[str, nn.Module],
    example_inputs: Any,
    stated: ExampleInputs | None,
) -> ArchitectureGraph:
    """The graph of the part that has all the parameters of a module without a forward."""
    name, inside = part
    graph = _traced(unwrap(inside), example_inputs, stated)
    why = f"{type(model).__name__} has no forward of its own, and {name} has all its parameters"
    return replace(graph, reason=f"{why}; {graph.reason}")


def _without_forward(model: nn.Module, example_inputs: Any, why: str) -> ArchitectureGraph:
    """No inputs can help; the layers are there to be read all the same."""
    graph = from_modules(model, why) if example_inputs is None else None
    if graph is None or len(graph) == 0:
        raise TraceError(f"{why}." if example_inputs is not None else f"{why}, and no layers.")
    return graph


def _by_modules(model: nn.Module, attempts: Attempts) -> ArchitectureGraph:
    """What is left when no inputs could be found."""
    why = f"no inputs could be found:\n{attempts}" if str(attempts) else "no inputs were guessed"
    graph = from_modules(model, why)
    if len(graph) == 0:
        raise TraceError(
            f"{type(model).__name__} has no layers to look at, and {why}\n"
            "Pass inputs that its forward accepts: example_inputs=(tensor, ...) or {'name': "
            "tensor}."
        )
    return graph
