"""One way after another to a model's graph: meta tensors, real ones, the module tree."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from nar_plugin.errors import NarError, TraceError
from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.references.construction import random_numbers_kept
from nar_plugin.tracing.graph import ArchitectureGraph
from nar_plugin.tracing.record.escapes import told
from nar_plugin.tracing.record.host_copies import WeightsWanted
from nar_plugin.tracing.run import inputs as example
from nar_plugin.tracing.run.attempts import Attempts
from nar_plugin.tracing.run.budget import Budget
from nar_plugin.tracing.run.forward import default_dtype_kept
from nar_plugin.tracing.run.forwardless import forwardless, lone_part
from nar_plugin.tracing.run.lazy import with_sizes
from nar_plugin.tracing.run.module_tree import from_modules
from nar_plugin.tracing.run.remembered import Search, recalled, remember
from nar_plugin.tracing.twin.leftovers import fresh
from nar_plugin.tracing.twin.twin import dequantized
from nar_plugin.tracing.twin.wrappers import unwrap

_OWN_FAULT = (
    "nar-plugin could not follow the forward, which is no fault of its inputs; please report this "
    "as a bug of nar-plugin"
)


def followed(model: nn.Module, example_inputs: Any, seconds: float = math.inf) -> ArchitectureGraph:
    """The graph of the forward, by the first way that leads to one.

    Args:
        model: Any module; it is only read.
        example_inputs: As in `tracing.trace`.
        seconds: How long inputs may be searched for, where none are given.

    Raises:
        TraceError: None does.
    """
    if "_modules" not in vars(model):
        raise TraceError(
            f"{type(model).__name__} is not initialised: its __init__ must call super().__init__()."
        )
    # Guesses run other people's code too: `init_hidden`, an example of a catalogue.
    with _on_cpu(), random_numbers_kept(), default_dtype_kept(), _told_as_its_own(model):
        return _followed(fresh(unwrap(model)), example_inputs, seconds)


def by_modules(model: nn.Module, why: str) -> ArchitectureGraph:
    """The graph of the module tree alone.

    Args:
        model: Any module; it is only read.
        why: Why there is no other.

    Raises:
        TraceError: The model has no layers.
    """
    with _on_cpu(), random_numbers_kept(), default_dtype_kept(), _told_as_its_own(model):
        model = unwrap(model)
        if getattr(model, "has_layers", True) is False:  # the program of a file
            raise TraceError(f"The calls of this program cannot be followed: {why}")
        graph = from_modules(model, why)
    if len(graph) == 0:
        raise TraceError(
            f"{type(model).__name__} has no layers to look at, and {why}\n"
            "Pass inputs that its forward accepts: example_inputs=(tensor, ...) or {'name': "
            "tensor}."
        )
    return graph


@contextmanager
def _told_as_its_own(model: nn.Module) -> Iterator[None]:
    """What the model's own code raises, wherever it is asked, is told as an error of the model."""
    try:
        yield
    except (NarError, WeightsWanted):
        raise
    except (Exception, SystemExit) as error:
        raise TraceError(
            f"{type(model).__name__} could not be read: {told(error)}. If its own code does not "
            "raise this, please report it as a bug of nar-plugin."
        ) from error


def _on_cpu() -> Any:
    """A user may trace under `torch.device("meta")`."""
    default = torch.get_default_device().type
    return nullcontext() if default == "cpu" else torch.device("cpu")


def _followed(
    model: nn.Module, example_inputs: Any, seconds: float, stated: ExampleInputs | None = None
) -> ArchitectureGraph:
    if example_inputs is None:
        stated = stated or example.stated(model)
        model = with_sizes(dequantized(model), stated)
    else:
        model = with_sizes(model, example.given(example_inputs))
    if why := forwardless(model):
        if part := lone_part(model):
            return _of_part(model, part, example_inputs, seconds, stated)
        return _without_forward(model, example_inputs, why)
    if example_inputs is None:
        return _searched(model, seconds, stated)
    attempts = Attempts(model)
    inputs = example.given(example_inputs)
    graph = attempts.with_inputs(inputs, "the forward accepted the given inputs")
    if graph is None:  # one without operations is a graph too
        graph = attempts.on_reals()
    if graph is None and (attempts.unfollowed or attempts.runs_alone(inputs)):
        return by_modules(model, f"{_OWN_FAULT}:\n{attempts}")
    if graph is None:
        raise TraceError(
            f"The forward of {type(model).__name__} refused the given inputs:\n{attempts}\n"
            "Pass inputs that it accepts: example_inputs=(tensor, ...) or {'name': tensor}, and "
            "(batch,) for a dict that is one argument."
        )
    return graph


def _searched(model: nn.Module, seconds: float, stated: ExampleInputs | None) -> ArchitectureGraph:
    """The graph with inputs that are looked for, or else that of the module tree."""
    attempts = Attempts(model, Budget(time.monotonic() + seconds))
    known = recalled(model, seconds)
    if known is not None and known.inputs is None:
        return by_modules(model, known.words)
    graph = None
    if known is not None and known.inputs is not None:
        graph = attempts.with_inputs(known.inputs, known.words)
    if graph is None:  # one without operations is a graph too
        graph = attempts.with_guesses(stated)
    if graph is None:
        graph = attempts.on_reals()
    if graph is not None:
        if attempts.count > 1 and attempts.accepted is not None:
            remember(model, Search(attempts.accepted, attempts.reason, seconds))
        return graph
    what = _OWN_FAULT if attempts.unfollowed else "no inputs could be found"
    why = f"{what}:\n{attempts}" if str(attempts) else "no inputs were guessed"
    remember(model, Search(None, why, seconds))
    return by_modules(model, why)


def _of_part(
    model: nn.Module,
    part: tuple[str, nn.Module],
    example_inputs: Any,
    seconds: float,
    stated: ExampleInputs | None,
) -> ArchitectureGraph:
    """The graph of the part that has all the parameters of a module without a forward."""
    name, inside = part
    graph = _followed(unwrap(inside), example_inputs, seconds, stated)
    why = f"{type(model).__name__} has no forward of its own, and {name} has all its parameters"
    return replace(graph, reason=f"{why}; {graph.reason}")


def _without_forward(model: nn.Module, example_inputs: Any, why: str) -> ArchitectureGraph:
    """No inputs can help; the layers are there to be read all the same."""
    graph = from_modules(model, why) if example_inputs is None else None
    if graph is None or len(graph) == 0:
        raise TraceError(f"{why}." if example_inputs is not None else f"{why}, and no layers.")
    return graph
