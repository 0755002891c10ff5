"""Guesses at the inputs that an ONNX graph declares: what it leaves open has a likely size."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from .._shared.program_tensors import example
from .shapes import FLOATS

_TYPES = {
    2: torch.uint8,
    3: torch.int8,
    5: torch.int16,
    6: torch.int32,
    7: torch.int64,
    9: torch.bool,
}
_SIDES = (224, 256, 640, 32)  # of pictures
_STEPS = (64, 16, 512, 16_000)  # of sequences
_PAST = re.compile(r"past(?!.*(mask|\+))")
_BATCH = re.compile(r"batch|^n$|^b$|^bs$", re.IGNORECASE)
_CHANNELS = re.compile(r"channel", re.IGNORECASE)
_RATE = re.compile(r"sr|sample_?rate|sampling_?rate")
_STATE = re.compile(r"(h|c|state|hidden)_?\w?\w?")
_MOST_INPUTS = 2000
_MOST_ELEMENTS = 1 << 24  # of one input


def guesses(inputs: list[Any]) -> list[tuple[Tensor, ...]]:
    """Inputs of the declared kinds, the likely sizes first, without repetition.

    Args:
        inputs: The `ValueInfoProto` of each input.

    Raises:
        ValueError: An input is no tensor of numbers.
    """
    if len(inputs) > _MOST_INPUTS:
        raise ValueError(f"it has {len(inputs):,} inputs")
    found: dict[str, tuple[Tensor, ...]] = {}
    for side, steps in zip(_SIDES, _STEPS, strict=True):
        made = tuple(_input(item, side, steps) for item in inputs)
        found.setdefault(str([item.shape for item in made]), made)
    return list(found.values())


def _input(item: Any, side: int, steps: int) -> Tensor:
    kind = item.type.tensor_type
    if not item.type.HasField("tensor_type"):
        raise ValueError(f"its input {item.name[:60]!r} is no tensor")
    if kind.elem_type not in _TYPES and kind.elem_type not in FLOATS:
        raise ValueError(f"its input {item.name[:60]!r} holds no numbers")
    dtype = _TYPES.get(kind.elem_type, torch.float32)
    shape = list(_sizes(kind, dtype, side, steps))
    if math.prod(shape) > _MOST_ELEMENTS:
        shape = [min(size, 16) for size in shape]
    if _RATE.fullmatch(item.name):
        return torch.full(shape, 16_000, dtype=dtype)
    if _STATE.fullmatch(item.name):
        steps = 1
        shape = list(_sizes(kind, dtype, side, steps))
    if "mask" in item.name.lower() and not dtype.is_floating_point:
        return torch.ones(shape, dtype=dtype)
    return example(dtype, shape)


def _sizes(kind: Any, dtype: torch.dtype, side: int, steps: int) -> Iterable[int]:
    if not kind.HasField("shape"):  # not even the rank is known
        return (1, 3, side, side) if dtype.is_floating_point else (1, steps)
    sizes = [(item.dim_value, item.dim_param) for item in kind.shape.dim]
    return [
        _size(value, name, place, len(sizes), dtype, side, steps)
        for place, (value, name) in enumerate(sizes)
    ]


def _size(
    value: int, name: str, place: int, rank: int, dtype: torch.dtype, side: int, steps: int
) -> int:
    if value > 0:
        return value
    if _PAST.search(name):
        return 0
    if _BATCH.search(name):
        return 1
    picture = rank >= 4 and (dtype.is_floating_point or dtype == torch.uint8)
    if picture and (_CHANNELS.search(name) or place == 1):
        return 3
    if picture and place >= 2:
        return side
    return 1 if place == 0 and rank > 1 else steps
