"""Softmax that is written out."""

from __future__ import annotations

from nar_plugin.tracing.canon.call import Call
from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node
from nar_plugin.tracing.canon.rules.rule import Attributes, Rule, declare, on_calls, starts_at

_LARGEST = 1e-2  # number that is added to a sum lest it be zero
# From what is minus infinity to the choice between zeros and a softmax.
_MASKED = ["logical_not", "any", "logical_not", "where"]


@starts_at(
    Rule(
        name="softmax by hand",
        effect="fused",
        pattern="exp(x) / sum(exp(x)), also of x - max(x), with a mask and with two exponentials; "
        "exp(x - logsumexp(x))",
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
    if graph.other_values(last, total, weights) or not graph.meets(last, weights, total, total):
        return
    if max(graph.shift(last, weights), graph.shift(total, weights)) > 0:
        return
    if graph.shift(last, total) > _LARGEST:
        return
    (x,) = nodes[index].inputs
    if nodes[x].kind == "sub" and graph.only_consumer(x) == index:
        shift = nodes[x].inputs[-1]
        if nodes[shift].kind == "max" and _is_less(graph, x, shift):
            if not _is_one_number(graph, shift, total):
                return
            inside += [x, shift]
            x = nodes[x].inputs[0]
    _replace(graph, last, [*inside, total], x, total)


@starts_at(None, "div")
def _of_two_exponentials(graph: Rewriter, index: int) -> None:
    """exp(x) / sum(exp(x)), the exponential being computed twice."""
    nodes, inputs = graph.nodes, graph.nodes[index].inputs
    if len(inputs) != 2 or nodes[inputs[1]].kind != "sum":
        return
    weights, total = inputs
    again = nodes[total].inputs[0] if len(nodes[total].inputs) == 1 else weights
    if {nodes[weights].kind, nodes[again].kind} != {"exp"} or weights == again:
        return
    if graph.only_consumer(again) == total and _are_one_exponential(graph, weights, again):
        graph.redirect(total, 0, weights)
        nodes[total].reads = []
        graph.forsake([again])
        _softmax(graph, weights)


def _are_one_exponential(graph: Rewriter, one: int, other: int) -> bool:
    said = [graph.nodes[item].notes.get("of") for item in (one, other)]
    if said[0] is None or said[1] is None or said[0].scaled != said[1].scaled:
        return False
    inside = [graph.nodes[item].inputs[0] for item in (one, other)]
    if inside[0] == inside[1]:
        return bool(said[0] == said[1])
    whole = [graph.nodes[item].size for item in inside] == [of.size for of in said if of]
    return whole and _are_one_difference(graph, *inside)


def _are_one_difference(graph: Rewriter, one: int, other: int) -> bool:
    """Whether two nodes are one, or both x - max(x) of one x."""
    nodes = graph.nodes
    if one == other:
        return True
    both = (one, other)
    if any(nodes[item].kind != "sub" or len(nodes[item].inputs) != 2 for item in both):
        return False
    x, shift = zip(*(nodes[item].inputs for item in both), strict=True)
    maxima = all(nodes[item].kind == "max" and nodes[item].inputs == [x[0]] for item in shift)
    axes = [(nodes[item].notes.get("dims"), nodes[item].notes.get("shape")) for item in shift]
    terms = [nodes[item].notes.get("terms", [None])[0] for item in both]
    same = axes[0] == axes[1] and terms[0] == terms[1] is not None
    return maxima and x[0] == x[1] and same


declare(
    Rule(
        name="log-softmax by hand",
        effect="fused",
        pattern="x - logsumexp(x), log(softmax(x)), x - log(sum(exp(x))), also of x - max(x); "
        "log(sigmoid(x))",
        result="log_softmax; log_sigmoid_forward",
        reason="One function. The exponential of it is the softmax again.",
        source="https://docs.pytorch.org/docs/stable/generated/torch.nn.LogSoftmax.html",
    )
)


@starts_at(None, "logsumexp")
def _of_logarithms(graph: Rewriter, index: int) -> None:
    nodes, difference = graph.nodes, graph.only_consumer(index)
    if difference is None or nodes[difference].kind != "sub":
        return
    if not _is_less(graph, difference, index):
        return
    last, (x, *_) = graph.only_consumer(difference), nodes[difference].inputs
    if not graph.meets(difference, x, index, index) or not _is_equal(graph, difference):
        return
    if last is not None and nodes[last].kind == "exp":
        of = nodes[last].notes.get("of")
        if of is not None and of.scaled != (1.0, 0.0):
            return
        _replace(graph, last, [index, difference], nodes[index].inputs[0], index)
    elif _is_plain(nodes[difference], difference=True):
        _log_softmax(graph, difference, nodes[index].inputs[0], nodes[index])


@starts_at(None, "log")
def _logarithm(graph: Rewriter, index: int) -> None:
    nodes, (source, *others) = graph.nodes, graph.nodes[index].inputs or [index]
    if others or graph.only_consumer(source) != index or not nodes[index].notes.get("plain"):
        return
    if nodes[source].kind == "softmax":
        whole = Node("log_softmax", {}, nodes[source].inputs, nodes[index].path, nodes[index].out)
        whole.notes["last"] = nodes[source].notes.get("last")
        graph.replace(index, whole, [source])
    elif nodes[source].kind == "sigmoid":
        kind, path = "log_sigmoid_forward", nodes[index].path
        graph.replace(index, Node(kind, {}, nodes[source].inputs, path, nodes[index].out), [source])
    elif nodes[source].kind == "sum":
        _log_of_sum(graph, index, source)


def _log_of_sum(graph: Rewriter, index: int, total: int) -> None:
    """Match x - log(sum(exp(x))), also of y = x - max(x), and x - (max(x) + log(sum(exp(y))))."""
    nodes, exponential = graph.nodes, _only_input(graph, total)
    if exponential is None or nodes[exponential].kind != "exp":
        return
    of = nodes[exponential].notes.get("of")
    if graph.only_consumer(exponential) != total or of is None or of.scaled != (1.0, 0.0):
        return
    z, last = nodes[exponential].inputs[0], graph.only_consumer(index)
    x, shift = _unshifted(graph, z, total)
    if last is not None and nodes[last].kind == "add" and shift is not None:
        if not _adds_maximum(graph, last, x, shift):
            return
        z, last = x, graph.only_consumer(last)
    if last is None or nodes[last].kind != "sub":
        return
    taken, left = nodes[last].inputs[-1], nodes[last].inputs[0]
    leads = taken == index or index in nodes[taken].inputs
    if not graph.meets(last, left, taken, total) or graph.other_values(last, exponential, z):
        return
    if leads and _is_plain(nodes[last], difference=True) and _are_one_difference(graph, left, z):
        _log_softmax(graph, last, x, nodes[total])


def _only_input(graph: Rewriter, index: int) -> int | None:
    """The one input of a node."""
    inputs = graph.nodes[index].inputs
    return inputs[0] if len(inputs) == 1 else None


def _adds_maximum(graph: Rewriter, index: int, x: int, shift: int) -> bool:
    """Whether a sum adds the maximum of x that was taken away before."""
    dims = graph.nodes[shift].notes.get("dims")
    terms = [graph.nodes[item] for item in graph.nodes[index].inputs]
    maxima = [node for node in terms if node.kind == "max" and node.inputs == [x]]
    same = [node.notes.get("dims") == dims for node in maxima]
    return same == [True] and _is_plain(graph.nodes[index])


def _is_one_number(graph: Rewriter, maximum: int, total: int) -> bool:
    """Whether a maximum is one number for all values that are added up to one sum."""
    one, other = graph.nodes[maximum].notes, graph.nodes[total].notes
    known = "dims" in one and "dims" in other and one["shape"] == other["shape"]
    return not known or set(one["dims"]) >= set(other["dims"])


def _is_equal(graph: Rewriter, index: int) -> bool:
    """Whether a difference reads both terms times one number."""
    reads = graph.nodes[index].reads
    return len({round(read.scaled.scale, 3) for read in reads}) <= 1


def _unshifted(graph: Rewriter, index: int, total: int) -> tuple[int, int | None]:
    """Both x and max(x) where a node is their difference; else the node itself."""
    node = graph.nodes[index]
    if node.kind == "sub" and len(node.inputs) == 2:
        x, shift = node.inputs
        alike = graph.nodes[shift].kind == "max" and graph.nodes[shift].inputs == [x]
        if alike and _is_one_number(graph, shift, total):
            return x, shift
    return index, None


def _is_plain(node: Node, *, difference: bool = False) -> bool:
    """Whether a sum's terms are as they were made; of a difference of as many dimensions."""
    terms, shapes = node.notes.get("terms", []), node.notes.get("shapes", [])
    ranks = {len(shape) for shape in shapes}
    return (
        len(terms) == 2
        and all(term.plain for term in terms)
        and not (difference and len(ranks) > 1)
    )


def _log_softmax(graph: Rewriter, last: int, x: int, reduction: Node) -> None:
    node, before = graph.nodes[last], list(graph.nodes[last].inputs)
    whole = Node("log_softmax", {}, [x], node.path, node.out)
    whole.notes["last"] = reduction.notes.get("axes") == "last"
    graph.replace(last, whole, [])
    graph.forsake(before)


@on_calls(None, "log_softmax", "_log_softmax")
def _named(call: Call) -> tuple[str, Attributes] | None:
    dim = call.args[1] if len(call.args) > 1 else call.kwargs.get("dim", -1)
    call.notes["last"] = dim in (-1, call.tensors[0].dim() - 1)
    return "log_softmax", {}


@starts_at(None, "exp")
def _of_log_softmax(graph: Rewriter, index: int) -> None:
    source, of = _only_input(graph, index), graph.nodes[index].notes.get("of")
    if source is None or of is None or graph.nodes[source].kind != "log_softmax":
        return
    node, before = graph.nodes[index], graph.nodes[source]
    if of.scaled == (1.0, 0.0) and graph.only_consumer(source) == index:
        whole = Node("softmax", {}, before.inputs, node.path, node.out)
        whole.notes["last"] = before.notes.get("last")
        graph.replace(index, whole, [source])


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
    if not graph.meets(difference, sources[0], reduced, reduced):
        return False
    return graph.only_consumer(reduced) == difference


def _replace(graph: Rewriter, last: int, inside: list[int], x: int, reduction: int) -> None:
    node = graph.nodes[last]
    whole = Node("softmax", {}, [x], node.path, node.out)
    whole.notes["last"] = graph.nodes[reduction].notes.get("axes") == "last"
    graph.replace(last, whole, inside)
