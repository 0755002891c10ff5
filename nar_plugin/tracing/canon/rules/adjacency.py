"""Sums over neighbours in a graph, by a matrix or by a list of edges."""

from __future__ import annotations

from nar_plugin.tracing.canon.call import Call
from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node
from nar_plugin.tracing.canon.rules.expansions import Emit
from nar_plugin.tracing.canon.rules.rule import Rule, declare, expands, starts_at
from nar_plugin.tracing.record.record import CONST, PARAM

declare(
    Rule(
        name="sparse products",
        effect="renamed",
        pattern="torch.sparse.mm, torch.spmm, torch.sparse.addmm to zeros",
        result="matmul, or a linear layer where one factor is a weight",
        reason="Most of an adjacency matrix is zero, or it is stored whole: one function.",
        source="Kipf & Welling 2017, arXiv 1609.02907, Eq. 2",
    )
)


@expands(None, "_sparse_addmm")
def _sparse_product(call: Call, emit: Emit) -> int | None:
    if len(call.tensors) != 3 or call.sources[0] != CONST:
        return None
    if max(call.sources) in (CONST, PARAM):
        return None  # a table's rows, mixed along edges: no dense product does it to weights alone
    return emit(call.part("mm", [1, 2]))


@starts_at(
    Rule(
        name="sums over edges",
        effect="fused",
        pattern="rows gathered at places that come in and added up at places that come in, at "
        "once or times a number for each that comes in",
        result="matmul",
        reason="It is the product with the adjacency matrix of these edges. Where the forward "
        "computes weights of edges, both stay what they are.",
        source="Kipf & Welling 2017, arXiv 1609.02907, Eq. 2",
    ),
    "scatter_add",
)
def _sum_over_edges(graph: Rewriter, index: int) -> None:
    nodes, inside = graph.nodes, []
    place = nodes[index].inputs[0] if len(nodes[index].inputs) == 1 else index
    if nodes[place].kind == "mul" and len(nodes[place].inputs) == 1 and not nodes[place].attributes:
        inside.append(place)
        (place,) = nodes[place].inputs
    gathered = nodes[place]
    if gathered.kind != "gather" or len(gathered.inputs) != 1 or not gathered.notes.get("of_rows"):
        return
    inside.append(place)
    dims = {nodes[item].notes.get("rows_of") for item in (index, place)} - {None}
    if len(dims) > 1 or any(graph.shift(item, place) > 0 for item in inside[:-1] or [index]):
        return
    if graph.serves_only(inside, index):
        node = nodes[index]
        graph.replace(index, Node("matmul", {}, gathered.inputs, node.path, node.out), inside)
