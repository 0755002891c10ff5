"""Rolls that a file spells otherwise: rows chosen in another order, or two parts swapped."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils.weak import WeakIdKeyDictionary

# What a result was rolled from, and by how much along each dimension.
_MADE_OF: Any = WeakIdKeyDictionary()


def roll(source: Tensor, dim: int, shift: int) -> Tensor:
    """`torch.roll`, as one call with the rolls along other dimensions that the source comes from.

    Args:
        source: Of any shape.
        dim: Which dimension.
        shift: By how many rows.
    """
    shifts = {dim: shift}
    if source in _MADE_OF and dim not in _MADE_OF[source][1]:
        source, earlier = _MADE_OF[source]
        shifts = earlier | shifts
    result = torch.roll(source, tuple(shifts.values()), tuple(shifts))
    _MADE_OF[result] = source, shifts
    return result
