"""Activations: by name, by limits, by hand."""

from __future__ import annotations

import math
from typing import NamedTuple

from nar_plugin.tracing.canon.call import Call
from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node, Read, Scaled
from nar_plugin.tracing.canon.rules.rule import Attributes, Rule, declare, on_calls, starts_at
from nar_plugin.tracing.record.record import CONST, DATA
from nar_plugin.tracing.vocabulary import COMPARISONS, NAMES

QUICK_GELU = 1.702  # x * sigmoid(1.702 x): the one factor that tells an activation from another
_BY_LIMITS: dict[tuple[float | None, float | None], str] = {
    (0.0, None): "relu",
    (0.0, 6.0): "relu6",
    (-1.0, 1.0): "hardtanh",
}


class Exponent(NamedTuple):
    """What an exponential is taken of: a value, its number of elements, and numbers on it."""

    read: Read
    size: int
    scaled: Scaled


_UNKNOWN = float("nan")
_SELU_SCALE = 1.0507009873554805


@on_calls(
    Rule(
        name="clamped activations",
        effect="renamed",
        pattern="hardtanh, clamp, clamp_min, threshold between 0 and infinity, 0 and 6, -1 and 1; "
        "the maximum with 0",
        result="relu, relu6, hardtanh; maximum or minimum where a limit is learned or comes from "
        "the data",
        reason="ReLU is a clamp. Any other clamp guards against overflow and leaves no node.",
        source="Krizhevsky 2010, Convolutional Deep Belief Networks on CIFAR-10",
    ),
    "clamp",
    "clamp_min",
    "clamp_max",
    "threshold",
    "hardtanh",
    "relu6",
)
def _clamped(call: Call) -> tuple[str, Attributes] | None:
    if call.live == 0:
        return None
    if moving := _moving_limits(call):
        return moving, {}
    low, high = _limits(call)
    scaled = call.scaled()
    sixth = (low, high) == (0.0, 1.0) and scaled.near(1 / 6, 0.5)
    if sixth or ((low, high) == (0.0, 6.0) and scaled.near(1.0, 3.0)):
        return "hardsigmoid", {}
    kind = _BY_LIMITS.get((low, high))
    if kind is None and call.name == "hardtanh":
        return "hardtanh", {"limits": f"{low}..{high}"}
    if kind is None and call.name == "threshold":
        return "threshold", {}
    return (kind, {}) if kind else None


@on_calls(
    Rule(
        name="masks that come in",
        effect="dropped",
        pattern="a comparison of what comes into the model with a constant; not, and, or of these",
        result="",
        reason="A mask of floats that is compared with 0 is the mask of booleans or integers.",
    ),
    *COMPARISONS,
)
def _compared(call: Call) -> tuple[str, Attributes] | None:
    if call.name == "eq":
        call.notes["one_hot"] = _marks_places(call)
    if max(call.sources) == DATA:
        call.sources = [CONST] * len(call.sources)
        return None
    call.notes["plain"] = min(call.sources) >= 0 and all(
        call.scaled(place).near(1.0, 0.0) for place in range(len(call.sources))
    )
    call.notes["with_zero"] = call.live == 1 and call.number(1) == 0.0
    call.notes["with_lowest"] = call.live == 1 and call.number(1) == -math.inf
    return NAMES.get(call.name, call.name), {}


def _marks_places(call: Call) -> bool:
    """Whether ids are compared with all the places that there are, as `F.one_hot` does."""
    if len(call.tensors) != 2 or call.sources[0] < 0 or call.sources[1] != CONST:
        return False
    ids, places = call.tensors
    if places.is_meta or places.dtype.is_floating_point or places.numel() != call.out.shape[-1]:
        return False
    alone = ids.dim() > 0 and (ids.shape[-1] == 1 or ids.stride(-1) == 0)
    return alone and places.flatten().tolist() == list(range(places.numel()))


@starts_at(
    Rule(
        name="ReLU by comparison",
        effect="fused",
        pattern="x * (x > 0), where(x > 0, x, 0), where(x < 0, 0, x), masked_fill(x, x < 0, 0), "
        "x[x < 0] = 0; where(x > 0, x, 0.1 x)",
        result="relu; leaky_relu(slope)",
        reason="As lessons write it.",
    ),
    *("gt", "ge", "lt", "le"),
)
def _rectified(graph: Rewriter, index: int) -> None:
    node, last = graph.nodes[index], graph.only_consumer(index)
    if last is None or not node.notes.get("with_zero"):
        return
    reader, x = graph.nodes[last], node.inputs[0]
    filled, slope = reader.notes.get("filled"), reader.notes.get("slope")
    positive = node.kind in ("gt", "ge")
    if reader.kind == "mul":
        fits = positive and sorted(reader.inputs) == sorted((x, index))
    else:
        fits = set(reader.inputs) == {x, index} and filled == ("else" if positive else "then")
    if graph.other_values(index, last, x) or not graph.is_straight(last, index):
        return
    sizes = {read.size for read in graph.reads(last, x) | graph.reads(last, index)}
    if not sizes <= {reader.size} or max(graph.shift(index, x), graph.shift(last, x)) > 0:
        return
    if fits:
        graph.replace(last, Node("relu", {}, [x], reader.path, reader.out), [index])
    elif positive and slope and reader.inputs == [index, x, x]:
        leaky = Node("leaky_relu", {"slope": slope}, [x], reader.path, reader.out)
        graph.replace(last, leaky, [index])


