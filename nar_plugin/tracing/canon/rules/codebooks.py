"""Codebooks: distances to the rows of a learned table, and the rows at computed places."""

from __future__ import annotations

from collections.abc import Iterator

from nar_plugin.tracing.canon.call import Call
from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node
from nar_plugin.tracing.canon.rules.rule import Attributes, Rule, declare, on_calls, starts_at
from nar_plugin.tracing.canon.rules.tables import TOKENS
from nar_plugin.tracing.record.record import CONST

_MONOTONE = frozenset({"sqrt", "relu"})
_FARTHEST = 3
_EUCLIDEAN = 2.0


@on_calls(
    Rule(
        name="distances",
        effect="renamed",
        pattern="torch.cdist by either of its kernels",
        result="cdist",
        reason="It takes another kernel for more than 25 rows.",
        source="https://docs.pytorch.org/docs/stable/generated/torch.cdist.html",
    ),
    "cdist",
    "_cdist_forward",
    "_euclidean_dist",
)
def _distances(call: Call) -> tuple[str, Attributes] | None:
    degree = call.args[2] if len(call.args) > 2 and call.name != "_euclidean_dist" else _EUCLIDEAN
    return "cdist", ({} if degree == _EUCLIDEAN else {"p": float(degree)})


@starts_at(
    Rule(
        name="nearest of a codebook",
        effect="fused",
        pattern="argmin over a table's rows e of x^2 - 2 x e + e^2, of the sum of (x - e)^2 or "
        "of its root",
        result="cdist, argmin",
        reason="The order of the distances is the same.",
        source="van den Oord et al. 2017, arXiv 1711.00937, Eq. 1",
    ),
    "argmin",
    finishing=True,
)
def _nearest(graph: Rewriter, index: int) -> None:
    nodes, source = graph.nodes, graph.nodes[index].inputs[0] if graph.nodes[index].inputs else None
    if source is None:
        return
    top = source
    for _ in range(_FARTHEST):
        if nodes[top].kind in _MONOTONE and len(nodes[top].inputs) == 1:
            top = nodes[top].inputs[0]
    x = _of_terms(graph, top)
    x = _of_differences(graph, top) if x is None else x
    if x is None or graph.only_consumer(source) != index:
        return
    node, before = nodes[source], nodes[source].inputs
    graph.replace(source, Node("cdist", {}, [x], node.path, node.out), [])
    graph.forsake(before)


def _of_terms(graph: Rewriter, top: int) -> int | None:
    """The x of a node that is x^2 - 2 x e + e^2, in any order."""
    terms = list(_terms(graph, top, 1, _FARTHEST))
    learned = [graph.nodes[item].notes.get("squares_of") for item, sign in terms if sign == 0]
    products = [item for item, sign in terms if sign and graph.nodes[item].kind == "linear"]
    squares = [item for item, sign in terms if sign and graph.nodes[item].kind == "sum"]
    if len(terms) != 3 or not (len(learned) == len(products) == len(squares) == 1):
        return None
    signs = dict(terms)
    product, total = graph.nodes[products[0]], graph.nodes[squares[0]]
    square = graph.nodes[total.inputs[0]] if len(total.inputs) == 1 else total
    same = square.inputs == product.inputs and len(product.inputs) == 1
    of_table = learned[0] is not None and learned[0] == product.notes.get("weight")
    negative = signs[products[0]] < 0 < signs[squares[0]] and not product.attributes["bias"]
    is_square = square.kind == "pow" and square.attributes.get("exponent") == _EUCLIDEAN
    return product.inputs[0] if same and of_table and negative and is_square else None


def _terms(graph: Rewriter, index: int, sign: int, steps: int) -> Iterator[tuple[int, int]]:
    """The terms of a sum with their signs; 0 for what is learned, by the node that adds it."""
    node = graph.nodes[index]
    if node.kind == "add" and node.attributes == {"operand": "param"} and sign > 0 and steps:
        yield index, 0
        yield from _terms(graph, node.inputs[0], sign, steps - 1)
    elif node.kind in ("add", "sub") and not node.attributes and len(node.inputs) == 2 and steps:
        one, other = node.inputs
        yield from _terms(graph, one, sign, steps - 1)
        yield from _terms(graph, other, sign if node.kind == "add" else -sign, steps - 1)
    else:
        yield index, sign


def _of_differences(graph: Rewriter, top: int) -> int | None:
    """The x of a node that is the length of x - e or its square."""
    node, kinds = graph.nodes[top], ["linalg_vector_norm"]
    if node.notes.get("axes") != "last" or len(node.inputs) != 1 or "ord" in node.notes:
        return None
    if node.kind == "sum":
        power = graph.nodes[node.inputs[0]]
        if power.kind != "pow" or power.attributes.get("exponent") != _EUCLIDEAN:
            return None
        kinds, node = ["sum"], power
    elif node.kind != kinds[0]:
        return None
    difference = graph.nodes[node.inputs[0]] if len(node.inputs) == 1 else node
    if difference.kind != "sub" or difference.attributes != {"operand": "param"}:
        return None
    table = tuple(difference.notes.get("operand_shape", ()))[-2:]
    compared = len(table) == 2 and min(table) > 1 and difference.shape[-2:] == table
    spread = graph.nodes[difference.inputs[0]].size * table[0] == difference.size if compared else 0
    return difference.inputs[0] if spread else None


declare(
    Rule(
        name="look-ups by products",
        effect="fused",
        pattern="a product of ones at computed ids and zeros elsewhere with a learned table",
        result="embedding(vocabulary, width)",
        reason="F.one_hot(ids) @ table is table[ids].",
        source="van den Oord et al. 2017, arXiv 1711.00937, section 3.1",
    )
)


@on_calls(None, "scatter")
def _scattered(call: Call) -> tuple[str, Attributes] | None:
    nothing = call.sources[0] == CONST and call.number(0) == 0.0
    ids = call.args[2]
    dim = int(call.args[1]) % max(ids.dim(), 1)
    one = dim == ids.dim() - 1 and ids.shape[-1] == 1
    call.notes["one_hot"] = nothing and one and call.number(3) == 1.0
    return "scatter", {}


@starts_at(None, "eq", "scatter")
def _by_product(graph: Rewriter, index: int) -> None:
    node = graph.nodes[index]
    if not node.notes.get("one_hot") or len(node.inputs) != 1:
        return
    for reader in list(graph.readers(index)):
        layer = graph.nodes[reader]
        if layer.kind != "linear" or layer.inputs != [index] or "experts" in layer.attributes:
            continue
        if not graph.is_straight(reader, index) or graph.shift(reader, index) > 0:
            continue
        if layer.attributes["bias"] or layer.attributes["in"] != node.shape[-1]:
            continue
        said = {"vocabulary": layer.attributes["in"], "width": layer.attributes["out"]}
        rows = Node("embedding", said, node.inputs, layer.path, layer.out)
        rows.notes["made_of"] = TOKENS
        graph.replace(reader, rows, [])
    graph.forsake([index])
