"""One forward pass, followed on the meta device or, second best, on real tensors."""

from __future__ import annotations

import gc
import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.references.construction import random_numbers_kept
from nar_plugin.tracing.canon.assembly import Recording, graph_of
from nar_plugin.tracing.foreign.triton_kernels import launches_recorded
from nar_plugin.tracing.graph import ArchitectureGraph
from nar_plugin.tracing.record.escapes import Escapes, may_help, told, wants_gradients
from nar_plugin.tracing.record.higher_order import Unfollowed, uncompiled
from nar_plugin.tracing.record.nested import nested_tensors_followed
from nar_plugin.tracing.record.real_recorder import MOST_RECORDS, RealRecorder
from nar_plugin.tracing.record.recorder import Recorder
from nar_plugin.tracing.record.samples import Samples, samples_of
from nar_plugin.tracing.run import inputs as example
from nar_plugin.tracing.run.eager import Eagerly
from nar_plugin.tracing.run.reference_kernels import without_dynamo
from nar_plugin.tracing.twin import sequences
from nar_plugin.tracing.twin.tensors import real_copy
from nar_plugin.tracing.twin.twin import Twin

# Attributes of an error that a forward raised.
CALLS_MADE = "nar_calls_made"
PROGRESS = "nar_progress"  # of these, not counting how often a loop went round
BY_SHAPE = "nar_by_shape"  # whether a call refused the shapes, which no made-up value had part in
ABOUT = "nar_about"  # the arguments, by position or name, on which the call that raised depends

_MOST_OF_A_GUESS = 10_000  # calls for real


def follow_on_meta(
    model: nn.Module, inputs: ExampleInputs, reason: str, **limits: Any
) -> ArchitectureGraph:
    """Run a meta twin of a model once and return the graph of what it computed.

    Args:
        model: Any module; it is only read.
        inputs: What its forward is called with.
        reason: Why this way was taken, in words; kept on the graph.
        **limits: `most_calls` and `impatient`, as of the recorder.

    Raises:
        Exception: Whatever the forward raises.
    """
    escapes = gradients = inference = False
    while True:
        try:
            recorded = recorded_on_meta(
                model, inputs, escapes=escapes, gradients=gradients, **limits
            )
            with torch.inference_mode(inference), recorded as recording:
                graph = _canonical(recording)
            break
        except Exception as error:
            if not gradients and wants_gradients(error):
                gradients = True
            elif not escapes and may_help(error):
                escapes = True
                # A forward under inference_mode cannot look at tensors made outside it.
                inference = "inference tensor" in told(error)
            else:
                raise
    if recording.recorder.made_up:
        reason += f"; values of tensors that it read and were made up: {recording.recorder.made_up}"
        reason += " (where one decides, one way was followed)"
    return replace(_of_one(graph, inputs), method="meta", reason=reason)


def follow_on_reals(
    model: nn.Module, inputs: ExampleInputs, reason: str, *, gradients: bool = False
) -> ArchitectureGraph:
    """As `follow_on_meta`, with a copy of the weights and random inputs, on the CPU."""
    data: list[torch.Tensor] = []
    args, kwargs = example.on_cpu(inputs, data)
    searched = not isinstance(inputs, example.Given)
    most = _MOST_OF_A_GUESS if searched else MOST_RECORDS
    recorder = RealRecorder(data, _samples(inputs), most)
    twin = Twin(model, recorder.scope, copy_tensor=real_copy)
    try:
        with _recorded(twin, recorder, args, kwargs, gradients=gradients) as recording:
            graph = _canonical(recording)
    except Exception as error:
        if gradients or not wants_gradients(error):
            raise
        return follow_on_reals(model, inputs, reason, gradients=True)
    return replace(_of_one(graph, inputs), method="real", reason=reason)


def _canonical(recording: Recording) -> ArchitectureGraph:
    """The graph of a forward that ran: what is raised here is no fault of its inputs."""
    try:
        return graph_of(recording)
    except Exception as error:
        raise Unfollowed(f"a rule of nar-plugin failed: {type(error).__name__}: {error}") from error


def accepts(model: nn.Module, inputs: ExampleInputs) -> bool:
    """Whether a copy of a model with its weights runs on inputs, which nobody follows."""
    try:
        args, kwargs = example.on_cpu(inputs, [])
        copied = Twin(model, lambda path, forward: forward, copy_tensor=real_copy)
        with random_numbers_kept(), warnings.catch_warnings(action="ignore"):
            copied.model(*args, **kwargs)
        copied.dissolve()
    except (Exception, SystemExit):
        return False
    return True


