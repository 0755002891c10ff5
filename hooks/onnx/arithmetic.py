"""ONNX's operators on elements."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.weak import WeakIdKeyDictionary

from .values import Scale, number, operator, tensor

Attributes = dict[str, Any]
_ROOT_OF: Any = WeakIdKeyDictionary()  # what a result is the square root of
_UNARY: dict[str, Callable[[Tensor], Any]] = {
    name: getattr(torch, name.lower())
    for name in "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor IsInf IsNaN Log "
    "Neg Relu Round Sigmoid Sign Sin Sinh Tan Tanh".split()
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


def _unary(function: Callable[[Tensor], Any], _: Attributes, x: Any) -> Any:
    return function(tensor(x))


def _binary(function: Callable[[Any, Any], Any], _: Attributes, a: Any, b: Any) -> Any:
    if isinstance(a, Scale) or isinstance(b, Scale):
        other = a if isinstance(b, Scale) else b
        return other if isinstance(other, Tensor) and other.ndim > 1 else Scale()
    x, y = number(a, b), number(b, a)
    if isinstance(x, Tensor):
        return function(x, y)
    swapped: dict[Any, Any] = {torch.sub: torch.rsub, torch.gt: torch.lt, torch.lt: torch.gt}
    swapped |= {torch.ge: torch.le, torch.le: torch.ge}
    if function in (torch.add, torch.mul, torch.eq, *swapped):
        return swapped.get(function, function)(y, x)
    return function(tensor(a), tensor(b))


for _name, _function in _UNARY.items():
    operator(_name)(partial(_unary, _function))
for _name, _pair in _BINARY.items():
    operator(_name)(partial(_binary, _pair))


@operator("Sqrt")
def _sqrt(_: Attributes, x: Any) -> Any:
    root = torch.sqrt(source := tensor(x))
    _ROOT_OF[root] = source
    return root


@operator("Reciprocal")
def _reciprocal(_: Attributes, x: Any) -> Any:
    """One divided by x: ONNX has no `rsqrt`, so the exporters write one over a root for it."""
    x = tensor(x)
    return torch.rsqrt(_ROOT_OF[x]) if x in _ROOT_OF else torch.reciprocal(x)


@operator("Div")
def _div(attributes: Attributes, a: Any, b: Any) -> Any:
    if isinstance(a, Scale) or isinstance(b, Scale):
        return a if isinstance(a, Tensor) else Scale()
    x, y = number(a, b), number(b, a)
    if isinstance(y, Tensor) and not isinstance(x, Tensor) and x == 1 and y.is_floating_point():
        return _reciprocal(attributes, y)
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
