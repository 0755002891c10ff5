"""What stands behind many layers of a graph alike and can be taken out: noise, gates, adapters.

A design with a further operation between all its layers shares no neighbourhood with the design
that it was made from. Without the operation it is that design again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from nar_plugin.tracing.fusion import Rewriter
from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.tracing.node import Node, parts_of
from nar_plugin.tracing.rules.packing import PACKABLE

_LEAST = 3  # places at which it stands
_MOST = 12  # insertions that are looked at, those of the most operations
_LARGEST = 8  # operations of a branch
_LEFT = 4  # a quarter of the operations is left, or more: what is most of a graph is the design
_LONGEST = 10_000  # operations of a graph that is looked at
_CORE = frozenset(
    "linear conv embedding attention linear_attention lstm gru rnn_tanh rnn_relu".split()
)


@dataclass(frozen=True)
class Insertion:
    """Operations that stand in several places of a graph, alike.

    Attributes:
        kinds: Such as `("tanh",)`, `("add const",)`, or of a branch that begins and ends at one
            value `("mean", "sigmoid", "mul")`: its operations, and last what joins it.
        count: In how many places.
        graph: What is left without them.
    """

    kinds: tuple[str, ...]
    count: int
    graph: ArchitectureGraph


def insertions(graph: ArchitectureGraph) -> list[Insertion]:
    """The insertions of a graph, those of the most operations first.

    One is an operation of one input, no layer, or one that joins a value with what a branch of a
    few operations makes of the same value. Layers that one attention or product reads are packed
    into one, as in a trace, where nothing stands between them any more.
    """
    if len(graph) > _LONGEST:
        return []
    sources = graph.sources()
    ahead: list[int] = []  # each operation and what is ahead of it, as bits
    found: dict[tuple[str, ...], dict[int, int]] = {}
    for place, (op, inputs) in enumerate(zip(graph.ops, sources, strict=True)):
        before = 0
        for source in inputs:
            before |= ahead[source]
        ahead.append(before | 1 << place)
        start = next((item for item in inputs if _leads(item, inputs, ahead)), None)
        if start is None or op.kind in _CORE:
            continue
        branch = _places(before & ~ahead[start])
        if branch is not None:
            kinds = tuple(_kind(graph.ops[item]) for item in (*branch, place))
            found.setdefault(kinds, {})[place] = start
    often = [(kinds, passed) for kinds, passed in found.items() if len(passed) >= _LEAST]
    often.sort(key=lambda entry: -len(entry[0]) * len(entry[1]))
    told = [
        Insertion(kinds, len(passed), _without(graph, sources, passed))
        for kinds, passed in often[:_MOST]
    ]
    return [each for each in told if len(each.graph) >= len(graph) / _LEFT]


def _kind(op: Op) -> str:
    operand = op.get("operand")
    return f"{op.kind} {operand}" if operand else op.kind


def _leads(item: int, inputs: list[int], ahead: list[int]) -> bool:
    """Whether all inputs of an operation come from this one."""
    return all(ahead[other] >> item & 1 for other in inputs)


def _places(bits: int) -> list[int] | None:
    """The places of the bits that are set, or None where they are too many."""
    if bits.bit_count() > _LARGEST:
        return None
    places = []
    while bits:
        places.append((bits & -bits).bit_length() - 1)
        bits &= bits - 1
    return places


def _without(
    graph: ArchitectureGraph, sources: list[list[int]], passed: Mapping[int, int]
) -> ArchitectureGraph:
    """The graph without some operations and their branches, its layers packed.

    Args:
        graph: The graph.
        sources: Its `sources()`.
        passed: Of each operation that goes, the one that what reads it reads instead.
    """
    instead = list(range(len(graph)))
    for place, source in passed.items():  # sources stand ahead of what reads them
        instead[place] = instead[source]
    read = {source for inputs in sources for source in inputs}
    needed = {instead[place] for place in range(len(graph)) if place not in read}
    for place in reversed(range(len(graph))):
        if place in needed:
            needed.update(instead[source] for source in sources[place])
    number = {place: new for new, place in enumerate(sorted(needed))}
    nodes = []
    for place in number:
        op = graph.ops[place]
        inputs = [number[instead[source]] for source in sources[place]]
        notes = {"place": inputs[0]} if op.kind in PACKABLE and len(inputs) == 1 else {}
        nodes.append(Node(op.kind, dict(op.attributes), inputs, graph.paths[place], notes=notes))
    rewriter = Rewriter(nodes)
    rewriter.finish()
    ops, edges, paths = parts_of(nodes, rewriter.dropped)
    return replace(graph, ops=ops, edges=edges, paths=paths)
