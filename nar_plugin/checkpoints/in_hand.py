"""A state_dict in hand: names and tensors in a mapping. No value of a tensor is read."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, cast

from nar_plugin.checkpoints.packing import LONGEST_NOTE, note_of, noted_sides
from nar_plugin.checkpoints.tensors import LONGEST_NAME, MOST, Checkpoint, Tensor
from nar_plugin.errors import NarError

FORM = "state_dict"


def is_state_dict(candidate: object) -> bool:
    """Whether it is a mapping with tensors, or one that holds such a mapping."""
    return "torch" in sys.modules and _held(candidate) is not None


def _held(candidate: Any) -> Mapping[Any, Any] | None:
    """The mapping of tensors: the candidate, or the largest of its values."""
    import torch

    if not issubclass(type(candidate), Mapping):
        return None
    if any(issubclass(type(value), torch.Tensor) for value in candidate.values()):
        return cast(Mapping[Any, Any], candidate)
    inner = [v for v in candidate.values() if issubclass(type(v), Mapping)]
    found = [v for v in inner if any(issubclass(type(each), torch.Tensor) for each in v.values())]
    return max(found, key=len, default=None)


def from_state_dict(candidate: Any) -> Checkpoint:
    """The tensors of a state_dict in their order.

    Raises:
        NarError: It has more tensors than any model.
    """
    import torch

    held = _held(candidate) or {}
    if len(held) > MOST:
        raise NarError(f"This state_dict has {len(held):,} entries; at most {MOST:,} are read.")
    seen: set[tuple[Any, ...]] = set()
    tensors, sides = [], {}
    for name, value in held.items():
        if not issubclass(type(value), torch.Tensor):
            continue
        key = _numbers_of(value)
        dtype = str(value.dtype).removeprefix("torch.")
        tensors.append(Tensor(str(name)[:LONGEST_NAME], tuple(value.shape), dtype, key in seen))
        seen.add(key)
        layer = note_of(str(name))
        if layer and value.numel() <= LONGEST_NOTE and value.device.type != "meta":
            if found := noted_sides(bytes(value.flatten().tolist())):
                sides[layer] = found
    return Checkpoint("this state_dict", FORM, tuple(tensors), sides)


def _numbers_of(value: Any) -> tuple[Any, ...]:
    """What two tensors share that are tied: a storage, also of tensors on the meta device."""
    try:
        storage = value.untyped_storage()._cdata
    except (NotImplementedError, RuntimeError):  # a sparse tensor, or one that wraps others
        return (id(value),)
    return storage, value.storage_offset(), tuple(sorted(value.shape))
