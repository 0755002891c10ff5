"""Numbers, masks and what is computed from weights alone."""

from __future__ import annotations

import math
from dataclasses import replace

import torch

from nar_plugin.tracing.canon.call import Call, Term, place_of
from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node
from nar_plugin.tracing.canon.order import Along
from nar_plugin.tracing.canon.rules.layers import held
from nar_plugin.tracing.canon.rules.pooling import as_mean
from nar_plugin.tracing.canon.rules.rule import Attributes, Rule, declare, on_calls, starts_at
from nar_plugin.tracing.record.record import CONST, DATA, PARAM
from nar_plugin.tracing.vocabulary import (
    ARITHMETIC,
    LOOKUPS,
    MASKING,
    NAMES,
    PRODUCTS,
    WEIGHT_ARITHMETIC,
)

_ABOVE, _BELOW = frozenset({"gt", "ge"}), frozenset({"lt", "le"})
_TABLE = 2  # dimensions of a table of positions
_MASKS = (torch.bool, torch.uint8)
_POWERS = {0.5: "sqrt", -0.5: "rsqrt", -1.0: "reciprocal"}

declare(
    Rule(
        name="arithmetic on weights",
        effect="dropped",
        pattern="whatever is computed from parameters and constants alone and ends as the matrix, "
        "kernel or bias of a layer; norms, products, means, roots, activations and resampling of "
        "parameters wherever they go",
        result="",
        reason="weight_norm, spectral_norm, orthogonal and ternary weights, top-k masks, complex "
        "weights of two reals, `1 + weight`, a table for another resolution: still a weight. "
        "Learned queries that pass through layers stay tokens.",
    )
)


def weight_of_weights(call: Call) -> bool:
    """Whether a call computes a weight from weights."""
    if call.name in PRODUCTS and call.sources == [PARAM, CONST]:  # not a layer on constants
        return True
    return call.name in WEIGHT_ARITHMETIC and call.of_weights


@on_calls(
    Rule(
        name="numbers",
        effect="dropped",
        pattern="adding a number, multiplying with a number or with one learned number",
        result="",
        reason="Scale and offset are no structure; the bias of a layer with one output is.",
    ),
    *ARITHMETIC,
)
def _arithmetic(call: Call) -> tuple[str, Attributes] | None:
    kind = NAMES.get(call.name, call.name)
    if rounding := call.kwargs.get("rounding_mode"):
        return ("floor_divide" if rounding == "floor" else "trunc_divide"), {}
    if call.live >= 2:
        if call.name == "mul" and len(set(call.sources)) == 1:
            reads = call.live_reads()  # of one value, not of two slices, as in NAFNet
            if len({(r.root, r.place, r.order, round(r.scaled.shift(), 3)) for r in reads}) == 1:
                return "pow", {"exponent": 2.0}
        call.notes["plus_one"] = call.name == "div" and call.scaled(1).near(1.0, 1.0)
        call.notes["shapes"] = call.shapes()
        if call.name in ("add", "sub") and min(call.sources) >= 0:
            call.notes["terms"] = _terms(call)
        return kind, {}
    if (mean := as_mean(call)) is not None:
        return mean
    others = [(tensor, source) for tensor, source in call.others() if call.size(tensor, source) > 1]
    if not others and _is_bias_of_one_output(call):
        others = call.others()
    if call.name == "mul" and rectifies(call, 0, 1):
        return "relu", {}
    if not others:
        return None
    if max(call.sources) == DATA and not _is_table(call, others):
        return None
    learned = [tensor for tensor, source in others if source == PARAM]
    if call.samples is None:
        call.notes["along"] = along(call, learned[0] if learned else others[0][0])
    if learned:
        call.notes["operand_size"] = call.size(learned[0], PARAM)
        pairs = zip(learned[0].shape, learned[0].stride(), strict=True)
        call.notes["squares_of"] = _squares_of(call, learned[0])
        call.notes["operand_shape"] = tuple(size if stride else 1 for size, stride in pairs)
    else:
        call.notes["constant_size"] = call.size(*others[0])
    call.notes["complex"] = others[0][0].is_complex()
    return kind, {"operand": "param" if learned else "const"}


