"""Straight-through estimators: sums that are one of their terms, but for the gradient."""

from __future__ import annotations

from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node
from nar_plugin.tracing.canon.rules.rule import Rule, starts_at

_SUMS = frozenset({"add", "sub"})
_TWO = 2  # terms


@starts_at(
    Rule(
        name="straight-through estimator",
        effect="dropped",
        pattern="x + (q - x), (q - x) + x, x - (x - q), (q + x) - x, with detach anywhere",
        result="q",
        reason="The forward is q; the rest says which gradient passes.",
        source="Bengio, Leonard & Courville 2013, arXiv 1308.3432; van den Oord et al. 2017, "
        "arXiv 1711.00937, section 3.2",
    ),
    *sorted(_SUMS),
)
def _straight_through(graph: Rewriter, index: int) -> None:
    outer = graph.nodes[index]
    if not _is_sum_of_two(outer):
        return
    for place, inside in enumerate(outer.inputs):
        inner, other = graph.nodes[inside], 1 - place
        whole = outer.notes["terms"][place].size == inner.size == outer.size
        if not (_is_sum_of_two(inner) and outer.notes["terms"][place].plain and whole):
            continue
        for same in range(_TWO):
            if outer.notes["terms"][place].order:
                continue
            if _are_one(outer, other, inner, same) and _cancel(outer, place, inner, same):
                left = 1 - same
                if inner.notes["terms"][left].size == outer.size:
                    graph.stand_in(index, inner.inputs[left])
                    return


def _is_sum_of_two(node: Node) -> bool:
    return node.kind in _SUMS and "terms" in node.notes and len(node.inputs) == _TWO


def _are_one(outer: Node, other: int, inner: Node, same: int) -> bool:
    """Whether a term of the outer sum and one of the inner are the same values."""
    one, two = outer.notes["terms"][other], inner.notes["terms"][same]
    return bool(outer.inputs[other] == inner.inputs[same] and one == two and one.plain)


def _cancel(outer: Node, place: int, inner: Node, same: int) -> bool:
    """Whether a term of the inner sum is taken away by the outer one, and what is left stays."""
    sign = _sign(outer, place)
    cancels = _sign(outer, 1 - place) + sign * _sign(inner, same) == 0
    return cancels and sign * _sign(inner, 1 - same) == 1


def _sign(node: Node, place: int) -> int:
    return -1 if node.kind == "sub" and place == 1 else 1
