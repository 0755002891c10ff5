"""Low-rank adapters that are written by hand; PEFT's are taken off by the twin."""

from __future__ import annotations

from typing import NamedTuple

from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node
from nar_plugin.tracing.canon.rules.rule import Rule, starts_at

# Both sides of a layer; the corpus has an example of an adapter with ten inputs, and keeps it.
_SMALLEST = 16


class _Branch(NamedTuple):
    """Where the adapter of a layer is: x -> down -> up -> added."""

    down: int
    up: int
    added: int


@starts_at(
    Rule(
        name="low-rank adapters",
        effect="fused",
        pattern="W(x) + scale * B(A(x)) of linear layers, A and B without bias; W + scale * B A as "
        "the weight of a layer; A and B with fewer weights than W, whose sides are 16 or more",
        result="the layer W alone",
        reason="Nothing stands between the two, so merging them gives one layer of the same sizes: "
        "an adapter is no design. Where depths share W and each has its own A and B, as in Zamba2, "
        "they make the layers differ and stay.",
        source="Hu et al. 2021, arXiv 2106.09685, section 4.1",
    ),
    "linear",
)
def _beside_a_layer(graph: Rewriter, index: int) -> None:
    branch = _branch(graph, index)
    if branch is None or not _alone(graph, index, branch):
        return
    layer, added = graph.nodes[index], graph.nodes[branch.added]
    merged = {graph.nodes[branch.down].notes["weight"], *layer.notes.get("adapters", ())}
    node = Node("linear", layer.attributes, layer.inputs, layer.path, added.out, layer.reads)
    node.notes = {**layer.notes, "adapters": merged}
    graph.replace(branch.added, node, [index, branch.down, branch.up])


def _branch(graph: Rewriter, index: int) -> _Branch | None:
    nodes = graph.nodes
    added = graph.only_consumer(index)
    if added is None or nodes[added].kind != "add" or len(nodes[added].inputs) != 2:
        return None
    up = next((item for item in nodes[added].inputs if item != index), index)
    if nodes[up].kind != "linear" or len(nodes[up].inputs) != 1 or graph.only_consumer(up) != added:
        return None
    (down,) = nodes[up].inputs
    if nodes[down].kind != "linear" or graph.only_consumer(down) != up:
        return None
    turned = not (graph.is_straight(up, down) and graph.is_straight(added, up))
    if turned or graph.shift(up, down) > 0 or nodes[up].size != nodes[added].size:
        return None
    return _Branch(down, up, added) if _fits(nodes[index], nodes[down], nodes[up]) else None


def _fits(layer: Node, down: Node, up: Node) -> bool:
    """Whether a branch has the layer's input and sizes, and fewer weights."""
    parts = (layer, down, up)
    if any("experts" in part.attributes or "weight" not in part.notes for part in parts):
        return False
    place = layer.notes.get("place")
    if place is None or down.notes.get("place") != place or down.inputs != layer.inputs:
        return False
    if down.attributes["bias"] or up.attributes["bias"]:
        return False
    wide_in, wide_out = int(layer.attributes["in"]), int(layer.attributes["out"])
    rank = int(down.attributes["out"])
    sizes = down.attributes["in"], up.attributes["in"], up.attributes["out"]
    return sizes == (wide_in, rank, wide_out) and _is_low(rank, wide_in, wide_out)


def _is_low(rank: int, wide_in: int, wide_out: int) -> bool:
    fewer = rank * (wide_in + wide_out) < wide_in * wide_out
    return fewer and min(wide_in, wide_out) >= _SMALLEST


def _alone(graph: Rewriter, index: int, branch: _Branch) -> bool:
    """Whether the layer's weights have this adapter wherever they are used."""
    weight = graph.nodes[index].notes["weight"]
    adapter = graph.nodes[branch.down].notes["weight"]
    for other, node in enumerate(graph.nodes):
        if other in graph.dropped or other == index or node.notes.get("weight") != weight:
            continue
        if adapter not in node.notes.get("adapters", ()):
            found = _branch(graph, other)
            if found is None or graph.nodes[found.down].notes["weight"] != adapter:
                return False
    return True


@starts_at(None, "matmul")
def _inside_a_weight(graph: Rewriter, index: int) -> None:
    """`x @ (W + B A)`, as of a parametrization: the sum is a weight like any other."""
    nodes = graph.nodes
    added = graph.only_consumer(index) if not nodes[index].inputs else None
    if added is None or nodes[added].kind != "add":
        return
    rank, wide = int(nodes[index].notes["inner"]), int(nodes[index].notes["outer"])
    if nodes[added].notes.get("operand_size") != nodes[index].size:
        return
    if not _is_low(rank, nodes[index].size // wide, wide):
        return
    readers = list(graph.readers(added))
    layers = [_layer(nodes[reader], added) for reader in readers]
    if any(layer is None for layer in layers):
        return
    for reader, layer in zip(readers, layers, strict=True):
        if layer is not None:
            graph.replace(reader, layer, [added, index] if reader == readers[-1] else [])


def _layer(node: Node, weight: int) -> Node | None:
    """A product or convolution with a weight that was computed, as a layer."""
    inputs = [source for source in node.inputs if source != weight]
    kind, attributes, notes = node.kind, node.attributes, dict(node.notes)
    if kind == "matmul":
        left, right = node.notes["operands"]
        if (left == weight) == (right == weight):
            return None
        kind, wide = "linear", node.notes["outer" if right == weight else "rows"]
        attributes = {"in": node.notes["inner"], "out": wide, "bias": node.notes["bias"]}
        if left == weight:
            del notes["place"]
    elif kind != "conv" or len(inputs) == len(node.inputs):
        return None
    return Node(kind, attributes, inputs, node.path, node.out, notes=notes)
