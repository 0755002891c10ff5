"""ONNX's operators on elements, and those that reduce."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from .values import Scale, ints, number, operator, tensor

Attributes = dict[str, Any]
_UNARY: dict[str, Callable[[Tensor], Any]] = {
    name: getattr(torch, name.lower())
    for name in "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor IsInf IsNaN Log "
    "Neg Reciprocal Relu Round Sigmoid Sign Sin Sinh Sqrt Tan Tanh".split()
} | {
    "BitwiseNot": torch.bitwise_not,
    "HardSwish": F.hardswish,
    "Mish": F.mish,
    "Not": torch.logical_not,
    "Softplus": F.softplus,
    "Softsign": F.softsign,
}
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": torch.add,
    "And": torch.logical_and,
    "BitwiseAnd": torch.bitwise_and,
    "BitwiseOr": torch.bitwise_or,
    "BitwiseXor": torch.bitwise_xor,
    "Equal": torch.eq,
    "Greater": torch.gt,
    "GreaterOrEqual": torch.ge,
    "Less": torch.lt,
    "LessOrEqual": torch.le,
    "Mul": torch.mul,
    "Or": torch.logical_or,
    "Sub": torch.sub,
    "Xor": torch.logical_xor,
}
_REDUCE: dict[str, Callable[..., Any]] = {
    "L1": lambda x, dims, keep: x.abs().sum(dims, keep),
    "L2": lambda x, dims, keep: torch.linalg.vector_norm(x, 2, dims, keep),
    "LogSum": lambda x, dims, keep: x.sum(dims, keep).log(),
    "LogSumExp": torch.logsumexp,
    "Max": torch.amax,
    "Mean": lambda x, dims, keep: x.mean(dims, keep),
    "Min": torch.amin,
    "Prod": lambda x, dims, keep: reduce(lambda y, dim: y.prod(dim, keep), _last_first(dims), x),
    "Sum": lambda x, dims, keep: x.sum(dims, keep),
    "SumSquare": lambda x, dims, keep: x.square().sum(dims, keep),
}


def _last_first(dims: Any) -> list[int]:
    return sorted(dims, reverse=True)


def _unary(function: Callable[[Tensor], Any], _: Attributes, x: Any) -> Any:
    return function(tensor(x))


def _binary(function: Callable[[Any, Any], Any], _: Attributes, a: Any, b: Any) -> Any:
    if isinstance(a, Scale) or isinstance(b, Scale):
        other = a if isinstance(b, Scale) else b
        return other if isinstance(other, Tensor) and other.ndim > 1 else Scale()
    x, y = number(a, b), number(b, a)
    if isinstance(x, Tensor):
        if isinstance(y, Tensor):
            x, y = _alike(x, y)
        return function(x, y)
    swapped: dict[Any, Any] = {torch.sub: torch.rsub, torch.gt: torch.lt, torch.lt: torch.gt}
    swapped |= {torch.ge: torch.le, torch.le: torch.ge}
    if function in (torch.add, torch.mul, torch.eq, *swapped):
        return swapped.get(function, function)(y, x)
    return function(tensor(a), tensor(b))


def _alike(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Both as floats of one width: a cast between widths is left out."""
    return x, y


for _name, _function in _UNARY.items():
    operator(_name)(partial(_unary, _function))
for _name, _pair in _BINARY.items():
    operator(_name)(partial(_binary, _pair))


@operator("Div")
def _div(_: Attributes, a: Any, b: Any) -> Any:
    if isinstance(a, Scale) or isinstance(b, Scale):
        return a if isinstance(a, Tensor) else Scale()
    x, y = number(a, b), number(b, a)
    whole = isinstance(x, Tensor) and not x.is_floating_point() and not isinstance(y, float)
    if whole and not (isinstance(y, Tensor) and y.is_floating_point()):
        return torch.div(x, y, rounding_mode="trunc")
    return x / y


@operator("Pow")
def _pow(_: Attributes, a: Any, b: Any) -> Any:
    x, y = number(a, b), number(b, a)
    if isinstance(y, float) and y.is_integer():
        y = int(y)
    return torch.pow(x, y)


@operator("Mod")
def _mod(attributes: Attributes, a: Any, b: Any) -> Any:
    function = torch.fmod if attributes.get("fmod") else torch.remainder
    return function(tensor(a), number(b, a))


@operator("Max", "Min", "Mean", "Sum")
def _many(attributes: Attributes, *items: Any) -> Any:
    name = attributes["op_type"]
    if name == "Mean":
        return reduce(torch.add, map(tensor, items)) / len(items)
    if name == "Sum":
        return reduce(torch.add, map(tensor, items))
    first, *others = map(tensor, items)
    for given, other in zip(items[1:], others, strict=True):
        bound = number(given, first)
        if isinstance(bound, Tensor):
            first = (torch.maximum if name == "Max" else torch.minimum)(first, other)
        else:
            first = first.clamp(min=bound) if name == "Max" else first.clamp(max=bound)
    return first


@operator("Clip")
def _clip(attributes: Attributes, x: Any, least: Any = None, most: Any = None) -> Any:
    low = attributes.get("min") if least is None else number(least)
    high = attributes.get("max") if most is None else number(most)
    return torch.clamp(tensor(x), low, high) if (low, high) != (None, None) else x


@operator(*(f"Reduce{name}" for name in _REDUCE))
def _reduce(attributes: Attributes, x: Any, axes: Any = None) -> Any:
    x = tensor(x)
    given = attributes.get("axes") if axes is None else ints(axes)
    if not given and attributes.get("noop_with_empty_axes"):
        return x
    dims = [int(axis) % x.ndim for axis in given] if given else list(range(x.ndim))
    keep = bool(attributes.get("keepdims", 1))
    made = _REDUCE[attributes["op_type"].removeprefix("Reduce")](x, dims, keep) if dims else x
    return made.to(x.dtype) if not x.is_floating_point() else made


@operator("ArgMax", "ArgMin")
def _arg(attributes: Attributes, x: Any) -> Any:
    function = torch.argmax if attributes["op_type"] == "ArgMax" else torch.argmin
    return function(tensor(x), attributes.get("axis", 0), bool(attributes.get("keepdims", 1)))


@operator("CumSum")
def _cumsum(_: Attributes, x: Any, axis: Any) -> Any:
    return torch.cumsum(tensor(x), ints(axis)[0])


@operator("MatMul")
def _matmul(_: Attributes, a: Any, b: Any) -> Any:
    return torch.matmul(tensor(a), tensor(b))


@operator("Einsum")
def _einsum(attributes: Attributes, *items: Any) -> Any:
    return torch.einsum(attributes["equation"], *map(tensor, items))


@operator("Where")
def _where(_: Attributes, condition: Any, a: Any, b: Any) -> Any:
    return torch.where(tensor(condition).bool(), number(a, condition), number(b, condition))


@operator("BitShift")
def _shift(attributes: Attributes, a: Any, b: Any) -> Any:
    left = attributes["direction"] == "LEFT"
    return (torch.bitwise_left_shift if left else torch.bitwise_right_shift)(tensor(a), tensor(b))


@operator("Det")
def _det(_: Attributes, x: Any) -> Any:
    return torch.linalg.det(tensor(x))


def as_number(value: Any) -> float:
    """A known value as a float; not a number of any other."""
    return float(value.item()) if isinstance(value, np.ndarray) and value.size == 1 else math.nan
