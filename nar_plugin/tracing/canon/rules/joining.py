"""Sums and joins of several values that are written in steps."""

from __future__ import annotations

from nar_plugin.tracing.canon.call import Call
from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node
from nar_plugin.tracing.canon.rules.rule import Attributes, Rule, on_calls, starts_at
from nar_plugin.tracing.record.record import CONST, DATA, PARAM


@on_calls(
    Rule(
        name="parts of one tensor joined",
        effect="dropped",
        pattern="cat or stack of slices of one tensor, with a constant or with nothing",
        result="",
        reason="The rotated half of a rotary embedding, an empty cache, the features that a "
        "rotation leaves out where it leaves out none: values change places.",
    ),
    "cat",
    "stack",
    "hstack",
)
def _joined(call: Call) -> tuple[str, Attributes] | None:
    pairs = zip(call.tensors, call.sources, strict=True)
    call.sources = [source if tensor.numel() else CONST for tensor, source in pairs]
    dim = call.args[1] if len(call.args) > 1 else call.kwargs.get("dim", 0)
    dim = int(dim) % max(call.out.dim(), 1)
    call.notes["dim" if call.name == "cat" else "stacked"] = dim
    call.notes["shapes"] = call.shapes()
    call.notes["of_nodes"] = min(call.sources) >= 0
    call.notes["with_data"] = DATA in call.sources and PARAM not in call.sources
    call.notes["of_features"] = call.name == "cat" and dim == call.out.dim() - 1
    return None if len(set(call.sources) - {CONST}) == 1 else ("cat", {})


@starts_at(
    Rule(
        name="joined in steps",
        effect="fused",
        pattern="cat(cat(a, b), c) along one dimension",
        result="cat(a, b, c)",
        reason="DenseNets keep what is joined so far, or join all that there is at each layer.",
        source="Huang et al. 2017, arXiv 1608.06993, Eq. 2",
    ),
    "cat",
)
def _cat(graph: Rewriter, index: int) -> None:
    dim = graph.nodes[index].notes.get("dim")
    for place in reversed(range(len(graph.nodes[index].inputs))):
        inner = graph.nodes[graph.nodes[index].inputs[place]]
        if dim is not None and inner.kind == "cat" and inner.notes.get("dim") == dim:
            if inner.notes["of_nodes"] and is_read_whole(graph, index, place):
                graph.splice(index, place)


@starts_at(
    Rule(
        name="sum of a stack",
        effect="fused",
        pattern="sum or mean of a stack of values over them",
        result="add",
        reason="torch.stack([a, b]).sum(0) is a + b, and a mean differs by a number.",
    ),
    "sum",
    "mean",
)
def _sum_of_a_stack(graph: Rewriter, index: int) -> None:
    node = graph.nodes[index]
    stack = node.inputs[0] if len(node.inputs) == 1 else index
    notes = graph.nodes[stack].notes
    if not (notes.get("of_nodes") and "stacked" in notes) or graph.only_consumer(stack) != index:
        return
    if node.notes.get("dims") != [notes["stacked"]]:
        return
    alone = len(notes["shapes"]) == node.notes["shape"][notes["stacked"]]
    if alone and is_read_whole(graph, index, 0):
        whole = Node("add", {}, graph.nodes[stack].inputs, node.path, node.out)
        whole.notes["shapes"] = notes["shapes"]
        graph.replace(index, whole, [stack])


@starts_at(
    Rule(
        name="added in steps",
        effect="fused",
        pattern="(a + b) + c, a + b being read by this sum alone",
        result="add(a, b, c)",
        reason="A sum has no order.",
    ),
    "add",
    last=True,
)
def _added(graph: Rewriter, index: int) -> None:
    if graph.nodes[index].attributes:
        return
    for place in reversed(range(len(graph.nodes[index].inputs))):
        source = graph.nodes[index].inputs[place]
        inner = graph.nodes[source]
        if inner.kind != "add" or inner.attributes or len(inner.inputs) < 2:
            continue
        once = graph.only_consumer(source) == index
        once = once and graph.nodes[index].inputs.count(source) == 1
        if once and is_read_whole(graph, index, place):
            graph.splice(index, place)


def is_read_whole(graph: Rewriter, index: int, place: int) -> bool:
    """Whether a node reads an input as it was made, no part of it and not turned."""
    node = graph.nodes[index]
    if not graph.is_straight(index, node.inputs[place]):
        return False
    made = graph.nodes[node.inputs[place]].out
    if "shapes" in node.notes and len(node.notes["shapes"]) == len(node.inputs):
        return made is None or bool(made.shape == node.notes["shapes"][place])
    return made is None or ("shape" in node.notes and bool(made.shape == node.notes["shape"]))
