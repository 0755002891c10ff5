"""Sizes that a hand-written model keeps in its attributes or in its configuration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import nn

_HOLDERS = ("config", "configs", "cfg", "args", "hparams", "params")
_RESOLUTIONS = ("image_size", "img_size", "input_resolution", "resolution", "input_size")


def integer(model: nn.Module, names: Iterable[str]) -> int | None:
    """The first positive integer under one of these names, in the model before its parts.

    Example:
        ```python
        integer(nano_gpt, ("block_size",))  # 1024, from nano_gpt.config.block_size
        ```
    """
    for value in _values(model, names):
        if isinstance(value, Integral) and not isinstance(value, bool) and int(value) > 0:
            return int(value)
    return None


def resolutions(model: nn.Module) -> Iterator[tuple[int, int]]:
    """Image sizes as (height, width) in pixels, in the model before its parts."""
    for value in _values(model, _RESOLUTIONS):
        pair = (value, value) if isinstance(value, int) else value
        if isinstance(pair, tuple | list) and len(pair) == 2:
            height, width = pair
            if isinstance(height, int) and isinstance(width, int) and min(pair) >= 8:
                yield height, width


def input_shape(model: nn.Module) -> tuple[int, ...] | None:
    """What the model itself says in `input_shape`, with or without a batch, if it does."""
    try:
        stated = getattr(model, "input_shape", None)
    except Exception:  # a property of somebody else's
        return None
    if not isinstance(stated, tuple | list) or len(stated) < 2:
        return None
    whole = all(type(size) is int and size > 0 for size in stated)
    return tuple(stated) if whole else None


def _values(model: nn.Module, names: Iterable[str]) -> Iterator[Any]:
    names = tuple(names)
    for owner in (model, *model.children()):
        for holder in (owner, *(getattr(owner, name, None) for name in _HOLDERS)):
            for name in names:
                if isinstance(holder, Mapping):
                    yield holder.get(name)
                elif holder is not None and not callable(getattr(holder, name, None)):
                    yield getattr(holder, name, None)
