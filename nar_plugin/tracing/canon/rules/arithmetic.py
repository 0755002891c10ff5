"""Numbers that scale or shift, powers, and what is computed from weights alone."""

from __future__ import annotations

import torch

from nar_plugin.tracing.canon.call import Call, Term, place_of
from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node
from nar_plugin.tracing.canon.order import Along
from nar_plugin.tracing.canon.rules.layers import held
from nar_plugin.tracing.canon.rules.masks import rectifies
from nar_plugin.tracing.canon.rules.pooling import as_mean
from nar_plugin.tracing.canon.rules.rule import Attributes, Rule, declare, on_calls, starts_at
from nar_plugin.tracing.record.record import CONST, DATA, PARAM
from nar_plugin.tracing.vocabulary import (
    ARITHMETIC,
    NAMES,
    PRODUCTS,
    WEIGHT_ARITHMETIC,
)

_TABLE = 2  # dimensions of a table of positions
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
