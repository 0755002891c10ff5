"""The tensors of a program: inputs and weights without memory, and the few known values."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

MOST_KNOWN = 1 << 16  # elements of an integer tensor whose values are read
MOST_ELEMENTS = 1 << 40  # of one tensor: no weight has as many
_IDS = 7  # different ones, few enough for any table


def example(dtype: torch.dtype, shape: Sequence[int]) -> Tensor:
    """An input of this kind: floats on meta, integers as small ids, conditions that all hold.

    Example:
        ```python
        example(torch.int64, (1, 4))  # [[0, 1, 2, 3]]
        ```
    """
    if dtype.is_floating_point or dtype.is_complex:
        return empty(dtype, shape)
    if dtype == torch.bool:
        return torch.ones(tuple(shape), dtype=torch.bool)
    places = torch.arange(torch.Size(shape).numel()).reshape(tuple(shape)) % _IDS
    return places.to(dtype)


def empty(dtype: torch.dtype, shape: Sequence[int]) -> Tensor:
    """A tensor on meta.

    Raises:
        ValueError: A size is negative, or there are too many elements.
    """
    size = torch.Size(shape)
    if any(side < 0 for side in size) or size.numel() > MOST_ELEMENTS:
        raise ValueError(f"a tensor has the shape {list(size)[:8]}")
    return torch.empty(size, dtype=dtype, device="meta")


def known(dtype: torch.dtype, shape: Sequence[int], content: bytes) -> Tensor:
    """A small tensor with the values that the file has.

    Raises:
        ValueError: The bytes are too few.
    """
    size = torch.Size(shape)
    wanted = size.numel() * dtype.itemsize
    if any(side < 0 for side in size) or wanted > len(content):
        raise ValueError(f"a tensor of {wanted} bytes has {len(content)}")
    if wanted == 0:
        return torch.empty(size, dtype=dtype)
    return torch.frombuffer(bytearray(content[:wanted]), dtype=dtype).reshape(size)


def is_known(dtype: torch.dtype, shape: Sequence[int]) -> bool:
    """Whether the values may matter: of places, sizes and masks, not of weights."""
    whole = not (dtype.is_floating_point or dtype.is_complex)
    return whole and torch.Size(shape).numel() <= MOST_KNOWN
