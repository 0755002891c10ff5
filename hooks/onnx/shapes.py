"""ONNX's operators that make tensors, and give them other shapes and types."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from .values import Scale, ints, known, number, operator, tensor

Attributes = dict[str, Any]
FLOATS = (1, 10, 11, 16, 17, 18, 19, 20)  # TensorProto.DataType
_KINDS = {
    2: torch.uint8,
    3: torch.int8,
    4: torch.int32,
    5: torch.int16,
    6: torch.int32,
    7: torch.int64,
    9: torch.bool,
    12: torch.int64,
    13: torch.int64,
    14: torch.complex64,
}


@operator("Shape")
def _shape(attributes: Attributes, x: Any) -> Any:
    sizes = list(x.shape)[attributes.get("start", 0) : attributes.get("end")]
    return np.array(sizes, dtype=np.int64)


@operator("Size")
def _size(_: Attributes, x: Any) -> Any:
    return np.array(x.numel() if isinstance(x, Tensor) else x.size, dtype=np.int64)


@operator("Identity", "Dropout", "OptionalGetElement")
def _identity(_: Attributes, x: Any, *others: Any) -> Any:
    return x


@operator("Cast", "CastLike")
def _cast(attributes: Attributes, x: Any, like: Any = None) -> Any:
    if isinstance(x, Scale) or isinstance(like, Scale):
        return x
    kind = tensor(like).dtype if like is not None else _KINDS.get(attributes["to"], torch.float32)
    x = tensor(x)
    return x if kind == x.dtype else x.to(kind)


@operator("Constant")
def _constant(attributes: Attributes) -> Any:
    for name in ("value", "value_float", "value_floats", "value_int", "value_ints"):
        if name in attributes:
            return known(np.asarray(attributes[name]))
    return next((value for key, value in attributes.items() if key != "op_type"), None)


@operator("ConstantOfShape")
def _filled(attributes: Attributes, shape: Any) -> Any:
    value = attributes.get("value", np.zeros(1, np.float32))
    return torch.full(ints(shape), np.asarray(value).reshape(-1)[0].item())


@operator("Reshape")
def _reshape(attributes: Attributes, x: Any, shape: Any = None) -> Any:
    wanted = ints(attributes["shape"] if shape is None else shape)
    if not attributes.get("allowzero"):
        wanted = [x.shape[place] if size == 0 else size for place, size in enumerate(wanted)]
    return tensor(x).reshape(wanted)


@operator("Flatten")
def _flatten(attributes: Attributes, x: Any) -> Any:
    axis = attributes.get("axis", 1)
    if axis == 1:
        return tensor(x).flatten(1)
    axis %= x.ndim + 1
    return tensor(x).reshape(torch.Size(x.shape[:axis]).numel(), -1)


@operator("Transpose")
def _transpose(attributes: Attributes, x: Any) -> Any:
    order = attributes.get("perm") or list(range(x.ndim))[::-1]
    return tensor(x) if list(order) == sorted(order) else tensor(x).permute(*order)


@operator("Squeeze")
def _squeeze(attributes: Attributes, x: Any, axes: Any = None) -> Any:
    given = attributes.get("axes") if axes is None else ints(axes)
    return tensor(x).squeeze() if given is None else tensor(x).squeeze(tuple(given))


@operator("Unsqueeze")
def _unsqueeze(attributes: Attributes, x: Any, axes: Any = None) -> Any:
    given = ints(attributes["axes"] if axes is None else axes)
    rank, x = x.ndim + len(given), tensor(x)
    for axis in sorted(axis % rank for axis in given):
        x = x.unsqueeze(axis)
    return x


@operator("Expand")
def _expand(_: Attributes, x: Any, shape: Any) -> Any:
    x, wanted = tensor(x), torch.Size(np.broadcast_shapes(tuple(x.shape), tuple(ints(shape))))
    return x if wanted == x.shape else x.expand(wanted)


@operator("Tile")
def _tile(_: Attributes, x: Any, repeats: Any) -> Any:
    times = ints(repeats)
    return x if set(times) == {1} else tensor(x).repeat(times)


@operator("Range")
def _range(_: Attributes, start: Any, limit: Any, step: Any) -> Any:
    return torch.arange(*(number(item) for item in (start, limit, step)))
