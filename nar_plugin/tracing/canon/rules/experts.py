"""Mixtures of experts: one layer of many matrices, however their tokens are brought to them."""

from __future__ import annotations

from typing import NamedTuple

from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node
from nar_plugin.tracing.canon.rules.packing import pack_gate
from nar_plugin.tracing.canon.rules.rule import Rule, starts_at

# Bring tokens to their experts and back; sums add up what experts give one by one.
_WAYS = frozenset({"gather", "index_put", "scatter_add"})
_SUMS = frozenset({"add", "index_put", "scatter_add"})
_INDICES = frozenset(
    """
    topk sort eq ne gt any where bitwise_and logical_and cumsum histc floor_divide trunc_divide
    """.split()
)
_OUTSIDE = frozenset({"index_put", "scatter_add", "scatter", "cat", "sum", "matmul", "attention"})
_LARGEST = 40  # operations of one expert
_FARTHEST = 24  # operations between a router's layer and the weights


class _Expert(NamedTuple):
    """What is computed for one expert alone.

    Attributes:
        body: Its operations, in order.
        x: What it reads: the tokens of all experts.
        places: Which part of x its layers read, where no tokens are brought to it.
        shape: The operations, and which of them read which; -1 is x.
    """

    body: list[int]
    x: int
    places: frozenset[object]
    shape: tuple[object, ...]


@starts_at(
    Rule(
        name="experts one by one",
        effect="fused",
        pattern="layers of one input, alike, as many as a router tells apart: each of its own "
        "tokens or of all, and joined or added up",
        result="the layers of one expert with `experts` matrices",
        reason="A loop over experts, or one batched product.",
        source="Shazeer et al. 2017, arXiv 1701.06538, Eq. 1",
    ),
    "cat",
    *sorted(_SUMS),
    finishing=True,
)
def _one_by_one(graph: Rewriter, index: int) -> None:
    nodes = graph.nodes
    parts = list(nodes[index].inputs) if nodes[index].kind == "cat" else _added_up(graph, index)
    count = len(parts)
    if count < 2 or len(set(parts)) < count:
        return
    weight, result = _weighted(graph, parts[0], count)
    said = _weights_later(graph, index, count) if weight is None else weight
    sorted_by = _sorted_by(graph, parts, count) if weight is None else None
    if said is None and sorted_by is None:
        return
    weights, results = zip(*(_weighted(graph, part, count) for part in parts), strict=True)
    if set(weights) != {weight} or (said is not None and _reads(graph, said, set(results))):
        return
    if weight is not None and not _are_apart(graph, parts, weight):
        return
    experts = [_expert(graph, each) for each in results]
    if sorted_by is not None:
        experts = [each and _of_rows(graph, each) for each in experts]
    first, *others = experts
    if first is None or any(other is None or other[1:] != first[1:] for other in others):
        return
    if weight is None:
        sources = list(nodes[index].inputs)
        graph.merge([result, index], nodes[result])
        graph.forsake(sources)
        _make_many(graph, first.body, count)
    else:
        _mix(graph, index, weight, result, count)


@starts_at(
    Rule(
        name="tokens to experts and back",
        effect="dropped",
        pattern="sorting, gathering and scattering around layers of many matrices whose results "
        "are weighted by a router and added up; the sum of k weights that the k were divided by",
        result="linear(experts), and a matmul of the router's weights with what they give",
        reason="All tokens times weights of zero, or each token to its experts alone: how it is "
        "computed, with one result. A softmax of the k largest is the softmax of all, of which "
        "the k largest are divided by their sum.",
        source="Shazeer et al. 2017, arXiv 1701.06538, Eq. 1 and 3; Lepikhin et al. 2020, arXiv "
        "2006.16668, Algorithm 1; Jiang et al. 2024, arXiv 2401.04088, section 2.1",
    ),
    "sum",
    "matmul",
    "scatter_add",
    finishing=True,
)
def _together(graph: Rewriter, index: int) -> None:
    nodes = graph.nodes
    product = index if nodes[index].kind == "matmul" else _back(graph, index, "mul")
    if product is None or len(nodes[product].inputs) != 2:
        return
    inputs = nodes[product].inputs
    for weight, result in (inputs, inputs[::-1]):
        layer = _back(graph, result, "linear")
        if layer is None or (count := int(nodes[layer].attributes.get("experts", 1))) == 1:
            continue
        weight = _of_router(graph, weight)
        if _router(graph, weight, count) is not None:
            _mix(graph, index, weight, _with_bias(graph, layer), count)
        return


