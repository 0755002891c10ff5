"""Layers of one input that are written as one layer or as several."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node
from nar_plugin.tracing.canon.rules.rule import Rule, starts_at

PACKABLE = frozenset({"linear", "conv"})
# What may stand between a projection and its attention, between a layer and its product.
_TO_ATTENTION = frozenset("layer_norm rms_norm l2_norm rotary mul".split())
_TO_PRODUCT = frozenset(
    """
    sigmoid tanh relu silu gelu quick_gelu mish elu celu selu leaky_relu hardsigmoid hardswish
    hardtanh softplus
    """.split()
)
_FEATURE_MAPS = _TO_PRODUCT | {"softmax", "exp"}  # of the keys and queries of linear attention
_FARTHEST = 4
_FEWEST = 2  # heads of a list
_PARTS = 3  # query, key, value


@starts_at(
    Rule(
        name="biases of query and value",
        effect="fused",
        pattern="one projection without a bias before attention, then a learned vector added to "
        "query and to value",
        result="the projection with a bias",
        reason="BEiT writes such a layer with a bias whose part for the keys is zero.",
        source="Bao et al. 2022, arXiv 2106.08254, and its code",
    ),
    "attention",
    finishing=True,
)
def _part_biases(graph: Rewriter, index: int) -> None:
    nodes, inputs = graph.nodes, graph.nodes[index].inputs
    if len(inputs) < 3:
        return
    query, value = (_part_bias(graph, inputs[place]) for place in (0, 2))
    if query is None or value is None or query == value:
        return
    if nodes[query].inputs == nodes[value].inputs:
        nodes[nodes[query].inputs[0]].attributes["bias"] = True
        graph.bypass(query)
        graph.bypass(value)


def _part_bias(graph: Rewriter, index: int) -> int | None:
    """The learned vector that is added to a part of a layer, through what may follow it."""
    for _ in range(_FARTHEST):
        node = graph.nodes[index]
        if len(node.inputs) != 1:
            return None
        layer = graph.nodes[node.inputs[0]]
        if node.kind == "add" and layer.kind in PACKABLE and not layer.attributes["bias"]:
            part = 1 < node.notes.get("operand_size", 0) < int(layer.attributes["out"])
            return index if part else None
        if node.kind not in _TO_ATTENTION:
            return None
        index = node.inputs[0]
    return None


@starts_at(
    Rule(
        name="a matrix for each head",
        effect="renamed",
        pattern="a batched product of one input with a matrix for each head, read by attention of "
        "as many heads as query, key or value",
        result="linear(in, out), as wide as all heads",
        reason="Experts are told apart by a router, heads by the attention that reads them.",
        source="Vaswani et al. 2017, arXiv 1706.03762, section 3.2.2",
    ),
    "attention",
    finishing=True,
)
def _matrices_of_heads(graph: Rewriter, index: int) -> None:
    nodes, heads = graph.nodes, graph.nodes[index].attributes["heads"]
    for item in set(graph.nodes[index].inputs[:_PARTS]):
        layer = _layer(graph, item, _TO_ATTENTION)
        if layer is None or nodes[layer].attributes.get("experts") != heads:
            continue
        said, read = {**nodes[layer].attributes}, nodes[layer].inputs
        if read and nodes[read[0]].shape[-1] != said["in"]:
            continue  # each head has a part of its own
        said["out"] = int(said["out"]) * int(said.pop("experts"))
        nodes[layer].attributes = said


@starts_at(
    Rule(
        name="packed projections",
        effect="fused",
        pattern="linear layers or convolutions of one input, alike but for their widths, before "
        "one attention as query, key or value; norms, scales and rotary positions between",
        result="one layer as wide as all",
        reason="qkv in one layer or in three: one product with a larger matrix. A bias that the "
        "key alone lacks is no difference, since it moves all scores of a query alike; the "
        "attention states heads and widths, so that grouped heads still show.",
        source="Vaswani et al. 2017, arXiv 1706.03762, section 3.2.2",
    ),
    "attention",
    "linear_attention",
    finishing=True,
)
def _projections(graph: Rewriter, index: int) -> None:
    inputs = graph.nodes[index].inputs[:3]
    linear = graph.nodes[index].kind == "linear_attention"
    between = _TO_ATTENTION | _FEATURE_MAPS if linear else _TO_ATTENTION
    layers = [_layer(graph, item, between) for item in inputs]
    # Without a softmax a bias of the keys is one.
    alone = not linear and len(inputs) == 3 and inputs.count(inputs[1]) == 1
    _pack(graph, layers, key=inputs[1] if alone else None)


@starts_at(
    Rule(
        name="packed gates",
        effect="fused",
        pattern="two linear layers or convolutions of one input, alike, that are the factors of "
        "one product; activations between",
        result="one layer as wide as both",
        reason="Gate and value in one layer (Phi-3) or in two (LLaMA): one product with a larger "
        "matrix.",
        source="Shazeer 2020, arXiv 2002.05202, Eq. 5",
    ),
    "mul",
    finishing=True,
)
def pack_gate(graph: Rewriter, index: int) -> None:
    """Make one layer of the two that give the factors of a product."""
    factors = graph.nodes[index].inputs
    layers = [_layer(graph, item, _TO_PRODUCT) for item in factors]
    said = [graph.nodes[layer].attributes for layer in layers if layer is not None]
    if len(factors) == len(said) == 2 and said[0] == said[1]:
        _pack(graph, layers)


@starts_at(
    Rule(
        name="heads one by one",
        effect="fused",
        pattern="attentions of one head, alike, that read layers of one input and are joined",
        result="layers as wide as all, and one attention of as many heads",
        reason="A list of heads with a matrix each, as the paper has it, or one larger matrix.",
        source="Vaswani et al. 2017, arXiv 1706.03762, section 3.2.2",
    ),
    "cat",
    finishing=True,
)
def _heads_one_by_one(graph: Rewriter, index: int) -> None:
    nodes, heads = graph.nodes, graph.nodes[index].inputs
    if len(heads) < _FEWEST or not nodes[index].notes.get("of_features"):
        return
    first = nodes[heads[0]]
    if first.kind != "attention" or len(first.inputs) != _PARTS:
        return
    for head in heads:
        node = nodes[head]
        alike = (node.kind, node.attributes) == (first.kind, first.attributes)
        if not alike or len(node.inputs) != _PARTS or graph.only_consumer(head) != index:
            return
    columns = list(zip(*(nodes[head].inputs for head in heads), strict=True))
    if not all(_are_one(graph, layers, heads) for layers in columns):
        return
    width, value = int(first.attributes["width"]), int(first.attributes["value_width"])
    if sum(int(nodes[layer].attributes["out"]) for layer in set(first.inputs)) != 2 * width + value:
        return
    for layers in dict.fromkeys(columns):
        _merge(graph, list(layers), None)
    whole = {**first.attributes, "heads": len(heads)}
    inputs = [layers[0] for layers in columns]
    node = Node("attention", whole, inputs, first.path, nodes[index].out, notes=first.notes)
    graph.replace(index, node, heads)


@starts_at(
    Rule(
        name="groups one by one",
        effect="fused",
        pattern="convolutions, alike, of the parts of one value's channels, that are joined",
        result="one convolution of as many groups",
        reason="A list of paths, or the groups of one layer.",
        source="Xie et al. 2017, arXiv 1611.05431, Figure 3",
    ),
    "cat",
)
def _groups_one_by_one(graph: Rewriter, index: int) -> None:
    nodes, parts = graph.nodes, graph.nodes[index].inputs
    first = nodes[parts[0]] if len(parts) >= _FEWEST else None
    if first is None or first.kind != "conv" or nodes[index].notes.get("dim") != 1:
        return
    alike = [nodes[part].attributes == first.attributes for part in parts]
    alone = [graph.only_consumer(part) == index for part in parts]
    sources = {tuple(nodes[part].inputs) for part in parts}
    places = [nodes[part].notes.get("place", ()) for part in parts]
    if not (all(alike) and all(alone) and _are_apart(graph, parts)) or len(sources) > 1:
        return
    if (
        any(len(place) < 4 for place in places)
        or len({place[:2] + place[3:] for place in places}) > 1
    ):
        return
    size = places[0][3]
    step = size // first.out.shape[0]
    offsets = sorted(place[2] for place in places)
    if any(second - one != step for one, second in pairwise(offsets)):
        return
    whole = dict(first.attributes)
    for name in ("in", "out", "groups"):
        whole[name] = int(whole[name]) * len(parts)
    node = Node("conv", whole, first.inputs, first.path, nodes[index].out)
    graph.replace(index, node, list(parts))


def _are_one(graph: Rewriter, layers: tuple[int, ...], heads: list[int]) -> bool:
    """Whether layers, one for each head and read by it alone, are parts of one."""
    nodes = [graph.nodes[layer] for layer in layers]
    said = [(node.kind, node.attributes, node.notes.get("place")) for node in nodes]
    alike = (
        nodes[0].kind in PACKABLE and said[0][2] is not None and said.count(said[0]) == len(said)
    )
    pairs = zip(layers, heads, strict=True)
    return (
        alike
        and _are_apart(graph, layers)
        and all(graph.only_consumer(layer) == head for layer, head in pairs)
    )


def _layer(graph: Rewriter, index: int, between: frozenset[str]) -> int | None:
    """The layer that a value comes from, through nodes that change no width."""
    for _ in range(_FARTHEST):
        node = graph.nodes[index]
        if node.kind in PACKABLE:
            known = "place" in node.notes and node.attributes.get("groups", 1) == 1
            return index if known else None
        if node.kind not in between or len(node.inputs) != 1:
            return None
        index = node.inputs[0]
    return None


def _pack(graph: Rewriter, layers: Iterable[int | None], key: int | None = None) -> None:
    """Make one layer of those that read one place and are alike but for their widths.

    Args:
        graph: The graph.
        layers: Indices of layers.
        key: The one whose bias makes no difference.
    """
    places: dict[object, list[int]] = {}
    for layer in sorted({layer for layer in layers if layer is not None}):
        places.setdefault(graph.nodes[layer].notes["place"], []).append(layer)
    for members in places.values():
        biases = {graph.nodes[layer].attributes["bias"] for layer in members if layer != key}
        alike: dict[tuple[object, ...], list[int]] = {}
        for layer in members:
            node = graph.nodes[layer]
            said = {name: value for name, value in node.attributes.items() if name != "out"}
            if layer == key and len(biases) == 1:
                (said["bias"],) = biases
            alike.setdefault((node.kind, *sorted(said.items())), []).append(layer)
        for same in alike.values():
            if len(same) > 1 and _are_apart(graph, same):
                _merge(graph, same, key)


def _are_apart(graph: Rewriter, layers: Iterable[int]) -> bool:
    """Whether layers have weights of their own: one that is read twice is no wider one."""
    weights = [graph.nodes[layer].notes.get("weight") for layer in layers]
    known = [weight for weight in weights if weight is not None]
    return len(set(known)) == len(known)


def _merge(graph: Rewriter, layers: list[int], key: int | None) -> None:
    nodes = [graph.nodes[layer] for layer in layers]
    first = nodes[0]
    attributes = {
        **first.attributes,
        "out": sum(int(node.attributes["out"]) for node in nodes),
        "bias": any(graph.nodes[layer].attributes["bias"] for layer in layers if layer != key),
    }
    whole = Node(first.kind, attributes, first.inputs, first.path, first.out, notes=first.notes)
    graph.merge(layers, whole)
