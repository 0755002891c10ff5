"""The larger or the smaller of several values, and where it is."""

from __future__ import annotations

import torch

from nar_plugin.tracing.canon.call import Call
from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node
from nar_plugin.tracing.canon.rules.joining import is_read_whole
from nar_plugin.tracing.canon.rules.rule import Attributes, Rule, declare, on_calls, starts_at
from nar_plugin.tracing.canon.weights import unmoved

_OF_STACK = {"max": "maximum", "min": "minimum"}
_OF_PLACES = {"max": "argmax", "min": "argmin"}
_TURNED = {"argmax": "argmin", "argmin": "argmax"}
_GREATER = frozenset({"gt", "ge"})


@starts_at(
    Rule(
        name="maximum of several",
        effect="fused",
        pattern="amax or max of a stack of values over them, where(a > b, a, b), "
        "maximum(maximum(a, b), c); the minimum likewise",
        result="maximum, minimum",
        reason="torch.stack([a, b]).amax(0) is torch.maximum(a, b), in any order.",
    ),
    *_OF_STACK,
)
def _of_a_stack(graph: Rewriter, index: int) -> None:
    node = graph.nodes[index]
    stack = node.inputs[0] if len(node.inputs) == 1 else index
    notes = graph.nodes[stack].notes
    if not notes.get("of_nodes") or graph.only_consumer(stack) != index or not _gives_values(node):
        return
    dim, shapes = notes.get("stacked", notes.get("dim")), notes["shapes"]
    if dim is None or node.notes.get("dims") != [dim] or len(shapes) != node.notes["shape"][dim]:
        return
    if "stacked" not in notes:
        shapes = [(*shape[:dim], *shape[dim + 1 :]) for shape in shapes if shape[dim] == 1]
    if len(shapes) == node.notes["shape"][dim] and is_read_whole(graph, index, 0):
        inputs = graph.nodes[stack].inputs
        whole = Node(_OF_STACK[node.kind], {}, inputs, node.path, node.out)
        whole.notes["shapes"] = shapes
        graph.replace(index, whole, [stack])


def _gives_values(node: Node) -> bool:
    """Whether the values of an extremum are read or returned, and their places are not."""
    if not isinstance(node.out, tuple | list):
        return True
    return not node.notes.get("places_read") and bool(node.notes.get("values_read"))


def note_what_is_read(call: Call) -> None:
    """Note whether a call reads the values or the places that an extremum gives."""
    for tensor, source in zip(call.tensors, call.sources, strict=True):
        if source >= 0:
            _note_read(call.nodes[source], unmoved(tensor, call.moves))


def note_returned(node: Node, tensor: torch.Tensor) -> None:
    """Note that a result of a node, before it was moved, is one of the forward."""
    node.notes["returned"] = True
    _note_read(node, tensor)


def _note_read(node: Node, tensor: torch.Tensor) -> None:
    if node.kind in _OF_STACK:
        node.notes["values_read" if tensor.dtype.is_floating_point else "places_read"] = True


@starts_at(None, "gt", "ge", "lt", "le")
def _by_comparison(graph: Rewriter, index: int) -> None:
    node, last = graph.nodes[index], graph.only_consumer(index)
    if last is None or graph.nodes[last].kind != "where" or not node.notes.get("plain"):
        return
    reader = graph.nodes[last]
    if len(node.inputs) != 2 or len(reader.inputs) != 3 or not reader.notes.get("plain"):
        return
    condition, *taken = reader.inputs
    if condition != index or sorted(taken) != sorted(node.inputs) or taken[0] == taken[1]:
        return
    if not all(graph.same_values(index, last, item) for item in taken):
        return
    if not graph.is_straight(last, index) or graph.nodes[index].size != reader.size:
        return
    kind = "maximum" if (node.kind in _GREATER) == (taken == node.inputs) else "minimum"
    whole = Node(kind, {}, taken, reader.path, reader.out)
    whole.notes["shapes"] = [graph.nodes[item].shape for item in taken]
    graph.replace(last, whole, [index])


@starts_at(None, "maximum", "minimum", last=True)
def _in_steps(graph: Rewriter, index: int) -> None:
    node = graph.nodes[index]
    if len(node.inputs) < 2 or node.attributes:
        return
    for place in reversed(range(len(node.inputs))):
        source = node.inputs[place]
        inner = graph.nodes[source]
        if inner.kind != node.kind or inner.attributes or len(inner.inputs) < 2:
            continue
        once = graph.only_consumer(source) == index and node.inputs.count(source) == 1
        if once and "shapes" in inner.notes and is_read_whole(graph, index, place):
            graph.splice(index, place)


declare(
    Rule(
        name="place of the largest",
        effect="renamed",
        pattern="argmax(-x), the places that max gives, argmax of a softmax over one dimension; "
        "the smallest likewise",
        result="argmax, argmin",
        reason="The order is the same.",
    )
)


@on_calls(None, "argmax", "argmin")
def _place(call: Call) -> tuple[str, Attributes] | None:
    dim = call.args[1] if len(call.args) > 1 else call.kwargs.get("dim")
    rank = call.tensors[0].dim()
    call.notes["last"] = dim is not None and dim % max(rank, 1) == rank - 1
    turned = call.live == 1 and call.scaled().scale < 0
    return (_TURNED[call.name] if turned else call.name), {}


@starts_at(None, *_OF_PLACES)
def _places_alone(graph: Rewriter, index: int) -> None:
    node = graph.nodes[index]
    if not isinstance(node.out, tuple | list) or node.notes.get("values_read"):
        return
    if not node.notes.get("places_read"):
        return
    kind = _OF_PLACES[node.kind]
    kind = _TURNED[kind] if node.notes.get("negated") else kind
    place = Node(kind, {}, node.inputs, node.path, node.out[1])
    place.notes["last"] = node.notes.get("axes") == "last"
    graph.replace(index, place, [])


@starts_at(None, "argmax")
def _of_softmax(graph: Rewriter, index: int) -> None:
    node = graph.nodes[index]
    before = graph.nodes[node.inputs[0]] if len(node.inputs) == 1 else node
    if before.kind in ("softmax", "log_softmax") and len(before.inputs) == 1:
        if before.notes.get("last") and node.notes.get("last"):
            source = node.inputs[0]
            graph.redirect(index, 0, before.inputs[0])
            graph.forsake([source])