def _of_one(graph: ArchitectureGraph, inputs: ExampleInputs) -> ArchitectureGraph:
    """The graph with its inputs, and with the FLOPs of one sample."""
    work, modules = (
        {name: flops // inputs.batch for name, flops in counts.items()}
        for counts in (graph.work, graph.work_of_modules)
    )
    text = example.caption(inputs)
    return replace(graph, flops=sum(work.values()), work=work, work_of_modules=modules, inputs=text)


def _samples(inputs: ExampleInputs) -> Samples | None:
    """Those of a user's inputs: guesses hold one sample wherever a model takes one."""
    return samples_of(inputs) if isinstance(inputs, example.Given) else None


@contextmanager
def recorded_on_meta(
    model: nn.Module,
    inputs: ExampleInputs,
    *,
    escapes: bool = False,
    gradients: bool = False,
    **limits: Any,
) -> Iterator[Recording]:
    """Run a meta twin of a model once; its records are valid inside the block.

    Args:
        model: Any module; it is only read.
        inputs: What its forward is called with.
        escapes: Whether to answer calls that leave the dispatcher as well.
        gradients: Whether the forward can ask for gradients, of its inputs and of its weights.
        **limits: `most_calls` and `impatient`, as of the recorder.
    """
    data: list[torch.Tensor] = []
    constants: list[torch.Tensor] = []
    args, kwargs = example.on_meta(inputs, data, constants)
    recorder = Recorder(data, strict=not escapes, samples=_samples(inputs), **limits)
    for tensor in constants:
        recorder.constants.take(tensor)
    with _collector_paused():
        twin = Twin(model, recorder.scope)
        asked = Escapes(recorder) if escapes else None
        recorded = _recorded(twin, recorder, args, kwargs, asked, gradients=gradients)
        with recorded as recording:
            yield recording


@contextmanager
def _recorded(
    twin: Twin,
    recorder: Recorder,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    escapes: Escapes | None = None,
    *,
    gradients: bool = False,
) -> Iterator[Recording]:
    try:
        if gradients:
            twin.require_gradients()
        else:
            sequences.fold(twin, recorder)
        recorder.sources.learn(twin.parameters)
        recorder.constants.hold(twin.tensors)
        with ExitStack() as around:
            around.enter_context(default_dtype_kept())
            # The user did not call this forward, and a guess may be refused a dozen times.
            around.enter_context(warnings.catch_warnings(action="ignore"))
            # A forward may toss a coin, as teacher forcing does: it falls alike in every trace.
            around.enter_context(random_numbers_kept())
            around.enter_context(torch.set_grad_enabled(gradients))
            around.enter_context(Eagerly())
            around.enter_context(without_dynamo())
            around.enter_context(launches_recorded(recorder))
            around.enter_context(uncompiled())
            around.enter_context(nested_tensors_followed(recorder))
            # Positions from stand-ins may lie outside: an error is better than a crash.
            around.enter_context(_checked_sparse_tensors())
            if escapes is not None:
                around.enter_context(escapes)
            around.enter_context(recorder)
            out = _called(twin.model, args, kwargs, recorder)
        yield Recording(recorder, twin, out)
    finally:
        twin.dissolve()


def _called(
    model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], recorder: Recorder
) -> Any:
    """The forward's result; its error learns how far the forward came, and what it is about."""
    try:
        return model(*args, **kwargs)
    except Exception as error:
        vars(error)[CALLS_MADE] = recorder.calls
        vars(error)[PROGRESS] = recorder.progress()
        vars(error)[BY_SHAPE] = recorder.refused_by_shape()
        vars(error)[ABOUT] = recorder.refused_inputs(_places(args, kwargs))
        raise


def _places(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[int, int | str]:
    """The position or the name of the argument that holds a tensor, by the tensor's id."""
    places: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
    found: dict[int, int | str] = {}
    for place, value in places:
        found |= {id(tensor): place for tensor in _tensors(value)}
    return found


def _tensors(value: Any) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []

    def note(tensor: torch.Tensor) -> torch.Tensor:
        found.append(tensor)
        return tensor

    example.changed(value, note)
    return found


def _checked_sparse_tensors() -> AbstractContextManager[None]:
    checks: Any = torch.sparse.check_sparse_tensor_invariants
    context: AbstractContextManager[None] = checks()
    return context


_paused: set[int] = set()  # the threads whose traces have paused a collector that was on


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Spare a trace the search for cycles: all that it makes lives until its graph is there."""
    if not gc.isenabled():
        yield
        return
    _paused.add(threading.get_ident())
    gc.disable()
    try:
        yield
    finally:
        _paused.discard(threading.get_ident())
        gc.enable()


def _resume_collector() -> None:
    """A process that another thread forks has no trace in it that would do so at its end."""
    if _paused - {threading.get_ident()}:
        gc.enable()
    _paused.intersection_update({threading.get_ident()})


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_resume_collector)


@contextmanager
def default_dtype_kept() -> Iterator[None]:
    """Leave the default dtype outside the block as it was."""
    dtype = torch.get_default_dtype()
    try:
        yield
    finally:
        torch.set_default_dtype(dtype)
