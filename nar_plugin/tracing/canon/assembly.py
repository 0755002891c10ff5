"""From a recorded forward to an ArchitectureGraph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

import torch
from torch import nn

from nar_plugin.tracing.canon.canonical import nodes_of
from nar_plugin.tracing.canon.flops import flops_of
from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.given_weights import find_given_weights
from nar_plugin.tracing.canon.inputs import fuse_on_inputs
from nar_plugin.tracing.canon.node import Node, parts_of
from nar_plugin.tracing.canon.rules import FINISHING, FUSIONS, LAST
from nar_plugin.tracing.canon.rules.extrema import note_returned
from nar_plugin.tracing.canon.weights import unmoved
from nar_plugin.tracing.graph import ArchitectureGraph
from nar_plugin.tracing.record.recorder import Recorder
from nar_plugin.tracing.twin.twin import Twin


class Recording(NamedTuple):
    """A forward that has run.

    Attributes:
        recorder: Holds its calls.
        twin: The model that ran.
        out: What its forward returned.
    """

    recorder: Recorder
    twin: Twin
    out: Any


def graph_of(recording: Recording) -> ArchitectureGraph:
    """The canonical graph of what a forward computed, without method and inputs."""
    recorder, twin, out = recording
    returned = list(_tensors(out))
    given = find_given_weights(recorder.records, recorder.moves, recorder.sources.data, returned)
    nodes, stands_for = nodes_of(
        recorder.records,
        recorder.moves,
        recorder.head_counts,
        recorder.constants.filling,
        recorder.samples,
        recorder.sources.data,
    )
    results = set()
    for tensor in returned:
        source = recorder.sources.of(tensor)
        if source >= 0:
            results.add(stands_for[source])
            if stands_for[source] >= 0:
                note_returned(nodes[stands_for[source]], unmoved(tensor, recorder.moves))
    rewriter = Rewriter(nodes, unread=_unread(nodes, results))
    fuse_on_inputs(rewriter, FUSIONS)
    rewriter.apply(FUSIONS)
    fuse_on_inputs(rewriter, FINISHING, experts=True)
    for table in (FINISHING, LAST):
        rewriter.apply(table)
    results = {rewriter.now(index) for index in results}
    dropped = rewriter.dropped | _unread(nodes, results, rewriter.dropped)
    ops, edges, paths = parts_of(nodes, dropped)
    samples = recorder.samples
    each = samples if samples is not None and samples.are_in(returned) else None
    work = flops_of(recorder.records, each)
    return ArchitectureGraph(
        ops=ops,
        edges=edges,
        paths=paths,
        classes={path: twin.classes.get(path, "") for path in _with_parents(paths)},
        flops=sum(work.kinds.values()),
        work=work.kinds,
        work_of_modules=work.paths,
        params=sum(weight.numel() for weight in twin.registered or given)
        + recorder.sources.packed_elements,
        unread=_parameters_unread(recorder, twin),
    )


def _parameters_unread(recorder: Recorder, twin: Twin) -> int:
    """Elements of the model's parameters that no call read, of modules that made no call."""
    read = recorder.sources.parameters_read(recorder.moves)
    own = {id(parameter) for parameter in twin.registered}
    called = {record.path for record in recorder.records}
    unread = {
        id(parameter): parameter.numel()
        for path, module in twin.modules
        if path not in called
        for parameter in module._parameters.values()
        if parameter is not None and id(parameter) in own - read
    }
    return sum(unread.values())


def _unread(nodes: list[Node], results: set[int], dropped: Set[int] = frozenset()) -> set[int]:
    """Nodes that no result depends on; none when no result could be found."""
    needed = {index for index in results if index >= 0 and index not in dropped}
    if not needed:
        return set()
    for index in range(len(nodes) - 1, -1, -1):
        if index in needed:
            needed.update(nodes[index].inputs)
    return set(range(len(nodes))) - needed


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
