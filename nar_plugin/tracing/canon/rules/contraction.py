"""Products that are written by multiplying and adding up, and products with nothing to add up."""

from __future__ import annotations

from collections.abc import Sequence

from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node
from nar_plugin.tracing.canon.rules.layers import linear
from nar_plugin.tracing.canon.rules.rule import Rule, declare, starts_at

_TO_SOFTMAX = frozenset("add sub mul div where masked_fill".split())
_CHOICES = frozenset("topk scatter gather eq one_hot gt ge lt le sort".split())  # of experts
_FARTHEST = 5
_NEAR = 3

declare(
    Rule(
        name="dot products",
        effect="fused",
        pattern="(a * b).sum() over dimensions that both have, where each has all that are left; "
        "a product of a row and a column",
        result="dot",
        reason="One function of two values that may change places: a score of a query and an "
        "item, by einsum, vecdot, bmm or by hand.",
    )
)


@starts_at(
    Rule(
        name="multiplied and added up",
        effect="fused",
        pattern="(a * b).sum() over dimensions that both have, one of them or each copied along "
        "others; a row before a matrix",
        result="matmul, the matrix before the vector, rows before columns",
        reason="One function, as einsum says: what a state space model reads out of its state, "
        "pooling by weights, scores of all pairs.",
        source="Gu & Dao 2023, arXiv 2312.00752, Algorithm 2, for the read-out",
    ),
    "sum",
)
def _added_up(graph: Rewriter, index: int) -> None:
    nodes, total = graph.nodes, graph.nodes[index]
    product = total.inputs[0] if len(total.inputs) == 1 else index
    factors, shape = nodes[product], tuple(total.notes.get("shape", ()))
    dims = total.notes.get("dims", [])
    if factors.kind != "mul" or graph.only_consumer(product) != index:
        return
    if not shape or not dims or factors.shape != shape:
        return
    if factors.attributes.get("operand") == "param" and len(factors.inputs) == 1:
        _row_of_weights(graph, index, product)
        return
    shapes = [_padded(item, len(shape)) for item in factors.notes.get("shapes", ())]
    if len(factors.inputs) != 2 or len(shapes) != 2 or _is_of_choices(graph, product):
        return
    if any(shapes[0][dim] != shapes[1][dim] for dim in dims):
        return
    alone = [_own(*shapes), _own(*shapes[::-1])]
    inputs = factors.inputs if alone[0] >= alone[1] else factors.inputs[::-1]
    kind = "matmul" if any(own > -len(shape) - 1 for own in alone) else "dot"
    node = Node(kind, {}, list(inputs), total.path, total.out)
    node.notes = {"heads": None, "inner": total.notes["width"], "transposed": (None, None)}
    node.notes["outer"] = 1 if min(alone) < -len(shape) else shape[-1]
    graph.replace(index, node, [product])


def _padded(shape: Sequence[int], rank: int) -> tuple[int, ...]:
    return (*[1] * (rank - len(shape)), *shape)


def _own(shape: tuple[int, ...], other: tuple[int, ...]) -> int:
    """How early the first dimension comes that one factor has alone; the least without any."""
    own = [dim for dim, (one, two) in enumerate(zip(shape, other, strict=True)) if one != two == 1]
    return -min(own, default=len(shape) + 1)


def _is_of_choices(graph: Rewriter, product: int) -> bool:
    """Whether a factor says which expert has which token, as `rules/experts.py` will see."""
    waiting = {*graph.nodes[product].inputs}
    for _ in range(_NEAR):
        if any(graph.nodes[item].kind in _CHOICES for item in waiting):
            return True
        waiting = {source for item in waiting for source in graph.nodes[item].inputs}
    return False


declare(
    Rule(
        name="a row of weights",
        effect="fused",
        pattern="(x * weight).sum(-1), the weight being one vector",
        result="linear(out=1)",
        reason="x @ weight, one function.",
    )
)


def _row_of_weights(graph: Rewriter, index: int, product: int) -> None:
    total, factors = graph.nodes[index], graph.nodes[product]
    shape, dims = total.notes["shape"], total.notes["dims"]
    long = [size for size in factors.notes.get("operand_shape", ()) if size > 1]
    last = factors.notes.get("operand_shape", (0,))[-1:]
    if dims != [len(shape) - 1] or long != [shape[-1]] or last != (shape[-1],):
        return
    if graph.nodes[factors.inputs[0]].shape[-1:] != (shape[-1],):
        return  # one number, copied
    kind, said = linear(int(shape[-1]), 1, False)
    graph.replace(index, Node(kind, said, factors.inputs, total.path, total.out), [product])


@starts_at(
    Rule(
        name="outer products",
        effect="renamed",
        pattern="a column times a row, by bmm, matmul or baddbmm, that is no score of attention",
        result="mul",
        reason="a[..., None] * b[..., None, :]: nothing is added up.",
    ),
    "matmul",
)
def _outer(graph: Rewriter, index: int) -> None:
    node = graph.nodes[index]
    sizes = [node.notes.get(name) for name in ("rows", "inner", "outer")]
    if len(node.inputs) != 2 or sizes[1] != 1 or 1 in (sizes[0], sizes[2]) or None in sizes:
        return
    if not _leads_to_softmax(graph, index):
        graph.replace(index, Node("mul", {}, node.inputs, node.path, node.out), [])


@starts_at(None, "matmul", last=True)
def _in_order(graph: Rewriter, index: int) -> None:
    """A row times a matrix is the matrix, turned, times a column; a row times a column is a dot."""
    node = graph.nodes[index]
    if node.notes.get("rows") != 1 or len(node.inputs) != 2 or node.notes["rows_are_samples"]:
        return
    kind = "dot" if node.notes.get("outer") == 1 else node.kind
    inputs = node.inputs[::-1]
    graph.replace(index, Node(kind, {}, inputs, node.path, node.out, notes={}), [])


def _leads_to_softmax(graph: Rewriter, index: int) -> bool:
    for _ in range(_FARTHEST):
        reader = graph.only_consumer(index)
        if reader is None:
            return False
        if graph.nodes[reader].kind == "softmax":
            return True
        if graph.nodes[reader].kind not in _TO_SOFTMAX:
            return False
        index = reader
    return False
