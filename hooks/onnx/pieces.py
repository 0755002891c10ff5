"""ONNX's operators that cut, join and pad tensors."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.weak import WeakIdKeyDictionary

from .._shared.rolls import roll
from .values import ints, number, operator, tensor

Attributes = dict[str, Any]


# What a tensor is rows of: the source, the axis, the first row and the one behind the last.
_PARTS: Any = WeakIdKeyDictionary()


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
