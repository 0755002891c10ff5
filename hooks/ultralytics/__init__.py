"""ultralytics: YOLO and RT-DETR. https://docs.ultralytics.com/models."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs, Provenance, hookimpl

if TYPE_CHECKING:
    from torch import nn

_PAGE = "https://docs.ultralytics.com/models"
_IMAGE = 640  # what the library trains and predicts with, here and below
_IMAGE_TO_CLASSIFY = 224


def _entries() -> Mapping[str, Entry]:
    """Every configuration file of the package, in each of its scales."""
    from ultralytics.nn import tasks  # noqa: F401 (an ImportError where it is not installed)

    from .configurations import built, configurations

    return {
        name: Entry(
            build=partial(built, name, configuration),
            family=configuration.family,
            task=configuration.task,
            url=f"{_PAGE}/{configuration.page}",
        )
        for name, configuration in configurations().items()
    }


_CATALOGUE = Catalogue(
    package="ultralytics",
    distribution="ultralytics",
    licence="AGPL-3.0-or-later",
    url=_PAGE,
    entries=_entries,
)
nar_library = _CATALOGUE.nar_library
nar_architectures = _CATALOGUE.nar_architectures
nar_build = _CATALOGUE.nar_build


@hookimpl
def nar_provenance(model: nn.Module) -> Provenance | None:
    """The configuration's file name, such as `ultralytics:yolov8n`."""
    if not _is_ours(model):
        return None
    from pathlib import Path

    from .configurations import configurations

    name = Path(str(model.yaml.get("yaml_file", ""))).stem  # type: ignore[union-attr, operator]
    if name not in configurations():  # a file of the user's own
        name = type(model).__name__
    return Provenance(f"ultralytics:{name}", "ultralytics")


@hookimpl
def nar_example_inputs(model: nn.Module) -> list[ExampleInputs] | None:
    """One image with the channels of the first convolution."""
    import torch

    if not _is_ours(model):
        return None
    first = next(part for part in model.modules() if isinstance(part, torch.nn.Conv2d))
    classifies = type(model).__name__ == "ClassificationModel"
    size = _IMAGE_TO_CLASSIFY if classifies else _IMAGE
    return [ExampleInputs((torch.empty(1, first.in_channels, size, size, device="meta"),))]


def _is_ours(model: nn.Module) -> bool:
    """Whether this is a network that the library made from a configuration."""
    owners = {owner.__module__ for owner in type(model).__mro__}
    return "ultralytics.nn.tasks" in owners and isinstance(getattr(model, "yaml", None), dict)