def along(call: Call, other: torch.Tensor) -> Along | None:
    """Where an operand has more than one number, beside what flows; None where it makes it larger.

    Args:
        call: The call.
        other: The operand.
    """
    place = next(i for i, source in enumerate(call.sources) if source >= 0 or source == DATA)
    flows = call.tensors[place]
    if flows.shape != call.out.shape:
        return None
    pairs = zip(other.shape, other.stride(), strict=True)
    dims = [dim - other.dim() for dim, (size, step) in enumerate(pairs) if size > 1 and step]
    return Along(flows, tuple(dims), call.order(flows))


def _is_table(call: Call, others: list[tuple[torch.Tensor, int]]) -> bool:
    """Whether an input is multiplied with a number for each feature of each place, or complex ones.

    It is half of a rotary position. What comes of nothing else is dropped later (`dropped_tables`).
    """
    sides = [side for side in others[0][0].shape if side > 1]
    table = len(sides) >= _TABLE and call.tensors[0].dim() > len(sides)
    call.notes["table_of_input"] = table = call.name == "mul" and table
    return table


def _squares_of(call: Call, learned: torch.Tensor) -> tuple[int, ...] | None:
    """The weight whose squares a learned operand sums up, of each row."""
    place = next(i for i, tensor in enumerate(call.tensors) if tensor is learned)
    origin = call.origins[place]
    total = call.records[origin] if origin >= 0 else None
    if total is None or total.name != "sum" or total.sources[0] < 0:
        return None
    square = call.records[total.sources[0]]
    if square.name not in ("pow", "mul", "square"):
        return None
    return held(square.args[0]) if square.sources[0] == PARAM else None


def _terms(call: Call) -> list[Term]:
    """What a sum or a difference reads, each as it is or times a number."""
    alpha = call.kwargs.get("alpha", 1)
    plain = [
        origin >= 0 and call.scaled(place).near(1.0, 0.0) and (place == 0 or alpha == 1)
        for place, origin in enumerate(call.origins)
    ]
    whole = [tensor.numel() for tensor in call.tensors]
    places, orders = map(place_of, call.tensors), map(call.order, call.tensors)
    return [Term(*items) for items in zip(places, orders, whole, plain, strict=True)]


def _is_bias_of_one_output(call: Call) -> bool:
    """Whether one learned number is added to a layer that gives one and has no bias."""
    layer = next((call.nodes[source] for source in call.sources if source >= 0), None)
    if call.name != "add" or layer is None or "bias" not in layer.attributes:
        return False
    return PARAM in call.sources and layer.attributes["out"] == 1 and not layer.attributes["bias"]


declare(
    Rule(
        name="scaled inputs",
        effect="dropped",
        pattern="(x - mean) / std of what comes into the model, with constants",
        result="",
        reason="Images are normalised inside a model or before it.",
    )
)


@starts_at(
    Rule(
        name="division by hand",
        effect="fused",
        pattern="x * (1 / y)",
        result="x / y",
        reason="One function.",
    ),
    "reciprocal",
)
def _divided(graph: Rewriter, index: int) -> None:
    last = graph.only_consumer(index)
    if last is None or graph.nodes[last].kind != "mul" or not graph.nodes[index].inputs:
        return
    product = graph.nodes[last]
    others = [item for item in product.inputs if item != index]
    if graph.shift(last, index) > 0:
        return
    if len(product.inputs) == 2 and others:  # two slices of one reciprocal are no quotient
        inputs = [*others, *graph.nodes[index].inputs]
        node = Node("div", {}, inputs, product.path, product.out, notes=product.notes)
        graph.replace(last, node, [index])


declare(
    Rule(
        name="squares and roots",
        effect="renamed",
        pattern="x * x, square(x), pow(x, 1/2), pow(x, -1/2), pow(x, -1)",
        result="pow(exponent=2), sqrt, rsqrt, reciprocal",
        reason="One function, two spellings.",
    )
)


@on_calls(None, "pow", "float_power", "square")
def _power(call: Call) -> tuple[str, Attributes] | None:
    if call.name == "square":
        return "pow", {"exponent": 2.0}
    exponent = call.args[1] if len(call.args) > 1 else None
    if not isinstance(exponent, int | float):
        return "pow", {}
    if float(exponent) in _POWERS:
        return _POWERS[float(exponent)], {}
    return "pow", {"exponent": float(exponent)}


