"""Builds the networks of `networks.toml`.

Most take `spatial_dims`, `in_channels` and `out_channels`: here one channel of a volume in, two
classes out.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Entry

from .._shared.expressions import options
from .._shared.tables import table

if TYPE_CHECKING:
    from torch import nn

_USUAL: dict[str, Any] = {
    "spatial_dims": 3,
    "in_channels": 1,
    "out_channels": 2,
    "pretrained": False,
    "num_classes": 2,
}


def entries(classes: Any) -> dict[str, Entry]:
    """What can be built of these, such as `UNet` and `UNet/2d`.

    Args:
        classes: The module `monai.networks.nets`.
    """
    found = {}
    for name, row in table(__package__, "networks.toml").items():
        if make := getattr(classes, name, None):
            sizes = {"": {}, "/2d": {"spatial_dims": 2}} if row.get("flat") else {"": {}}
            for ending, usual in sizes.items():
                build = partial(_built, make, usual, row["build"])
                found[f"{name}{ending}"] = Entry(build, row["family"], row["task"])
    return found


def _built(make: Callable[..., nn.Module], usual: dict[str, int], call: str) -> nn.Module:
    known = _arguments(make)
    given = {key: value for key, value in _USUAL.items() if key in known}
    return make(**given | usual | options(call))


def _arguments(make: Any) -> set[str]:
    """Names of a constructor's arguments, its parents' too where it passes the others on."""
    owners: tuple[Any, ...] = make.__mro__ if isinstance(make, type) else (make,)
    found: set[str] = set()
    for owner in owners:
        parameters = inspect.signature(owner).parameters.values()
        found |= {item.name for item in parameters}
        if not any(item.kind is item.VAR_KEYWORD for item in parameters):
            break
    return found
