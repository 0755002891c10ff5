"""nn.Module -> ArchitectureGraph: the forward pass followed on the meta device."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils.flop_counter import flop_registry

from nar_plugin.errors import NarError, TraceError
from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.tracing import inputs as example
from nar_plugin.tracing import sequences
from nar_plugin.tracing.canonical import Node, nodes_of
from nar_plugin.tracing.fusion import Rewriter
from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.tracing.recorder import Record, Recorder
from nar_plugin.tracing.twin import Twin
from nar_plugin.tracing.unwrap import unwrap

__all__ = ["ArchitectureGraph", "Op", "trace", "unwrap"]


def trace(model: nn.Module, example_inputs: Any = None) -> ArchitectureGraph:
    """Follow one forward pass of a model, as in eval mode, and return its canonical graph.

    The model is only read: a twin on the meta device runs in its place.

    Args:
        model: Any module; wrappers of `torch.compile`, DDP and PEFT are looked through.
        example_inputs: A tensor, a tuple of positional or a dict of keyword arguments, on any
            device. None lets the plugins guess.

    Returns:
        The graph, with parameters and FLOPs at batch 1 and the traced input.

    Raises:
        TraceError: No inputs could be guessed, or the forward refused all of them. The text has
            the model's own message.
    """
    if not isinstance(model, nn.Module):
        raise NarError(f"trace wants a torch.nn.Module; got {type(model).__name__}: {model!r}")
    model = unwrap(model)
    given = example_inputs is not None
    failures: list[str] = []  # as text: an exception would keep the model in its frames alive
    for inputs in [example.given(example_inputs)] if given else example.guesses(model):
        try:
            return _trace_once(model, inputs)
        except TraceError:
            raise
        except Exception as error:
            message = f"{type(error).__name__}: {str(error).strip()[:500]}"
            failures.append(f"  {example.describe(inputs)}: {message}")
    raise _refused(model, failures, given)


def _trace_once(model: nn.Module, inputs: ExampleInputs) -> ArchitectureGraph:
    data: list[torch.Tensor] = []
    constants: list[torch.Tensor] = []
    args, kwargs = example.on_meta(inputs, data, constants)
    recorder = Recorder(data)
    twin = Twin(model, recorder.scope)
    try:
        sequences.fold(twin.model, recorder)
        recorder.learn(twin.parameters)
        for tensor in constants:
            recorder.know(tensor)
        with _same_random_state(), torch.no_grad(), recorder:
            out = twin.model(*args, **kwargs)
        return _graph(recorder, twin, out, example.describe(inputs))
    finally:
        twin.dissolve()


def _graph(recorder: Recorder, twin: Twin, out: Any, inputs: str) -> ArchitectureGraph:
    nodes, stands_for = nodes_of(recorder.records, recorder.head_counts)
    rewriter = Rewriter(nodes)
    rewriter.run()
    results = {
        stands_for[source] for tensor in _tensors(out) if (source := recorder.source(tensor)) >= 0
    }
    kept = _kept(nodes, rewriter.dropped, results)
    position = {index: place for place, index in enumerate(kept)}
    interned: dict[Op, Op] = {}
    ops = tuple(interned.setdefault(op, op) for op in (nodes[index].op() for index in kept))
    edges = [
        (position[source], position[index])
        for index in kept
        for source in dict.fromkeys(nodes[index].inputs)
    ]
    paths = tuple(nodes[index].path for index in kept)
    return ArchitectureGraph(
        ops=ops,
        edges=np.array(edges, dtype=np.int32).reshape(-1, 2),
        paths=paths,
        classes={path: twin.classes.get(path, "") for path in _with_parents(paths)},
        flops=_flops(recorder.records),
        params=sum(parameter.numel() for parameter in twin.parameters),
        method="meta",
        reason="the forward ran on meta tensors",
        inputs=inputs,
    )


def _kept(nodes: list[Node], dropped: set[int], results: set[int]) -> list[int]:
    """Nodes that some result depends on; all that are left when no result could be found."""
    results = {index for index in results if index >= 0 and index not in dropped}
    if not results:
        return [index for index in range(len(nodes)) if index not in dropped]
    needed = set(results)
    for index in range(len(nodes) - 1, -1, -1):
        if index in needed:
            needed.update(nodes[index].inputs)
    return sorted(needed - dropped)


def _with_parents(paths: Iterable[str]) -> set[str]:
    found = {""}
    for path in set(paths):
        while path and path not in found:
            found.add(path)
            path = path.rpartition(".")[0]
    return found


def _tensors(value: Any, depth: int = 6) -> Iterator[torch.Tensor]:
    """All tensors in a forward's result: containers, dataclasses and plain objects."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth == 0 or value is None or isinstance(value, str | int | float | bool):
        return
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item, depth - 1)
    elif isinstance(value, list | tuple | set):
        for item in value:
            yield from _tensors(item, depth - 1)
    elif is_dataclass(value):
        for entry in fields(value):
            yield from _tensors(getattr(value, entry.name, None), depth - 1)
    elif hasattr(value, "__dict__") and not isinstance(value, nn.Module | type):
        for item in vars(value).values():
            yield from _tensors(item, depth - 1)


def _flops(records: list[Record]) -> int:
    """Counted by torch's own formulas (`torch.utils.flop_counter`)."""
    total = 0
    for record in records:
        if isinstance(record.func, Op):
            total += int(record.kwargs.get("flops", 0))
            continue
        formula = flop_registry.get(record.func._overloadpacket)
        if formula is not None:
            total += int(formula(*record.args, **record.kwargs, out_val=record.out))
    return total


@contextmanager
def _same_random_state() -> Iterator[None]:
    """Leave Python's and numpy's generators as they were; torch's are never drawn from."""
    state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(state)
        np.random.set_state(numpy_state)  # noqa: NPY002


def _refused(model: nn.Module, failures: list[str], given: bool) -> TraceError:
    name = type(model).__name__
    way = "Pass inputs that its forward accepts: example_inputs=(tensor, ...) or {'name': tensor}."
    if not failures:
        return TraceError(f"No inputs could be guessed for {name}. {way}")
    which = "the given inputs" if given else "every guessed input"
    tried = "\n".join(failures[:4])
    return TraceError(f"The forward of {name} refused {which}:\n{tried}\n{way}")