def _back(graph: Rewriter, index: int, kind: str) -> int | None:
    """The operation of a kind that a value comes from, through ways and experts' biases."""
    for _ in range(4):
        node = graph.nodes[index]
        if node.kind == kind:
            return index
        through = node.kind in {*_WAYS, "sum"} or (node.kind == "add" and _has_bias(graph, index))
        inputs = [item for item in node.inputs if not _is_index(graph, item)]
        if not through or not inputs:
            return None
        index = inputs[-1] if node.kind in _SUMS else inputs[0]
    return None


def _is_index(graph: Rewriter, index: int) -> bool:
    """Whether a node says where tokens go, or whose parameters they meet, not what they hold."""
    node = graph.nodes[index]
    kinds = {graph.nodes[item].kind for item in node.inputs}
    return node.kind in _INDICES or (node.kind in _WAYS and kinds == {"sort"})


def _has_bias(graph: Rewriter, index: int) -> bool:
    """Whether a sum adds experts' biases, gathered for their tokens."""
    inputs = graph.nodes[index].inputs
    return len(inputs) == 2 and _is_index(graph, inputs[1])


def _with_bias(graph: Rewriter, layer: int) -> int:
    """The layer, or the sum that adds its bias."""
    reader = graph.only_consumer(layer)
    biased = reader is not None and graph.nodes[reader].kind == "add" and _has_bias(graph, reader)
    return reader if reader is not None and biased else layer


def _added_up(graph: Rewriter, index: int) -> list[int]:
    """What a chain of sums, each read by the chain alone, adds up; not where it goes."""
    chain, parts = {index}, []
    waiting = sorted(set(graph.nodes[index].inputs))
    while waiting:
        place = waiting.pop()
        node = graph.nodes[place]
        if node.kind in {*_SUMS, "gather"} and chain.issuperset(graph.readers(place)):
            chain.add(place)
            waiting = sorted({*waiting, *node.inputs})
        elif not _is_index(graph, place):
            parts.append(place)
    return parts[::-1]


def _weighted(graph: Rewriter, part: int, count: int) -> tuple[int | None, int]:
    """The router's weights and an expert's result, where a part is their product."""
    inputs = graph.nodes[part].inputs
    if graph.nodes[part].kind == "mul" and len(inputs) == 2:
        for weight, result in (inputs, inputs[::-1]):
            weight = _of_router(graph, weight)
            if _router(graph, weight, count) is not None and _router(graph, result, count) is None:
                return weight, result
    return None, part


def _are_apart(graph: Rewriter, parts: list[int], weight: int) -> bool:
    """Whether no two experts have one weight of the router's, where that is known."""
    reads = [graph.read(part, weight) for part in parts]
    known = {(read.place, read.order) for read in reads if read is not None}
    return None in reads or len(known) == len(reads)


def _weights_later(graph: Rewriter, index: int, count: int) -> int | None:
    """The router's weights where they meet what experts gave after it was joined."""
    for reader in graph.readers(index):
        node = graph.nodes[reader]
        others = [item for item in node.inputs if item != index]
        if node.kind in _WAYS and (weight := _weights_later(graph, reader, count)) is not None:
            return weight
        if node.kind in {"mul", "matmul"} and len(others) == 1:
            weight = _of_router(graph, others[0])
            return weight if _router(graph, weight, count) is not None else None
    return None