declare(
    Rule(
        name="hard sigmoid by hand",
        effect="fused",
        pattern="relu6(x + 3) / 6, clamp(x / 6 + 0.5, 0, 1), clamp((x + 3) / 6, 0, 1)",
        result="hardsigmoid",
        reason="MobileNetV3 is older than F.hardsigmoid.",
        source="Howard et al. 2019, arXiv 1905.02244, section 5.2",
    )
)


def _limits(call: Call) -> tuple[float | None, float | None]:
    if call.name == "relu6":
        return 0.0, 6.0
    low, high = _given(call)
    if call.name == "hardtanh":
        low, high = (-1.0 if low is None else low), (1.0 if high is None else high)
    if call.name == "threshold":  # below the first number stands the second
        low, high = (low, None) if high == 0 else (_UNKNOWN, None)
    return _number(call, low), _number(call, high)


def _given(call: Call) -> tuple[object, object]:
    low, high = [*call.args[1:3], None, None][:2]
    low = call.kwargs.get("min", call.kwargs.get("min_val")) if low is None else low
    high = call.kwargs.get("max", call.kwargs.get("max_val")) if high is None else high
    return (None, low) if call.name == "clamp_max" and high is None else (low, high)


def _number(call: Call, limit: object) -> float | None:
    if limit is None:
        return None
    return _UNKNOWN if (number := call.value(limit)) is None else number


def _moving_limits(call: Call) -> str | None:
    """What a clamp is whose limits are learned or come from the data."""
    sources = {
        id(tensor): source for tensor, source in zip(call.tensors, call.sources, strict=True)
    }
    moving = [sources.get(id(limit), CONST) != CONST for limit in _given(call)]
    names = {(True, True): "clamp", (True, False): "maximum", (False, True): "minimum"}
    return names.get((moving[0], moving[1]))


@on_calls(
    Rule(
        name="exponential units",
        effect="renamed",
        pattern="elu, selu, celu, which share one kernel",
        result="elu(alpha), selu, celu",
        reason="Scale and alpha tell them apart.",
        source="Klambauer et al. 2017, arXiv 1706.02515, Eq. 2",
    ),
    "elu",
    "selu",
    "celu",
)
def _exponential(call: Call) -> tuple[str, Attributes] | None:
    if call.name != "elu":
        return call.name, {}
    alpha, scale, inner = ([*call.args[1:4], *(1.0, 1.0, 1.0)[len(call.args) - 1 :]])[:3]
    if abs(float(scale) - _SELU_SCALE) < 1e-3:
        return "selu", {}
    if float(inner) != 1.0:
        return "celu", {}
    return "elu", ({} if float(alpha) == 1.0 else {"alpha": float(alpha)})


@on_calls(None, "gelu")
def _gelu(call: Call) -> tuple[str, Attributes] | None:
    return "gelu", {"approximate": call.kwargs.get("approximate", "none")}


@on_calls(None, "leaky_relu")
def _leaky(call: Call) -> tuple[str, Attributes] | None:
    slope = float(call.args[1]) if len(call.args) > 1 else 0.01
    return ("leaky_relu", {"slope": slope}) if slope else ("relu", {})


@on_calls(None, "sigmoid")
def _sigmoid(call: Call) -> tuple[str, Attributes] | None:
    call.notes["quick"] = abs(call.scaled().scale - QUICK_GELU) < 1e-3
    return "sigmoid", {}


@on_calls(None, "log")
def _log(call: Call) -> tuple[str, Attributes] | None:
    scaled = call.scaled()
    call.notes["plus_one"], call.notes["plain"] = scaled.near(1.0, 1.0), scaled.near(1.0, 0.0)
    return "log", {}


@on_calls(None, "exp")
def _exponentiated(call: Call) -> tuple[str, Attributes] | None:
    scaled = call.scaled()
    call.notes["negated"] = call.live == 1 and scaled.near(-1.0, 0.0)
    if min(call.sources) >= 0:
        (read,) = call.reads()
        call.notes["of"] = Exponent(read, read.size, scaled)
    return "exp", {}


@on_calls(None, "reciprocal")
def _reciprocal(call: Call) -> tuple[str, Attributes] | None:
    call.notes["plus_one"] = call.live == 1 and call.scaled().near(1.0, 1.0)
    return "reciprocal", {}


@starts_at(
    Rule(
        name="sigmoid by hand",
        effect="fused",
        pattern="1 / (1 + exp(-x)), e / (1 + e) of one e = exp(x); x / (1 + exp(-x))",
        result="sigmoid; silu",
        reason="As lessons write them.",
        source="Ramachandran et al. 2017, arXiv 1710.05941, for x / (1 + exp(-x))",
    ),
    "exp",
)
def _sigmoid_by_hand(graph: Rewriter, index: int) -> None:
    node, last = graph.nodes[index], graph.only_consumer(index)
    if last is None or not graph.nodes[last].notes.get("plus_one") or len(node.inputs) != 1:
        return
    reader, (x,) = graph.nodes[last], node.inputs
    negated = node.notes["negated"]
    if reader.kind == "reciprocal" and negated:
        kind = "sigmoid"
    elif reader.kind == "div" and reader.inputs == [index, index] and not negated:
        if graph.other_values(last, last, index) or abs(reader.reads[0].scaled.offset) > 0:
            return
        kind = "sigmoid"
    elif reader.kind == "div" and reader.inputs == [x, index] and negated:
        if not graph.same_values(index, last, x) or not graph.is_straight(last, index):
            return
        if graph.shift(last, x) > 0:
            return
        kind = "silu"
    else:
        return
    graph.replace(last, Node(kind, {}, [x], reader.path, reader.out, node.reads), [index])
