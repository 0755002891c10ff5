"""ONNX's operators that reduce, and its products of matrices."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import torch

from .values import ints, operator, tensor

Attributes = dict[str, Any]
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
