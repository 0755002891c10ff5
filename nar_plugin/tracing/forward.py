"""One forward pass, followed on the meta device, as a canonical graph."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils.flop_counter import flop_registry

from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.tracing import inputs as example
from nar_plugin.tracing import sequences
from nar_plugin.tracing.canonical import Node, nodes_of
from nar_plugin.tracing.escapes import Escapes, may_help
from nar_plugin.tracing.fusion import Rewriter
from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.tracing.real_recorder import RealRecorder
from nar_plugin.tracing.recorder import Record, Recorder
from nar_plugin.tracing.triton_kernels import launches_recorded
from nar_plugin.tracing.twin import Twin, real_copy


def follow_on_meta(model: nn.Module, inputs: ExampleInputs, reason: str) -> ArchitectureGraph:
    """Run a meta twin of a model once and return the graph of what it computed.

    Args:
        model: Any module; it is only read.
        inputs: What its forward is called with.
        reason: Why this way was taken, in words; kept on the graph.

    Raises:
        Exception: Whatever the forward raises.
    """

    def follow(escapes: bool) -> ArchitectureGraph:
        data: list[torch.Tensor] = []
        constants: list[torch.Tensor] = []
        args, kwargs = example.on_meta(inputs, data, constants)
        recorder = Recorder(data, strict=not escapes)
        for tensor in constants:
            recorder.know(tensor)
        twin = Twin(model, recorder.scope)
        return _run(twin, recorder, args, kwargs, Escapes(recorder) if escapes else None)

    try:
        graph = follow(escapes=False)
    except Exception as error:
        if not may_help(error):
            raise
        graph = follow(escapes=True)
    return replace(graph, method="meta", reason=reason, inputs=example.describe(inputs))


def follow_on_reals(model: nn.Module, inputs: ExampleInputs, reason: str) -> ArchitectureGraph:
    """As `follow_on_meta`, with a copy of the weights and random inputs, on the CPU."""
    data: list[torch.Tensor] = []
    args, kwargs = example.on_cpu(inputs, data)
    recorder = RealRecorder(data)
    with torch.random.fork_rng(devices=[]):
        twin = Twin(model, recorder.scope, copy_tensor=real_copy)
        graph = _run(twin, recorder, args, kwargs, None)
    return replace(graph, method="real", reason=reason, inputs=example.describe(inputs))


def _run(
    twin: Twin,
    recorder: Recorder,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    escapes: Escapes | None,
) -> ArchitectureGraph:
    try:
        sequences.fold(twin.model, recorder)
        recorder.learn(twin.parameters)
        recorder.hold(twin.tensors)
        with ExitStack() as around:
            around.enter_context(_same_random_state())
            around.enter_context(torch.no_grad())
            around.enter_context(launches_recorded(recorder))
            if escapes is not None:
                around.enter_context(escapes)
                around.enter_context(torch.compiler.set_stance("force_eager"))
            around.enter_context(recorder)
            out = twin.model(*args, **kwargs)
        return _graph(recorder, twin, out)
    finally:
        twin.dissolve()


def _graph(recorder: Recorder, twin: Twin, out: Any) -> ArchitectureGraph:
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
