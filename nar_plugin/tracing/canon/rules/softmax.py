"""Softmax that is written out."""

from __future__ import annotations

from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node
from nar_plugin.tracing.canon.rules.rule import Rule, starts_at


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
