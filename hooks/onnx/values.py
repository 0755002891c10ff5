"""The values that flow in an ONNX graph, and the table of its operators.

What depends on no input is known, such as `Shape` and what is computed of it: a NumPy array. Calls
on known values alone are made at once, and no recorder sees them. All else is a tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes

Operator: TypeAlias = Callable[..., Any]

OPERATORS: dict[str, Operator] = {}
_LEFT_TO_RECORDER = frozenset(("RandomNormal", "RandomUniform"))


class Scale:
    """The scale of a quantized value: multiplying by it gives the value, which is not quantized."""


def operator(*names: str) -> Callable[[Operator], Operator]:
    """Enter a function under the names of operators; it takes attributes, then inputs."""

    def enter(function: Operator) -> Operator:
        OPERATORS.update(dict.fromkeys(names, function))
        return function

    return enter


def call(name: str, attributes: dict[str, Any], *inputs: Any) -> Any:
    """The result of an operator, or a list of several; known where all inputs are."""
    function = OPERATORS[name]
    if any(isinstance(item, Tensor | Scale) for item in _flat(inputs)) or name in _LEFT_TO_RECORDER:
        return function(attributes, *inputs)
    with _disable_current_modes():
        given = inputs if name == "Gather" else tuple(map(_real, inputs))  # it looks at places
        return _known(function(attributes, *given))


def tensor(value: Any) -> Tensor:
    """The value as a tensor."""
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy())
    return value if isinstance(value, Tensor) else torch.as_tensor(value)


def number(value: Any, other: Any = None) -> Any:
    """A number where a known value is one, as Python code writes it; else a tensor."""
    if isinstance(value, np.ndarray) and value.size == 1:
        if value.ndim <= (other.ndim if isinstance(other, Tensor) else 0):
            return value.item()
    return tensor(value)


def ints(value: Any) -> list[int]:
    """The whole numbers of a known value.

    Raises:
        ValueError: They depend on the data.
    """
    if isinstance(value, Tensor) and value.is_meta:
        raise ValueError("a size depends on the data")
    found = value.tolist() if isinstance(value, np.ndarray | Tensor) else value
    if not isinstance(found, list | tuple):
        return [int(found)]
    return [
        size for item in found for size in (ints(item) if isinstance(item, list) else [int(item)])
    ]


def known(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array whose floats are of 32 bits."""
    if array.dtype.kind in "fV" or array.dtype.name.startswith(("bfloat", "float")):
        return array.astype(np.float32)
    return array


def _real(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind not in "OSU":
        return tensor(value)
    return [_real(item) for item in value] if isinstance(value, list) else value


def _known(value: Any) -> Any:
    if isinstance(value, Tensor):
        return known(value.numpy())
    return [_known(item) for item in value] if isinstance(value, list | tuple) else value


def _flat(items: Any) -> list[Any]:
    return [leaf for item in items for leaf in (_flat(item) if isinstance(item, list) else [item])]
