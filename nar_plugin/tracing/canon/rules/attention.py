"""Scaled dot-product attention, by kernel or by hand."""

from __future__ import annotations

from typing import Any

from nar_plugin.tracing.canon.call import Call
from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node
from nar_plugin.tracing.canon.rules.rule import Attributes, Rule, on_calls, starts_at
from nar_plugin.tracing.graph import Attribute
from nar_plugin.tracing.record.record import CONST
from nar_plugin.tracing.vocabulary import ATTENTION_KERNELS

_BETWEEN = frozenset("add sub mul div where masked_fill".split())  # scores and softmax
_FARTHEST = 5
_MOST_PARTS = 12  # operations on parts of scores
_OF_PRODUCTS = frozenset({"matmul", "linear_attention"})  # powers of a matrix are no attention


@on_calls(
    Rule(
        name="attention kernels",
        effect="renamed",
        pattern="scaled_dot_product_attention of every backend, causal, masked or not",
        result="attention(heads, width, value_width, bias)",
        reason="A mask is no layer; grouped heads show in the widths of keys and values before.",
        source="Vaswani et al. 2017, arXiv 1706.03762, Eq. 1",
    ),
    *ATTENTION_KERNELS,
)
def _kernel(call: Call) -> tuple[str, Attributes] | None:
    query, value = call.tensors[0], call.tensors[2]
    four = query.dim() > 3
    call.notes["heads_known"] = four
    return "attention", {
        "heads": int(query.shape[1]) if four else call.head_counts.get(id(query), 1),
        "width": int(query.shape[-1]),
        "value_width": int(value.shape[-1]),
        "bias": len(call.tensors) > 3 and call.sources[3] != CONST,
    }


@on_calls(None, "softmax", "_softmax", "_safe_softmax")
def _softmax(call: Call) -> tuple[str, Attributes] | None:
    dim = call.args[1] if len(call.args) > 1 else call.kwargs.get("dim", -1)
    call.notes["last"] = dim in (-1, call.tensors[0].dim() - 1)
    return "softmax", {}


@starts_at(
    Rule(
        name="attention by hand",
        effect="fused",
        pattern="softmax(q @ k + masks and biases) @ v, by matmul, bmm or einsum",
        result="attention(heads, width, value_width, bias)",
        reason="Eager or fused; a learned bias on the scores is kept as `bias`.",
        source="Vaswani et al. 2017, arXiv 1706.03762, Eq. 1",
    ),
    "softmax",
)
def _attention(graph: Rewriter, softmax: int) -> None:
    nodes = graph.nodes
    output = graph.only_consumer(softmax)
    if output is None or nodes[output].kind != "matmul" or len(nodes[output].inputs) != 2:
        return
    if not nodes[softmax].notes.get("last") or not nodes[softmax].inputs:
        return
    if graph.shift(output, softmax) > 0:
        return
    walked, bias, learned = _scores(graph, nodes[softmax].inputs[0])
    if not walked:
        return
    scores = walked[-1]
    left, right = nodes[output].inputs
    on_left = left == softmax
    turned = nodes[output].notes["transposed"][0 if on_left else 1]
    if turned is on_left:  # the weights of a key, not of a query
        return
    value = right if on_left else left
    of_scores, of_output = nodes[scores].notes, nodes[output].notes
    width = int(of_scores["inner"])
    attributes: dict[str, Attribute] = {
        "heads": int(of_scores["heads"] or of_output["heads"] or 1),
        "width": width,
        "value_width": int(of_output["outer"]) if on_left else width,
        "bias": bool(bias) or learned,
    }
    inputs = [*nodes[scores].inputs, value, *bias]
    node = Node("attention", attributes, inputs, nodes[softmax].path, nodes[output].out)
    node.notes = {"keys": of_output["inner"] if on_left else None}
    graph.replace(output, node, [*walked, softmax])


