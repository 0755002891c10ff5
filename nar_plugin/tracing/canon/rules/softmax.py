"""Softmax that is written out."""

from __future__ import annotations

from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node
from nar_plugin.tracing.canon.rules.rule import Rule, starts_at

# From what is minus infinity to the choice between zeros and a softmax.
_MASKED = ["logical_not", "any", "logical_not", "where"]


@starts_at(
    Rule(
        name="softmax by hand",
        effect="fused",
        pattern="exp(x) / sum(exp(x)), also of x - max(x) and with a mask; exp(x - logsumexp(x))",
        result="softmax",
        reason="As lessons write it; Reformer divides by the sum before the exponential.",
        source="Kitaev et al. 2020, arXiv 2001.04451, Eq. 3",
    ),
    "exp",
)
def _softmax(graph: Rewriter, index: int) -> None:
    nodes, inside = graph.nodes, [index]
    masked = graph.only_consumer(index)
    if masked is not None and nodes[masked].attributes == {"operand": "const"}:
        inside.append(masked)
    weights = inside[-1]
    readers = sorted(graph.readers(weights), key=lambda reader: nodes[reader].kind)
    if [nodes[reader].kind for reader in readers] != ["div", "sum"] or not nodes[index].inputs:
        return
    last, total = readers
    if nodes[last].inputs != [weights, total] or graph.only_consumer(total) != last:
        return
    if graph.other_values(last, total, weights):
        return
    (x,) = nodes[index].inputs
    if nodes[x].kind == "sub" and graph.only_consumer(x) == index:
        shift = nodes[x].inputs[-1]
        if nodes[shift].kind == "max" and _is_less(graph, x, shift):
            inside += [x, shift]
            x = nodes[x].inputs[0]
    _replace(graph, last, [*inside, total], x, total)


@starts_at(None, "logsumexp")
def _of_logarithms(graph: Rewriter, index: int) -> None:
    nodes, difference = graph.nodes, graph.only_consumer(index)
    if difference is None or nodes[difference].kind != "sub":
        return
    last = graph.only_consumer(difference)
    if last is not None and nodes[last].kind == "exp" and _is_less(graph, difference, index):
        _replace(graph, last, [index, difference], nodes[index].inputs[0], index)


@starts_at(
    Rule(
        name="softmax of masked rows",
        effect="fused",
        pattern="softmax(x), and zeros in the rows of which all is minus infinity",
        result="softmax",
        reason="What scaled_dot_product_attention is decomposed into: a row that is masked whole "
        "is no row of the design.",
        source="torch/_decomp/decompositions.py, safe_softmax",
    ),
    "eq",
)
def _safe_softmax(graph: Rewriter, index: int) -> None:
    nodes, inside = graph.nodes, [index]
    if not nodes[index].notes.get("with_lowest") or len(nodes[index].inputs) != 1:
        return
    while (after := graph.only_consumer(inside[-1])) is not None and len(inside) <= len(_MASKED):
        inside.append(after)
    kinds = [nodes[place].kind for place in inside[1 : len(_MASKED) + 1]]
    if [kind.replace("bitwise", "logical") for kind in kinds] != _MASKED:
        return
    *inside, last = inside[: len(_MASKED) + 1]
    others = [item for item in nodes[last].inputs if item != inside[-1]]
    softmax = nodes[others[0]] if len(others) == 1 else nodes[last]
    if softmax.kind != "softmax" or softmax.inputs != nodes[index].inputs:
        return
    if nodes[last].notes.get("filled") == "then" and graph.only_consumer(others[0]) == last:
        whole = Node("softmax", {}, softmax.inputs, softmax.path, nodes[last].out)
        whole.notes = softmax.notes
        graph.replace(last, whole, [*inside, others[0]])


def _is_less(graph: Rewriter, difference: int, reduced: int) -> bool:
    """Whether a difference is x - reduction(x), the reduction being read by it alone."""
    sources = graph.nodes[reduced].inputs
    same = graph.nodes[difference].inputs == [*sources, reduced] and len(sources) == 1
    if not same or graph.other_values(difference, reduced, sources[0]):
        return False
    return graph.only_consumer(reduced) == difference


def _replace(graph: Rewriter, last: int, inside: list[int], x: int, reduction: int) -> None:
    node = graph.nodes[last]
    whole = Node("softmax", {}, [x], node.path, node.out)
    whole.notes["last"] = graph.nodes[reduction].notes.get("axes") == "last"
    graph.replace(last, whole, inside)
