"""The parameters that an operation of a graph needs, by their shapes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import TypeAlias

from nar_plugin.tracing.graph import Op

Shape: TypeAlias = "tuple[int, ...]"  # sorted, without ones

_GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
_NORMS = {  # vectors that one has at least, at most, and buffers among them
    "batch_norm": (2, 4, 2),
    "layer_norm": (1, 2, 0),
    "rms_norm": (1, 1, 0),
    "group_norm": (0, 2, 0),
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """Parameters of one shape.

    Attributes:
        shape: As `sorted_shape` gives it.
        least: How many the operation has at least.
        most: And at most.
        buffers: How many of these are no parameters.
        experts: Of how many experts it packs the matrices; 0 where it packs none.
        table: Whether an embedding looks rows up in it; an output layer may share it.
    """

    shape: Shape
    least: int = 1
    most: int = 1
    buffers: int = 0
    experts: int = 0
    table: bool = False


def sorted_shape(sides: tuple[int, ...] | list[int]) -> Shape:
    """Sides in order, without ones: equal for a matrix and its transpose, a 1x1 kernel and a layer.

    Example:
        >>> sorted_shape([64, 3, 7, 7]), sorted_shape([64, 1, 1])
        ((3, 7, 7, 64), (64,))
    """
    return tuple(sorted(side for side in sides if side != 1))


def parameters(op: Op) -> Iterator[Parameter]:
    """The parameters of an operation, as far as its attributes tell.

    A learned factor or table that is added says no size (`mul(operand=param)`): it gives nothing.
    """
    said = dict(op.attributes)

    def size(name: str, default: int = 0) -> int:
        value = said.get(name, default)
        return value if isinstance(value, int) else 0

    if op.kind == "conv":
        kernel = str(said.get("kernel", "")).split("x")
        if not all(side.isdecimal() and len(side) < 7 for side in kernel):
            return
        one, other = ("out", "in") if not said.get("transposed") else ("in", "out")
        within = size(other) // max(size("groups"), 1)
        yield Parameter(sorted_shape([size(one), within, *map(int, kernel)]))
        if said.get("bias"):
            yield Parameter((size("out"),))
    elif op.kind == "linear":
        experts = size("experts")
        yield Parameter(sorted_shape([experts or 1, size("out"), size("in")]), experts=experts)
        if said.get("bias"):
            yield Parameter(sorted_shape([experts or 1, size("out")]), experts=experts)
    elif op.kind == "embedding":
        yield Parameter(sorted_shape([size("vocabulary"), size("width")]), table=True)
    elif op.kind in _NORMS and said.get("affine", True):
        yield Parameter((size("width"),), *_NORMS[op.kind])
    elif op.kind in _GATES:
        ways = 1 + bool(said.get("bidirectional"))
        entering, width, out = size("in"), size("width"), size("out")
        yield from _recurrent(_GATES[op.kind], entering, width, out, size("layers", 1), ways)


def _recurrent(
    gates: int, entering: int, width: int, out: int, layers: int, ways: int
) -> Iterator[Parameter]:
    """The matrices and biases of a recurrent layer as torch keeps them."""
    state = out if 0 < out < width else width  # with a projection
    for layer in range(min(layers, 64)):
        come = entering if layer == 0 else ways * state
        yield Parameter(sorted_shape([gates * width, come]), ways, ways)
        yield Parameter(sorted_shape([gates * width, state]), ways, ways)
        yield Parameter((gates * width,), 0, 2 * ways)
        if state != width:
            yield Parameter(sorted_shape([state, width]), ways, ways)


@lru_cache(maxsize=65536)
def elements(shape: Shape) -> int:
    """How many numbers a tensor of this shape holds."""
    return prod(shape)
