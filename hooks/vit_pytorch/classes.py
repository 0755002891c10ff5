"""Finds and builds the classes of `classes.toml`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Entry

from .._shared.expressions import options
from .._shared.tables import table

if TYPE_CHECKING:
    from torch import nn

PACKAGE = "vit_pytorch"
# What most of the README's examples share; a class takes from it what its constructor knows.
_USUAL: dict[str, Any] = {
    "image_size": 256,
    "patch_size": 32,
    "num_classes": 1000,
    "dim": 1024,
    "depth": 6,
    "heads": 16,
    "mlp_dim": 2048,
}


def names() -> frozenset[str]:
    """Names of the table, whether the installed version has them or not."""
    return frozenset(table(__package__, "classes.toml"))


def entries() -> dict[str, Entry]:
    """The classes of the table that the installed version has."""
    import_module(PACKAGE)
    found = {}
    for name, row in table(__package__, "classes.toml").items():
        module, _, owner = name.rpartition(".")
        try:
            inside = import_module(f"{PACKAGE}.{module}" if module else PACKAGE)
        except ImportError:  # an older version, or a package of its own that is not there
            continue
        if make := getattr(inside, owner, None):
            found[name] = Entry(partial(_built, make, row["build"]), row["family"], row["task"])
    return found


def _built(make: Callable[..., nn.Module], call: str) -> nn.Module:
    known = inspect.signature(make).parameters
    return make(**{key: value for key, value in _USUAL.items() if key in known} | options(call))
