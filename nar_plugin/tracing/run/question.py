"""All that is asked of a model, answered by a forked process within `NAR_TRACE_SECONDS`.

A model that is named is built in a child, which lives as long as the whole question may take. The
forward is followed in a child of its own, which gets two thirds of the time that is left, and may
try inputs for one; the module tree gets the rest. What comes back is plain data.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import jit, nn

from nar_plugin import isolation, manager
from nar_plugin.errors import NarError, TraceError
from nar_plugin.hookspecs import Provenance
from nar_plugin.isolation import ChildEnded, OutOfTime
from nar_plugin.references import as_model
from nar_plugin.references.imports import import_before
from nar_plugin.tracing.graph import ArchitectureGraph
from nar_plugin.tracing.record.host_copies import WeightsWanted, held, host_copies
from nar_plugin.tracing.run.methods import by_modules, followed
from nar_plugin.tracing.twin.wrappers import unwrap

VARIABLE = "NAR_TRACE_SECONDS"
DEFAULT = 15.0
_OF_FORWARD = 2 / 3  # the share of the forward; the module tree has the rest
_OF_SEARCH = 1 / 3  # the share in which other inputs are tried, where none are given
_TO_REPORT = 0.05  # the share in which a child that built a model says that it was too slow


@dataclass(frozen=True)
class Traced:
    """A model, as far as an answer needs to know it.

    Attributes:
        graph: What its forward computes.
        class_name: Of the model inside all wrappers.
        provenance: Where it came from, as far as it says so itself.
    """

    graph: ArchitectureGraph
    class_name: str
    provenance: Provenance | None


def trace(model: nn.Module, example_inputs: Any = None) -> ArchitectureGraph:
    """Follow one forward pass of a model, as in eval mode, and return its canonical graph.

    The model is only read: a twin on the meta device runs in its place, in a process that is
    forked for it and killed when its time is up. When the plugins' guesses are refused, the
    forward's own message mends them. When the forward needs values that meta tensors do not have,
    a copy of a small model with weights runs on the CPU. When no inputs can be found, the module
    tree stands in. The graph's `method` and `reason` say which way it was.

    Args:
        model: Any module; wrappers of `torch.compile`, DDP and PEFT are looked through.
        example_inputs: A tensor, a tuple of positional or a dict of keyword arguments, on any
            device. None takes the model's `example_input_array`, or lets the plugins guess.

    Returns:
        The graph, with parameters and FLOPs at batch 1 and the traced input.

    Raises:
        TraceError: The forward refused the given inputs, there is none that could take them, the
            model has no layers at all, or the time was up. The text has the model's own message.
        NarError: `NAR_TRACE_SECONDS` is not a positive number.
    """
    if not issubclass(type(model), nn.Module):
        raise NarError(f"trace wants a torch.nn.Module; got {type(model).__name__}")
    return traced(model, example_inputs).graph


def traced(candidate: Any, example_inputs: Any = None, *, caller: str = "trace") -> Traced:
    """Build the model that is meant, follow its forward, and read where it came from.

    Args:
        candidate: A model, a program, a reference, a path or a config, as in `references.as_model`.
        example_inputs: As in `tracing.trace`.
        caller: The public function that was called, for an error's text.

    Raises:
        NarError: The model cannot be built, or `NAR_TRACE_SECONDS` is not a positive number.
        TraceError: Its forward cannot be followed, or the time was up.
    """
    seconds = seconds_of_a_question()
    import_before(candidate)
    manager.load_imported()  # once, and not in every child
    end = time.monotonic() + seconds  # imports are not counted: they are paid once a process
    kind = type(candidate)
    if issubclass(kind, nn.Module) and not issubclass(kind, jit.ScriptModule):
        return _of_model(candidate, example_inputs, end)

    def ask() -> Traced:
        isolation.tell("building the model")
        model = as_model(candidate, caller=caller)
        isolation.tell("reading the model")
        return _of_model(model, example_inputs, end - _TO_REPORT * seconds)

    try:
        return isolation.isolated(ask, end - time.monotonic(), parts=True)
    except (OutOfTime, ChildEnded) as error:
        raise _too_slow(error) from None


def seconds_of_a_question() -> float:
    """What `NAR_TRACE_SECONDS` says, else the default.

    Raises:
        NarError: It is not a positive number.
    """
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return DEFAULT
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise NarError(
            f"{VARIABLE} is how many seconds a question may take, such as {DEFAULT:.0f}; got "
            f"{text!r}"
        )
    return seconds


def _of_model(model: nn.Module, example_inputs: Any, end: float) -> Traced:
    """What a model is, by its forward or, where that does not end, by its module tree."""
    child = _Child(model, example_inputs, end)
    search = _OF_SEARCH * child.seconds_left()
    try:
        return child.ask(
            lambda: followed(model, example_inputs, search),
            1.0 if example_inputs is not None else _OF_FORWARD,
        )
    except (OutOfTime, ChildEnded) as error:
        if example_inputs is not None:
            raise _too_slow(error) from None
        why = f"{error}. {_remedy(error)}"
    try:
        return child.ask(lambda: by_modules(model, why), 1.0)
    except (OutOfTime, ChildEnded) as error:
        raise _too_slow(error) from None


@dataclass(frozen=True)
class _Child:
    """Asks children about one model.

    Attributes:
        model: The model.
        example_inputs: What its forward is to be called with.
        end: When the time is up.
    """

    model: nn.Module
    example_inputs: Any
    end: float

    def seconds_left(self) -> float:
        """Until the time is up; for ever where nothing can be ended."""
        return math.inf if isolation.stays() else self.end - time.monotonic()

    def ask(self, follow: Callable[[], ArchitectureGraph], share: float) -> Traced:
        """What a child answers that has this share of the time that is left."""
        if isolation.stays():
            return isolation.isolated(lambda: self._described(follow()), math.inf)
        until = time.monotonic() + share * (self.end - time.monotonic())
        try:
            return self._ask(follow, until, weights=False)
        except WeightsWanted:
            return self._ask(follow, until, weights=True)

    def _ask(
        self, follow: Callable[[], ArchitectureGraph], until: float, *, weights: bool
    ) -> Traced:
        copies = host_copies(self.model, self.example_inputs, weights=weights)

        def ask() -> Traced:
            with held(copies):
                return self._described(follow())

        return isolation.isolated(ask, until - time.monotonic())

    def _described(self, graph: ArchitectureGraph) -> Traced:
        isolation.tell("reading where the model came from")
        return Traced(graph, type(unwrap(self.model)).__name__, _provenance(self.model))


def _provenance(model: nn.Module) -> Provenance | None:
    answers = manager.call_each("nar_provenance", only_imported=True, model=unwrap(model))
    return next((provenance for _, provenance in answers), None)


def _too_slow(error: OutOfTime | ChildEnded) -> TraceError:
    text = f"{error}. {_remedy(error)}"
    return TraceError(text[0].upper() + text[1:])


def _remedy(error: OutOfTime | ChildEnded) -> str:
    if isinstance(error, OutOfTime):
        return f"{VARIABLE}={seconds_of_a_question() * 10:g} gives a question ten times as long"
    return "It crashed, was killed, or called os._exit"
