"""Puts group norms together, which torch's exporters write as instance norms of groups.

Both exporters give `GroupNorm` as a view of g groups, an instance norm of these with weights of
one, a view back, and the layer's own weights as a factor and a summand of shape [channels, 1, 1].
The view back is left out where it changes nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import onnx
from onnx import numpy_helper

from .folded import has_values
from .shapes import FLOATS

_MOST_AXES = 8  # of a shape


def join_group_norms(graph: Any) -> None:
    """Write each group norm of a graph as one node, and its weights as vectors.

    Args:
        graph: The `GraphProto`; constants that are nodes may still be nodes.
    """
    graphs = _Links(graph)
    gone: set[int] = set()
    for place, node in enumerate(graph.node):
        if node.op_type == "InstanceNormalization":
            gone |= _joined(graphs, node, place)
    if gone:
        kept = [node for place, node in enumerate(graph.node) if place not in gone]
        nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node in kept]
        del graph.node[:]
        graph.node.extend(nodes)


def _joined(graph: _Links, node: Any, place: int) -> set[int]:
    """Make the node of an instance norm a group norm; returns the places of what is in it now."""
    groups = math.prod(graph.dims(node.input[1]) or [0])
    apart, back = graph.maker(node.input[0], "Reshape"), graph.reader(node.output[0], "Reshape")
    if apart is None or not groups or not _makes_groups(graph, apart[1], groups):
        return set()
    inside: set[int] = set()
    weights: list[tuple[str, int]] = []
    view, last = apart[1], node  # of signals, where a group for each channel is the same view
    if back is not None:
        inside, view, last = {back[0]}, back[1], back[1]
    shape = graph.values(view.input[1])
    for kind in ("Mul", "Add"):
        found = graph.reader(last.output[0], kind)
        if found is None:
            break
        other = next((name for name in found[1].input if name != last.output[0]), "")
        dims = graph.dims(other)
        if not dims or dims[0] % groups or not _are_of_channels(dims, shape):
            break
        weights.append((f"{found[1].output[0]} {kind}", dims[0]))
        inside.add(found[0])
        last = found[1]
    if len(weights) == 1 or last is node:
        return set()
    for name, width in weights:
        graph.graph.initializer.add(name=name, data_type=onnx.TensorProto.FLOAT, dims=[width])
    source, result = node.input[0] if back is None else apart[1].input[0], last.output[0]
    if back is not None and len(graph.readers[apart[1].output[0]]) == 1:
        inside.add(apart[0])
    node.op_type = "GroupNormalization"
    node.attribute.append(onnx.helper.make_attribute("num_groups", groups))
    del node.input[:], node.output[:]
    node.input.extend([source, *(name for name, _ in weights)])
    node.output.append(result)
    return inside


def _makes_groups(graph: _Links, view: Any, groups: int) -> bool:
    """Whether a view has three dimensions, of which the second are the groups."""
    sides = graph.values(view.input[1])
    return sides is not None and len(sides) == 3 and sides[1] == groups


def _are_of_channels(dims: list[int], shape: list[int] | None) -> bool:
    """Whether weights have a number for each channel: [c, 1, 1] beside [n, c, h, w].

    Args:
        dims: Of the weights.
        shape: Of what they are beside, 0 or -1 where it is not stated; None if unknown.
    """
    if set(dims[1:]) - {1}:
        return False
    if shape is None:  # computed, as where axes are dynamic
        return len(dims) > 1
    return len(dims) == len(shape) - 1 and shape[1] in (0, -1, dims[0])


class _Links:
    """Who makes and who reads each value of a graph."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self._makers = {name: n for n, node in enumerate(graph.node) for name in node.output}
        self.readers: dict[str, list[int]] = {}
        for place, node in enumerate(graph.node):
            for name in node.input:
                self.readers.setdefault(name, []).append(place)
        self._results = Counter(item.name for item in graph.output)
        self._tensors = {item.name: item for item in graph.initializer}
        for node in graph.node:
            value = next((item.t for item in node.attribute if item.name == "value"), None)
            if node.op_type == "Constant" and value is not None:
                self._tensors[node.output[0]] = value
            if node.op_type == "Identity" and node.input[0] in self._tensors:  # equal weights
                self._tensors[node.output[0]] = self._tensors[node.input[0]]

    def maker(self, name: str, kind: str) -> tuple[int, Any] | None:
        """The node that makes a value, and its place, if it is of a kind."""
        place = self._makers.get(name)
        if place is None or self.graph.node[place].op_type != kind:
            return None
        return place, self.graph.node[place]

    def reader(self, name: str, kind: str) -> tuple[int, Any] | None:
        """The only node that reads a value, and its place, if it is of a kind."""
        places = self.readers.get(name, [])
        if len(places) != 1 or self._results[name]:
            return None
        node = self.graph.node[places[0]]
        return (places[0], node) if node.op_type == kind else None

    def dims(self, name: str) -> list[int] | None:
        """The shape of a tensor of floats that the file holds."""
        found = self._tensors.get(name)
        return list(found.dims) if found is not None and found.data_type in FLOATS else None

    def values(self, name: str) -> list[int] | None:
        """A few whole numbers that the file holds, such as a shape."""
        found = self._tensors.get(name)
        if found is None or found.data_type in FLOATS or not has_values(found):
            return None
        return [int(value) for value in numpy_helper.to_array(found).ravel()[:_MOST_AXES]]