def _scores(graph: Rewriter, current: int) -> tuple[list[int], list[int], bool]:
    """From the softmax up to the product of queries and keys.

    Returns:
        The nodes on the way with the product last, or none; live biases; whether one is learned.
    """
    nodes = graph.nodes
    walked: list[int] = []
    bias: list[int] = []
    learned = False
    while nodes[current].kind in _BETWEEN and nodes[current].inputs:
        if graph.only_consumer(current) is None or len(walked) >= _FARTHEST:
            return [], [], False
        walked.append(current)
        learned = learned or nodes[current].attributes.get("operand") == "param"
        inputs = nodes[current].inputs
        scores = next((item for item in inputs if leads_to_product(nodes, item)), inputs[0])
        bias.extend(item for item in inputs if item != scores)
        current = scores
    if nodes[current].kind == "cat":
        parts, biases, of_parts = _parts_of_scores(graph, current)
        return [*walked, *parts] if parts else [], [*bias, *biases], learned or of_parts
    if nodes[current].kind != "matmul" or graph.only_consumer(current) is None:
        return [], [], False
    return [*walked, current], bias, learned


def _parts_of_scores(graph: Rewriter, joined: int) -> tuple[list[int], list[int], bool]:
    """The same from where parts of one product are joined, some of them with a bias.

    MViT adds its biases to the scores of all tokens but the first.
    """
    nodes = graph.nodes
    inside, bias, products = [joined], [], set()
    for place in inside:  # grows
        for item in nodes[place].inputs:
            scores = leads_to_product(nodes, item)
            if nodes[item].kind == "matmul":
                products.add(item)
            elif not scores and nodes[place].kind == "cat":
                return [], [], False
            elif not scores:
                bias.append(item)
            elif item not in inside:
                inside.append(item)
        if len(inside) > _MOST_PARTS:
            return [], [], False
    members = set(inside)
    alone = all(members.issuperset(graph.readers(item)) for item in (*inside[1:], *products))
    if len(products) != 1 or not alone or graph.only_consumer(joined) is None:
        return [], [], False
    learned = any(nodes[place].attributes.get("operand") == "param" for place in inside)
    return [*inside, *products], bias, learned


def leads_to_product(nodes: list[Node], index: int) -> bool:
    """Whether a node is a score of queries and keys, masked, scaled or biased."""
    for _ in range(_FARTHEST + 1):
        if nodes[index].kind == "matmul":
            return True
        if nodes[index].kind not in (*_BETWEEN, "cat") or not nodes[index].inputs:
            return False
        index = nodes[index].inputs[0]
    return False


@starts_at(
    Rule(
        name="linear attention",
        effect="fused",
        pattern="(q @ k) @ v or q @ (k @ v) of values, also with constant decays on the scores",
        result="linear_attention",
        reason="Without a softmax a product has no order of work: the scores of all pairs first, "
        "or a state of keys and values first. A decay is a mask.",
        source="Katharopoulos et al. 2020, arXiv 2006.16236, Eq. 5; Sun et al. 2023, "
        "arXiv 2307.08621, Eq. 5",
    ),
    "matmul",
)
def _linear_attention(graph: Rewriter, index: int) -> None:
    nodes = graph.nodes
    output = nodes[index]
    if len(output.inputs) != 2:
        return
    products = [_product_before(graph, source) for source in output.inputs]
    if (products[0] is None) == (products[1] is None):
        return
    first = products[0] is not None
    walked = products[0] or products[1] or []
    inputs = [*nodes[walked[-1]].inputs, output.inputs[first]]
    if any(nodes[item].kind in _OF_PRODUCTS for item in inputs):
        return
    graph.replace(index, Node("linear_attention", {}, inputs, output.path, output.out), walked)


def _product_before(graph: Rewriter, index: int) -> list[int] | None:
    """From a factor up to the product that it is, through constants; None where it is none."""
    walked = [index]
    while graph.only_consumer(walked[-1]) is not None and len(walked) <= _FARTHEST:
        node = graph.nodes[walked[-1]]
        if node.kind == "matmul":
            return walked if len(node.inputs) == 2 else None
        if node.kind not in _BETWEEN or node.attributes.get("operand") != "const":
            return None
        walked += node.inputs[:1]
    return None


