"""ONNX's operators that move, cut, join and choose elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.weak import WeakIdKeyDictionary

from .._shared.rolls import roll
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

# What a tensor is rows of: the source, the axis, the first row and the one behind the last.
_PARTS: Any = WeakIdKeyDictionary()


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


@operator("Concat")
def _concat(attributes: Attributes, *items: Any) -> Any:
    found = [tensor(item) for item in items]
    kept = [item for item in found if item.numel() or (item.is_meta and 0 not in item.shape)]
    if (rolled := _swapped(kept, attributes["axis"])) is not None:
        return rolled
    return torch.cat(kept, attributes["axis"]) if len(kept) > 1 else (kept or found)[0]


def _swapped(items: list[Any], axis: int) -> Any:
    """A roll, which exporters write as the last rows of a tensor and then its first; or None."""
    parts = [_PARTS.get(item) for item in items]
    if len(parts) != 2 or None in parts:
        return None
    (source, first, start, end), (other, second, begin, middle) = parts
    axis, size = axis % source.ndim, source.shape[axis]
    if other is not source or not first == second == axis:
        return None
    swapped = (begin, middle, end) == (0, start, size) and 0 < start < size
    return roll(source, axis, size - start) if swapped else None


@operator("Split")
def _split(attributes: Attributes, x: Any, sizes: Any = None) -> Any:
    axis, x = attributes.get("axis", 0), tensor(x)
    given = attributes.get("split") if sizes is None else ints(sizes)
    if given:
        return list(torch.split(x, list(given), axis))
    count = attributes.get("num_outputs") or attributes["outputs"]
    return list(torch.split(x, -(-x.shape[axis] // count), axis))


@operator("Slice")
def _slice(attributes: Attributes, x: Any, starts: Any = None, ends: Any = None, *more: Any) -> Any:
    x = tensor(x)
    first = ints(attributes["starts"] if starts is None else starts)
    last = ints(attributes["ends"] if ends is None else ends)
    axes = attributes.get("axes") if not more or more[0] is None else ints(more[0])
    steps = ints(more[1]) if len(more) > 1 and more[1] is not None else [1] * len(first)
    for axis, start, end, step in zip(axes or range(len(first)), first, last, steps, strict=True):
        size = x.shape[axis]
        if step < 0:
            x, step = x.flip(axis), -step
            start, end = _turned(start, size), _turned(end, size)
        if (start, step) != (0, 1) or end < size:
            source, end = x, min(end, size)
            x = torch.ops.aten.slice(source, axis, start, end, step)
            if step == 1:
                places = (place + size if place < 0 else place for place in (start, end))
                _PARTS[x] = source, axis % source.ndim, *places
    return x


def _turned(place: int, size: int) -> int:
    """A place counted from the other end."""
    place = place + size if place < 0 else place
    return size - 1 - min(max(place, -1), size - 1)


@operator("Pad")
def _pad(
    attributes: Attributes, x: Any, pads: Any = None, value: Any = None, axes: Any = None
) -> Any:
    given = ints(attributes.get("pads", attributes.get("paddings")) if pads is None else pads)
    rank = x.ndim
    places = [axis % rank for axis in ints(axes)] if axes is not None else list(range(rank))
    sides = {axis: (given[i], given[i + len(places)]) for i, axis in enumerate(places)}
    flat = [side for axis in reversed(range(rank)) for side in sides.get(axis, (0, 0))]
    while flat[-2:] == [0, 0]:
        flat = flat[:-2]
    mode = {"edge": "replicate", "wrap": "circular"}.get(attributes.get("mode", ""))
    mode = mode or attributes.get("mode", "constant")
    filler = attributes.get("value", 0.0) if value is None else number(value)
    if mode != "constant" or isinstance(filler, Tensor):
        return F.pad(tensor(x), flat, mode) if flat else x
    return F.pad(tensor(x), flat, value=filler) if flat else x


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