@on_calls(
    Rule(
        name="masks",
        effect="dropped",
        pattern="where, masked_fill, maximum, tril, x[mask] = number, ... with a mask that no "
        "input changes",
        result="",
        reason="A mask says which values count for one input; causal or not is no layer.",
    ),
    *(name for name in MASKING if not name.startswith("clamp")),
)
def _masked(call: Call) -> tuple[str, Attributes] | None:
    if call.name == "maximum" and call.live == 1 and 0.0 in (call.number(0), call.number(1)):
        return "relu", {}
    if call.name == "maximum" and (slope := _slope(call, 0, 1) or _slope(call, 1, 0)):
        return "leaky_relu", {"slope": slope}
    if call.name in ("where", "masked_fill") and _rectifies_by_choice(call):
        return "relu", {}
    if call.name in ("maximum", "minimum") and min(call.sources) >= 0:
        call.notes["shapes"] = call.shapes()
    if call.name == "where":
        call.notes["plain"] = min(call.sources) >= 0 and _are_plain(call, 1, 2)
        zeros = [word for word, place in (("then", 1), ("else", 2)) if call.number(place) == 0.0]
        call.notes["filled"] = "".join(zeros)
        call.notes["slope"] = len(call.sources) == 3 and _slope(call, 1, 2)
    if call.name == "masked_fill" and call.number(2) == 0.0:
        call.notes["filled"] = "then"
    operands = sum(source != CONST for source in call.sources)
    return None if operands < 2 else (NAMES.get(call.name, call.name), {})


def rectifies(call: Call, mask: int, x: int, *, positive: bool = True) -> bool:
    """Whether one operand says where another one, which came in, is above zero.

    Args:
        call: The call.
        mask: The place of the first among its tensors.
        x: The place of the second.
        positive: Whether above, and not below.
    """
    if len(call.tensors) <= max(mask, x) or DATA not in call.sources:
        return False
    for told, value in {(mask, x), (x, mask)} if call.name == "mul" else {(mask, x)}:
        if call.sources[told] != CONST or call.sources[value] != DATA or call.origins[told] < 0:
            continue
        asked = call.records[call.origins[told]]
        if asked.name not in (_ABOVE if positive else _BELOW) or asked.args[1] != 0:
            continue
        if asked.args[0] is call.tensors[value]:
            return True
    return False


def _rectifies_by_choice(call: Call) -> bool:
    """Whether what came in is taken where it is above zero, and zero elsewhere."""
    if call.name == "masked_fill":
        return call.number(2) == 0.0 and rectifies(call, 1, 0, positive=False)
    above = call.number(2) == 0.0 and rectifies(call, 0, 1)
    return above or (call.number(1) == 0.0 and rectifies(call, 0, 2, positive=False))


def _are_plain(call: Call, *places: int) -> bool:
    return all(call.scaled(place).near(1.0, 0.0) for place in places)


def _slope(call: Call, whole: int, leak: int) -> float | None:
    """The number below 1 that the second of two operands is the first one times."""
    if not 0 <= call.sources[whole] == call.sources[leak] or len(set(call.reads()[-2:])) > 1:
        return None
    scale, offset = call.scaled(leak)
    plain = call.scaled(whole).near(1.0, 0.0)
    return round(scale, 4) if plain and not offset and 0 < scale < 1 else None


declare(
    Rule(
        name="embedding by hand",
        effect="renamed",
        pattern="index, gather, index_select of a parameter at ids that come in or are computed",
        result="embedding(vocabulary, width)",
        reason="weight[ids] and F.embedding(ids, weight) are one layer.",
    )
)


declare(
    Rule(
        name="picked places",
        effect="dropped",
        pattern="index, gather, index_select of what flows, at places that no input changes",
        result="",
        reason="x[:, [-1]] is x[:, -1:], and a fixed order of channels or tokens is no layer.",
    )
)


