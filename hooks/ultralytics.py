"""ultralytics: YOLO and RT-DETR. https://docs.ultralytics.com/models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nar_plugin.hooks import _references

from nar_plugin.hookspecs import ExampleInputs, NamedArchitecture, Provenance, hookimpl

if TYPE_CHECKING:
    from torch import nn

_INSTALL = "pip install ultralytics"
_IMAGE = 640  # what the library trains and predicts with, here and below
_IMAGE_TO_CLASSIFY = 224


@hookimpl
def nar_library() -> str:
    """The library's import name."""
    return "ultralytics"


@hookimpl
def nar_provenance(model: nn.Module) -> Provenance | None:
    """The configuration's file name, such as `ultralytics:yolov8n`."""
    if not _is_ours(model):
        return None
    from pathlib import Path

    from nar_plugin.hooks._ultralytics_configurations import configurations

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


@hookimpl
def nar_architectures() -> Iterator[NamedArchitecture]:
    """Every configuration file of the package, in each of its scales."""
    from nar_plugin.hooks._ultralytics_configurations import configurations

    try:
        known = configurations()
    except ImportError:
        return
    for name, configuration in known.items():
        yield NamedArchitecture(
            name=f"ultralytics:{name}",
            library="ultralytics",
            family=configuration.family,
            task=configuration.task,
            licence="AGPL-3.0-or-later",
            url=f"https://docs.ultralytics.com/models/{configuration.page}",
        )


@hookimpl
def nar_build(name: str) -> nn.Module | None:
    """Build `ultralytics:yolov8n` or `ultralytics:yolo11n-seg` without weights."""
    wanted = _references.architecture(name, "ultralytics")
    if wanted is None:
        return None
    from nar_plugin.hooks._ultralytics_configurations import built, configurations

    try:
        known = configurations()
    except ImportError as error:
        raise _references.missing(name, "ultralytics", _INSTALL) from error
    if wanted not in known:
        raise _references.unknown(name, "ultralytics", known)
    model: nn.Module = built(wanted, known[wanted])
    return model


def _is_ours(model: nn.Module) -> bool:
    """Whether this is a network that the library made from a configuration."""
    owners = {owner.__module__ for owner in type(model).__mro__}
    return "ultralytics.nn.tasks" in owners and isinstance(getattr(model, "yaml", None), dict)
