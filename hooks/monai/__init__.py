"""MONAI: networks for medical images and volumes. https://docs.monai.io/en/stable/networks.html."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn


def _entries() -> Mapping[str, Entry]:
    """The networks of `monai.networks.nets`, for volumes and (`/2d`) for images."""
    from monai.networks import nets

    from .networks import entries

    return entries(nets)


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    """An image or a volume, and what else the forward asks for."""
    from .inputs import guesses

    return guesses(model)


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="monai",
    distribution="monai",
    licence="Apache-2.0",
    url="https://docs.monai.io/en/stable/networks.html",
    entries=_entries,
    inputs=_inputs,
    models=("monai.networks",),
).hooks()
