"""Calls that do in one kernel what others write in several."""

from __future__ import annotations

from collections.abc import Callable

from nar_plugin.tracing.canon.call import Call
from nar_plugin.tracing.canon.rules.rule import Rule, expands
from nar_plugin.tracing.record.record import PARAM

Emit = Callable[[Call], int]


@expands(
    Rule(
        name="gated linear unit",
        effect="expanded",
        pattern="glu(x)",
        result="a * sigmoid(b) on the halves a, b of x",
        reason="F.glu, or chunk, sigmoid and a product: one unit. It is not SiLU, x * sigmoid(x).",
        source="Dauphin et al. 2017, arXiv 1612.08083, Eq. 1",
    ),
    "glu",
)
def _gated_linear_unit(call: Call, emit: Emit) -> int | None:
    dim = call.args[1] if len(call.args) > 1 else call.kwargs.get("dim", -1)
    value, gate = call.tensors[0].chunk(2, dim)
    opened = emit(call.part("sigmoid", [0], reading=[gate]))
    return emit(call.part("mul", [0], opened, reading=[value]))


@expands(
    Rule(
        name="multiply and add",
        effect="expanded",
        pattern="addcmul(x, a, b), addcdiv(x, a, b)",
        result="x + a * b, x + a / b",
        reason="One kernel for two operations.",
        source="https://docs.pytorch.org/docs/stable/generated/torch.addcmul.html",
    ),
    "addcmul",
    "addcdiv",
)
def _multiply_and_add(call: Call, emit: Emit) -> int | None:
    product = emit(call.part(call.name.removeprefix("addc"), [1, 2]))
    return emit(call.part("add", [0], product))


@expands(
    Rule(
        name="interpolation of two",
        effect="expanded",
        pattern="lerp(a, b, weight)",
        result="a + weight * (b - a)",
        reason="One kernel for three operations.",
        source="https://docs.pytorch.org/docs/stable/generated/torch.lerp.html",
    ),
    "lerp",
)
def _interpolation(call: Call, emit: Emit) -> int | None:
    step = emit(call.part("sub", [1, 0]))
    if len(call.tensors) > 2:
        step = emit(call.part("mul", [2], step))
    return emit(call.part("add", [0], step))


@expands(
    Rule(
        name="product added to a value",
        effect="expanded",
        pattern="addmm(x, a, b), baddbmm(x, a, b) with an x that depends on the input",
        result="x + a @ b",
        reason="A residual or a score that is added in the product's kernel.",
    ),
    "addmm",
    "baddbmm",
    "addmv",
)
def _product_and_add(call: Call, emit: Emit) -> int | None:
    if call.sources[0] < 0 or len(call.tensors) != 3:
        return None
    product = emit(call.part("bmm" if call.name == "baddbmm" else "mm", [1, 2]))
    return emit(call.part("add", [0], product))


@expands(None, "linear")
def _product_of_weights(call: Call, emit: Emit) -> int | None:
    """A layer whose input comes of weights alone is what its long way is: a product of weights."""
    if call.sources[0] != PARAM:
        return None
    data, weight, *bias = call.tensors
    reading = [*bias, data.flatten(0, -2), weight.t()]
    return emit(call.part("addmm" if bias else "mm", [2, 0, 1][-len(reading) :], reading=reading))