def _sorted_by(graph: Rewriter, parts: list[int], count: int) -> int | None:
    """Where a router's choice put the tokens of layers in the order of experts, if one did."""
    waiting, seen = list(parts), set(parts)
    while waiting and len(seen) < _LARGEST + count:
        place = waiting.pop()
        node = graph.nodes[place]
        if node.kind == "gather":
            for item in node.inputs:
                if _is_index(graph, item) and (found := _router(graph, item, count)) is not None:
                    return found
        elif node.kind == "linear" and place not in parts:
            return place if node.attributes.get("experts") == count else None
        elif node.kind not in _OUTSIDE:
            new = [item for item in node.inputs if item not in seen]
            seen.update(new)
            waiting += new
    return None


def _reads(graph: Rewriter, index: int, results: set[int]) -> bool:
    """Whether weights are computed from results: then they choose streams, no experts."""
    waiting, seen = [index], {index}
    while waiting:
        new = [item for item in graph.nodes[waiting.pop()].inputs if item not in seen]
        new = [item for item in new if item >= min(results)]
        seen.update(new)
        waiting += new
    return not seen.isdisjoint(results)


def _of_router(graph: Rewriter, index: int) -> int:
    """A router's weights before they are masked, scattered or put in the order of experts."""
    while True:
        node = graph.nodes[index]
        kinds = [graph.nodes[item].kind for item in node.inputs]
        values = [item for item in node.inputs if not _is_index(graph, item)]
        if node.kind == "gather" and kinds and "topk" not in kinds[1:]:
            index = node.inputs[0]
        elif node.kind == "scatter" and kinds:
            index = node.inputs[-1]
        elif node.kind == "mul" and len(kinds) == 2 and len(values) == 1:
            index = values[0]
        elif node.kind == "sum" and kinds in (["mul"], ["gather"]):
            inner = _of_router(graph, node.inputs[0])
            if inner == node.inputs[0]:
                return index
            index = inner
        else:
            return index


def _router(graph: Rewriter, index: int, count: int) -> int | None:
    """The layer that tells so many experts apart, from which some weights come."""
    waiting, seen = [index], {index}
    while waiting and len(seen) < _FARTHEST:
        place = waiting.pop(0)
        node = graph.nodes[place]
        if node.kind == "linear":
            if node.attributes["out"] == count:
                return place
            continue
        new = [item for item in node.inputs if item not in seen]
        seen.update(new)
        waiting += new
    return None


def _body(graph: Rewriter, result: int) -> tuple[list[int], set[int]]:
    """The operations that serve a result alone, back to tokens that are gathered or shared."""
    body, outside = {result}, set()
    waiting = sorted(set(graph.nodes[result].inputs))
    while waiting and len(body) < _LARGEST:
        place = waiting.pop()
        node = graph.nodes[place]
        values = [item for item in node.inputs if not _is_index(graph, item)]
        if _is_index(graph, place):
            continue
        if node.kind == "gather" and values:
            outside.add(values[0])
        elif node.kind in _OUTSIDE or not body.issuperset(graph.readers(place)):
            outside.add(place)
        else:
            body.add(place)
            waiting = sorted({*waiting, *node.inputs})
    return sorted(body), outside


def _expert(graph: Rewriter, result: int) -> _Expert | None:
    """The expert that gives a result, or None if that is something else."""
    body, outside = _body(graph, result)
    operations = [graph.nodes[place] for place in body]
    layers = [node for node in operations if node.kind == "linear"]
    grouped = any("experts" in layer.attributes for layer in layers)
    odd = any(node.kind in {*_OUTSIDE, "gather"} for node in operations)
    if len(outside) != 1 or not layers or grouped or odd:
        return None
    (x,) = outside
    places = frozenset(node.notes.get("place") for node in operations if x in node.inputs)
    if None in places:  # parts of x that are not known
        return None
    at = {place: number for number, place in enumerate(body)}
    read = [tuple(at.get(item, -1) for item in node.inputs) for node in operations]
    shape = zip((node.op() for node in operations), read, strict=True)
    return _Expert(body, x, places, tuple(shape))


