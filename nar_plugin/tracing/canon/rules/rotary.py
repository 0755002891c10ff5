"""Rotary position embeddings."""

from __future__ import annotations

from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node
from nar_plugin.tracing.canon.rules.rule import Rule, starts_at
from nar_plugin.tracing.graph import Attribute


@starts_at(
    Rule(
        name="rotary positions",
        effect="fused",
        pattern="x cos + rotated(x) sin; pairs (a cos - b sin, a sin + b cos); a complex product",
        result="rotary",
        reason="Halves or pairs, real or complex: the weights' order differs, the design does not.",
        source="Su et al. 2021, arXiv 2104.09864, Eq. 34",
    ),
    "add",
    "sub",
    "mul",
    "cat",
)
def _rotary(graph: Rewriter, index: int) -> None:
    nodes = graph.nodes
    node = nodes[index]
    if node.kind == "mul":
        if node.notes.get("complex") and node.attributes.get("operand") == "const":
            graph.replace(index, Node("rotary", {}, node.inputs, node.path, node.out), [])
        return
    parts = node.inputs
    if len(parts) != 2 or parts[0] == parts[1]:
        return
    if any(graph.only_consumer(part) != index for part in parts):
        return
    if nodes[parts[0]].inputs != nodes[parts[1]].inputs:
        return
    if node.kind == "cat":
        rotated = all(nodes[part].kind == "rotary" for part in parts)
    else:
        rotated = all(_times_table(nodes[part]) for part in parts) and not _are_one(graph, *parts)
    if rotated:
        whole = Node("rotary", {}, list(nodes[parts[0]].inputs), node.path, node.out)
        graph.replace(index, whole, list(parts))


@starts_at(
    Rule(
        name="partial rotary positions",
        effect="fused",
        pattern="rotary positions of some of the features, joined with the others again",
        result="rotary(partial=True); rotary where some of the tokens are left out",
        reason="As slices of one tensor, with their own parts of one table: GPT-NeoX turns a "
        "quarter of each head, and class tokens have no place.",
        source="Black et al. 2022, arXiv 2204.06745, section 2.1",
    ),
    "cat",
)
def _partial(graph: Rewriter, index: int) -> None:
    node = graph.nodes[index]
    if len(node.inputs) != 2:
        return
    for turned, rest in (node.inputs, node.inputs[::-1]):
        part = graph.nodes[turned]
        if part.kind != "rotary" or part.inputs != [rest] or graph.only_consumer(turned) != index:
            continue
        of_features = node.notes.get("of_features", True)  # unknown where it was written in place
        said: dict[str, Attribute] = {"partial": True} if of_features else {}
        graph.replace(index, Node("rotary", said, [rest], node.path, node.out), [turned])
        return


def _are_one(graph: Rewriter, one: int, other: int) -> bool:
    """Whether both parts are of the same values, so that nothing is turned."""
    return any(graph.same_values(one, other, x) for x in graph.nodes[one].inputs)


def _times_table(node: Node) -> bool:
    return node.kind == "mul" and node.attributes.get("operand") == "const"
