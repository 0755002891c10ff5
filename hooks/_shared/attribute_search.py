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
    stated = attribute(model, "input_shape")
    if not isinstance(stated, tuple | list) or len(stated) < 2:
        return None
    whole = all(type(size) is int and size > 0 for size in stated)
    return tuple(stated) if whole else None


def _values(model: nn.Module, names: Iterable[str]) -> Iterator[Any]:
    from nar_plugin.tracing.twin.parts import children

    names = tuple(names)
    for owner in (model, *children(model)):
        for holder in (owner, *(attribute(owner, name) for name in _HOLDERS)):
            for name in names:
                value = attribute(holder, name)
                if not callable(value):
                    yield value


def attribute(holder: Any, name: str) -> Any:
    """An attribute, or an entry of a mapping; None where there is none or it cannot be read."""
    try:
        return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
    except (Exception, SystemExit):  # somebody else's property
        return None
