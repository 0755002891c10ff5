"""ONNX's operators on lists of tensors."""

from __future__ import annotations

from typing import Any

import torch

from .values import ints, number, operator, tensor

Attributes = dict[str, Any]


@operator("SequenceConstruct")
def _sequence(_: Attributes, *items: Any) -> Any:
    return [list(items)]


@operator("SequenceEmpty")
def _no_sequence(_: Attributes) -> Any:
    return [[]]


@operator("SequenceInsert")
def _inserted(_: Attributes, items: Any, item: Any, place: Any = None) -> Any:
    return [[*items, item]]


@operator("SequenceAt")
def _item(_: Attributes, items: Any, place: Any) -> Any:
    return items[ints(place)[0]]


@operator("ConcatFromSequence")
def _joined(attributes: Attributes, items: Any) -> Any:
    found = [tensor(item) for item in items]
    join = torch.stack if attributes.get("new_axis") else torch.cat
    return join(found, attributes["axis"])


@operator("SplitToSequence")
def _parts(attributes: Attributes, x: Any, sizes: Any = None) -> Any:
    axis = attributes.get("axis", 0)
    wanted: Any = 1 if sizes is None else number(sizes)
    found = torch.split(tensor(x), wanted if isinstance(wanted, int) else ints(sizes), axis)
    keep = sizes is not None or attributes.get("keepdims", 1)
    return [list(found) if keep else [item.squeeze(axis) for item in found]]