@starts_at(
    Rule(
        name="a matrix for the result of each head",
        effect="fused",
        pattern="attention, a batched product of each head's result with its own matrix, and the "
        "sum over the heads",
        result="attention and linear(in, out), `in` being as wide as all heads",
        reason="Joined heads times one matrix are the sum of the heads times its parts.",
        source="Vaswani et al. 2017, arXiv 1706.03762, section 3.2.2",
    ),
    "attention",
)
def _summed_heads(graph: Rewriter, index: int) -> None:
    nodes, heads = graph.nodes, graph.nodes[index].attributes["heads"]
    layer = graph.only_consumer(index)
    if layer is None or nodes[layer].attributes.get("experts") != heads:
        return
    last, said = graph.only_consumer(layer), dict(nodes[layer].attributes)
    if last is None or nodes[last].kind != "sum" or said["bias"]:
        return
    shape, dims = nodes[last].notes.get("shape", ()), nodes[last].notes.get("dims")
    if len(shape) != 4 or dims != [1] or shape[1] != heads:
        return
    said["in"] = int(said["in"]) * int(said.pop("experts"))
    whole = Node("linear", said, [index], nodes[layer].path, nodes[last].out)
    graph.replace(last, whole, [layer])


@starts_at(
    Rule(
        name="heads and direction of attention",
        effect="renamed",
        pattern="attention before a linear layer or 1x1 convolution, heads folded into the batch",
        result="heads = the layer's input width / width of one value; `over=channels` where that "
        "width fits the keys instead",
        reason="Shapes alone mix up heads, batch and windows; channel attention (XCiT) has as many "
        "'values' as positions, and a resolution must not show.",
        source="El-Nouby et al. 2021, arXiv 2106.09681, Eq. 3",
    ),
    "attention",
)
def _heads(graph: Rewriter, index: int) -> None:
    node = graph.nodes[index]
    reader = graph.only_consumer(index)
    entry: Any = graph.nodes[reader].attributes.get("in") if reader is not None else None
    if not entry:
        return
    heads, value = int(node.attributes["heads"]), int(node.attributes["value_width"])
    keys = node.notes.get("keys")
    if heads * value == entry:
        return
    if keys and heads * int(keys) == entry:
        node.attributes.update(width=int(keys), value_width=int(keys), over="channels")
    elif entry % value == 0:
        node.attributes["heads"] = entry // value


@starts_at(
    Rule(
        name="keys and values that come in",
        effect="dropped",
        pattern="cat of what comes into the model with keys or values, before one attention",
        result="",
        reason="A step of decoding with a cache is the design without.",
    ),
    "attention",
    finishing=True,
)
def _cache(graph: Rewriter, index: int) -> None:
    for place in (1, 2):
        inputs = graph.nodes[index].inputs
        joined = graph.nodes[inputs[place]] if place < len(inputs) else None
        if joined is None or joined.kind != "cat" or len(joined.inputs) != 1:
            continue
        if joined.notes.get("with_data") and graph.only_consumer(inputs[place]) == index:
            graph.bypass(inputs[place])


@starts_at(
    Rule(
        name="mask on a shared bias",
        effect="dropped",
        pattern="a constant added to a learned bias once, before several attentions read it",
        result="",
        reason="T5 adds its mask to the position bias once for all layers.",
    ),
    "attention",
    finishing=True,
)
def _shared_bias(graph: Rewriter, index: int) -> None:
    nodes = graph.nodes
    for place, bias in enumerate(nodes[index].inputs[3:], start=3):
        masked = nodes[bias].kind == "add" and nodes[bias].attributes.get("operand") == "const"
        if masked and all(nodes[reader].kind == "attention" for reader in graph.readers(bias)):
            graph.redirect(index, place, nodes[bias].inputs[0])


@starts_at(
    Rule(
        name="sums of biases",
        effect="fused",
        pattern="a sum that one attention alone reads, as its bias",
        result="attention with several biases",
        reason="Decomposed relative positions are added to the scores one by one or as one mask.",
        source="Li et al. 2022, arXiv 2112.01526, section 4.1",
    ),
    "attention",
    finishing=True,
)
def _sums_of_biases(graph: Rewriter, index: int) -> None:
    node = graph.nodes[index]
    waiting, biases, taken = list(node.inputs[3:]), [], []
    while waiting:
        bias = waiting.pop()
        if graph.nodes[bias].kind == "add" and graph.only_consumer(bias) == index:
            taken.append(bias)
            waiting.extend(graph.nodes[bias].inputs)
        else:
            biases.append(bias)
    inputs = [*node.inputs[:3], *sorted(biases)]
    if inputs != node.inputs:
        whole = Node(node.kind, node.attributes, inputs, node.path, node.out, notes=node.notes)
        graph.replace(index, whole, taken)
