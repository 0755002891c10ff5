"""What comes into a model as a source of patterns.

Inputs are no operations: a graph begins with what reads them. But what is written out on an input,
as `x * sigmoid(x)`, is known by its one source. So inputs stand among the nodes while the rules
on such patterns are tried near them, and are taken out again before the other rules look: to
these, a mask that is added to scores is no operand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import torch

from nar_plugin.tracing.canon.call import Call
from nar_plugin.tracing.canon.fusion import FusionRule, Rewriter
from nar_plugin.tracing.canon.node import Node, Read
from nar_plugin.tracing.canon.weights import unmoved
from nar_plugin.tracing.record.record import DATA

# The nodes at which patterns begin that are made of one value, and how many operations stand
# between it and them at most.
_PATTERNS = """
    sqrt rsqrt std linalg_vector_norm exp logsumexp sigmoid hardsigmoid erf tanh log log1p
    reciprocal
    """.split()
_FARTHEST = {**dict.fromkeys(_PATTERNS, 6), **dict.fromkeys(("add", "sub", "mul"), 1), "cat": 2}
_EXPERTS = dict.fromkeys(("cat", "add", "index_put", "scatter_add", "sum", "matmul"), 24)


class Inputs:
    """Which input a tensor is, or holds the values of.

    Args:
        data: What comes into the model.
    """

    def __init__(self, data: Iterable[torch.Tensor]) -> None:
        self._keep = [
            tensor for tensor in data if tensor.is_floating_point() or tensor.is_complex()
        ]
        self._number = {id(tensor): place for place, tensor in enumerate(self._keep)}

    def number(self, call: Call, place: int) -> int | None:
        """The number of the input that an operand of a call is; None where it is none."""
        whole = unmoved(call.tensors[place], call.moves)
        found = self._number.get(id(whole))
        return self._number.get(id(call.tensors[place])) if found is None else found

    def operands(self, call: Call) -> list[int]:
        """The nodes that a call reads, and inputs as -1, -2, ...; none where it reads no input."""
        if DATA not in call.sources:
            return []
        found: list[int] = []
        for place, source in enumerate(call.sources[: len(call.tensors)]):
            if source >= 0:
                found.append(source)
            elif source == DATA and (number := self.number(call, place)) is not None:
                found.append(-1 - number)
        return found if min(found, default=0) < 0 else []

    def pass_on(self, call: Call) -> None:
        """Follow a dropped call: x times a number is x, x times a vector is another input."""
        if DATA not in call.sources or not isinstance(call.out, torch.Tensor):
            return
        number = self.number(call, call.sources.index(DATA))
        if number is None:
            return
        if any(call.size(tensor, source) > 1 for tensor, source in call.others()):
            number = len(self._keep)
            self._keep.append(call.out)
        self._number[id(call.out)] = number


def fuse_on_inputs(
    graph: Rewriter, rules: Mapping[str, Sequence[FusionRule]], *, experts: bool = False
) -> None:
    """Try rules near inputs, which are nodes while this lasts.

    Args:
        graph: The graph.
        rules: By the kind of node that they start at.
        experts: Whether mixtures of experts are looked for, and not shorter patterns.
    """
    nodes, whole = graph.nodes, len(graph.nodes)
    read = {-1 - item for node in nodes for item in node.operands if item < 0}
    number_of = {number: place for place, number in enumerate(sorted(read))}
    if not number_of:
        return
    nodes.extend(Node("input", {}, [], "") for _ in number_of)
    graph.add_nodes(len(number_of))
    readers = []
    for index in range(whole):
        if index not in graph.dropped and nodes[index].operands:
            if _attach(graph, index, number_of, whole):
                readers.append(index)
    farthest = _EXPERTS if experts else _FARTHEST
    for index, distance in sorted(_near(graph, readers, max(farthest.values())).items()):
        kind = nodes[index].kind
        if distance <= farthest.get(kind, -1):
            graph.apply({kind: rules.get(kind, ())}, [index])
    if not experts:
        _drop_tables(graph, [index for index in readers if index not in graph.dropped])
    _detach(graph, whole, {place: number for number, place in number_of.items()})


def _attach(graph: Rewriter, index: int, number_of: Mapping[int, int], whole: int) -> bool:
    """Let a node read its inputs, if it reads the same nodes still; whether it does."""
    node = graph.nodes[index]
    if [item for item in node.operands if item >= 0] != node.inputs:
        return False
    known = [item for item in node.operands if item >= 0 or -1 - item in number_of]
    if len(known) == len(node.inputs):
        return False
    if len(node.all_reads) == len(node.operands):
        pairs = zip(node.operands, node.all_reads, strict=True)
        node.reads = [read for item, read in pairs if item >= 0 or -1 - item in number_of]
    node.inputs = [item if item >= 0 else whole + number_of[-1 - item] for item in known]
    for item in node.inputs:
        graph.link(index, item)
    return True


def _near(graph: Rewriter, readers: list[int], farthest: int) -> dict[int, int]:
    """The nodes that come at most so many after some, with how many."""
    found = dict.fromkeys(readers, 0)
    edge = set(readers)
    for distance in range(1, farthest + 1):
        edge = {reader for index in edge for reader in graph.readers(index)} - found.keys()
        found.update(dict.fromkeys(edge, distance))
    return found


def _drop_tables(graph: Rewriter, readers: list[int]) -> None:
    """Drop the tables that an input was multiplied with which are no rotary positions."""
    for index in readers:
        if graph.nodes[index].notes.get("table_of_input") and graph.nodes[index].kind == "mul":
            graph.bypass(index)


def _detach(graph: Rewriter, whole: int, numbers: Mapping[int, int]) -> None:
    """Take the inputs out again."""
    nodes = graph.nodes
    for reader in {reader for place in numbers for reader in graph.readers(whole + place)}:
        node = nodes[reader]
        node.operands = [
            item if item < whole else -1 - numbers[item - whole] for item in node.inputs
        ]
        node.all_reads = list(node.reads)
        if len(node.reads) == len(node.inputs):
            node.reads = list(_of_nodes(node, whole))
        node.inputs = [item for item in node.inputs if item < whole]
    graph.drop_last(len(numbers))


def _of_nodes(node: Node, whole: int) -> Iterator[Read]:
    return (read for item, read in zip(node.inputs, node.reads, strict=True) if item < whole)