@on_calls(
    Rule(
        name="look-ups in learned tables",
        effect="dropped",
        pattern="index, gather, index_select of a parameter at constant places",
        result="",
        reason="A relative position bias is a parameter, however its table is stored.",
    ),
    *LOOKUPS,
)
def _looked_up(call: Call) -> tuple[str, Attributes] | None:
    if call.sources[0] >= 0 and all(source in (CONST, PARAM) for source in call.sources[1:]):
        return None
    if max(call.sources) >= 0:
        call.notes["rows_of"] = next(iter(_picked(call)), None)
        call.notes["of_rows"] = call.sources[0] >= 0 and set(call.sources[1:]) == {DATA}
        if _picks_rows(call):
            call.notes["rows"] = _table(call)
        return NAMES.get(call.name, call.name), {}
    masks = any(tensor.dtype == torch.bool for tensor in call.tensors)
    if call.sources[0] != PARAM or not call.live or masks:
        return None
    return "embedding", _table(call)


def _table(call: Call) -> Attributes:
    """Rows and width of a learned table that is looked up."""
    weight = call.tensors[0]
    rows = math.prod(weight.shape[place] for place in _picked(call))
    return {"vocabulary": rows, "width": _held(weight) // rows}


def _picked(call: Call) -> list[int]:
    """The dimensions of a table that ids are looked up in."""
    if call.name == "index":
        return [place for place, ids in enumerate(call.args[1]) if ids is not None]
    return [call.args[1] % max(call.tensors[0].dim(), 1)]


@starts_at(None, "gather", last=True)
def _computed_rows(graph: Rewriter, index: int) -> None:
    """After the experts, whose biases are looked up by those who chose them."""
    node = graph.nodes[index]
    if rows := node.notes.get("rows"):
        node.kind, node.attributes = "embedding", rows


def _picks_rows(call: Call) -> bool:
    """Whether places that are computed pick whole rows of a learned table."""
    if call.sources[0] != PARAM:
        return False
    if any(tensor.dtype == torch.bool for tensor in call.tensors):
        return False
    table, ids = call.tensors[:2]
    picked = _picked(call)
    others = [axis for axis in range(table.dim()) if axis not in picked and table.shape[axis] > 1]
    if sum(table.stride(axis) != 0 for axis in others) != 1:
        return False  # matrices, as of experts, or numbers
    apart = [axis for axis in others if call.name == "gather" and table.stride(axis)]
    return all(ids.stride(axis) == 0 for axis in apart)


def _held(weight: torch.Tensor) -> int:
    """The elements of a weight, each once where it was expanded."""
    pairs = zip(weight.shape, weight.stride(), strict=True)
    return math.prod(size for size, stride in pairs if stride)


@on_calls(
    Rule(
        name="sums by index",
        effect="renamed",
        pattern="index_add, scatter_add, scatter_reduce of sums, index_put that accumulates",
        result="scatter_add",
        reason="One function on rows: how messages are summed at the nodes of a graph.",
    ),
    "index_add",
    "scatter_reduce",
)
def _summed_by_index(call: Call) -> tuple[str, Attributes] | None:
    if call.name == "scatter_reduce" and call.args[4] != "sum":
        return call.name, {}
    call.notes["rows_of"] = call.args[1] % max(call.tensors[0].dim(), 1)
    return "scatter_add", {}


@on_calls(
    Rule(
        name="assignments",
        effect="renamed",
        pattern="x[mask] = number, x[ids] = values, index_fill, index_put",
        result="masked_fill, index_put",
        reason="What torch makes of an assignment depends on its version.",
    ),
    "index_put",
    "index_fill",
)
def _assigned(call: Call) -> tuple[str, Attributes] | None:
    if call.name == "index_put":
        x, places, values, *adds = call.args
        if adds == [True]:
            call.notes["rows_of"] = next(i for i, item in enumerate(places) if item is not None)
            return "scatter_add", {}
        masks = [item for item in places if item is not None]
        if len(masks) == 1 and masks[0].dtype in _MASKS and values.dim() == 0:
            return _masked(replace(call, name="masked_fill", args=(x, masks[0], values)))
    if call.sources[0] >= 0 and set(call.sources[1:]) <= {CONST}:
        return None
    return "index_put", {}


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
