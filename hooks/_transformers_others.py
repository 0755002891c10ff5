"""Arguments that few models of transformers ask for: series, points, tables, states."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch import nn


def special(model: nn.Module, names: set[str]) -> Iterator[dict[str, Any]]:
    """All arguments of the models whose signature tells too little."""
    build = _SPECIAL.get(type(model).__name__) or _SPECIAL.get(str(model.config.model_type))
    if build is not None:
        yield from build(model.config, names)


def required(config: Any, names: set[str]) -> dict[str, Any]:
    """Arguments without a default that neither text nor media are."""
    return {name: _NAMED[name](config) for name in names if name in _NAMED}


_NAMED: dict[str, Callable[[Any], Any]] = {}
_SPECIAL: dict[str, Callable[[Any, set[str]], Iterator[dict[str, Any]]]] = {}
