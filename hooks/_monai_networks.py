"""Builds the networks of MONAI's catalogue.

Most take `spatial_dims`, `in_channels` and `out_channels`: here one channel of a volume in, two
classes out.
"""

from __future__ import annotations

import inspect
from typing import Any

from nar_plugin.hooks._monai_catalogue import ENTRIES
from torch import nn

_USUAL: dict[str, Any] = {
    "spatial_dims": 3,
    "in_channels": 1,
    "out_channels": 2,
    "pretrained": False,
    "num_classes": 2,
}


def names(classes: Any) -> list[str]:
    """What can be built of these, such as `UNet` and `UNet/2d`."""
    found = []
    for name, entry in ENTRIES.items():
        if hasattr(classes, name):
            found.append(name)
            if entry.flat:
                found.append(f"{name}/2d")
    return found


def built(name: str, classes: Any) -> nn.Module:
    """The network of that name.

    Args:
        name: One of `names`.
        classes: The module `monai.networks.nets`.
    """
    owner, _, dimensions = name.partition("/")
    entry, make = ENTRIES[owner], getattr(classes, owner)
    known = _arguments(make)
    options = {key: value for key, value in _USUAL.items() if key in known}
    options |= {"spatial_dims": 2} if dimensions else {}
    model: nn.Module = make(**options | entry.options)
    return model


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