def _of_rows(graph: Rewriter, expert: _Expert) -> _Expert:
    """An expert of some tokens, wherever they stand, if it reads whole ones."""
    layers = [graph.nodes[place] for place in expert.body if expert.x in graph.nodes[place].inputs]
    widths = graph.nodes[expert.x].shape[-1:]
    whole = all((layer.attributes.get("in"),) == widths for layer in layers)
    return expert._replace(places=frozenset()) if whole else expert


def _mix(graph: Rewriter, index: int, weight: int, result: int, count: int) -> None:
    """A product of the router's weights with what experts give takes the place of a sum."""
    last, body = graph.nodes[index], _body(graph, result)[0]
    sources = list(last.inputs)
    graph.replace(index, Node("matmul", {}, [weight, result], last.path, last.out), [])
    graph.forsake(sources)
    _make_many(graph, body, count)
    _soften(graph, weight)


def _make_many(graph: Rewriter, body: list[int], count: int) -> None:
    """The operations of an expert, of some tokens, become those of all experts on all tokens."""
    nodes = graph.nodes
    grouped = any("experts" in nodes[place].attributes for place in body)
    for place in body:
        node = nodes[place]
        for item in list(node.inputs):
            if _is_index(graph, item) and len(node.inputs) > 1:
                graph.unlink(place, item)
                graph.forsake([item])
            elif (tokens := _tokens(graph, item)) is not None:
                graph.redirect(place, node.inputs.index(item), tokens)
                graph.forsake([item])
        if node.kind == "linear" and "experts" not in node.attributes:
            wide = int(node.attributes["out"]) // (count if grouped else 1)
            node.attributes = {**node.attributes, "out": wide, "experts": count}
        if node.kind == "linear":
            node.notes["place"] = tuple(node.inputs)
        elif node.kind == "mul":
            pack_gate(graph, place)
        elif node.kind == "add" and not node.attributes and len(node.inputs) == 1:
            layer = nodes[node.inputs[0]]
            layer.attributes = {**layer.attributes, "bias": True}
            graph.bypass(place)


def _tokens(graph: Rewriter, index: int) -> int | None:
    """All tokens, of which some are brought to an expert; None where nothing is brought."""
    node = graph.nodes[index]
    values = [item for item in node.inputs if not _is_index(graph, item)]
    if node.kind == "gather" and values:
        return values[0]
    if node.kind == "matmul" and len(values) == 2 and _is_mask(graph, values[0]):
        return values[1]
    return None


def _is_mask(graph: Rewriter, index: int) -> bool:
    """Whether a tensor of ones and zeros says which tokens an expert gets."""
    node = graph.nodes[index]
    if node.kind in {"mul", "sum"}:
        return all(_is_index(graph, item) or _is_mask(graph, item) for item in node.inputs)
    return False


def _soften(graph: Rewriter, weight: int) -> None:
    """The k largest of a softmax over their sum are a softmax of the k largest."""
    nodes, last = graph.nodes, graph.nodes[weight]
    if last.kind == "softmax" and nodes[last.inputs[0]].kind == "scatter":
        scattered = last.inputs[0]
        (largest, *others) = set(nodes[scattered].inputs)
        if not others and nodes[largest].kind == "topk":
            graph.redirect(weight, 0, largest)
            graph.forsake([scattered])
    if last.kind != "div" or len(last.inputs) != 2:
        return
    largest, total = last.inputs
    chain = [nodes[largest].kind, nodes[total].kind, nodes[total].inputs]
    if chain != ["topk", "sum", [largest]] or graph.only_consumer(total) != weight:
        return
    (scores,) = nodes[largest].inputs
    if nodes[scores].kind != "softmax" or graph.only_consumer(scores) != largest:
        return
    if set(graph.readers(largest)) == {total, weight}:
        graph.bypass(scores)
        softmax = Node("softmax", {}, [largest], last.path, last.out, notes=nodes[scores].notes)
        graph.replace(weight, softmax, [total])
