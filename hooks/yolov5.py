"""yolov5: the detectors and segmenters of its own repository, from their YAML files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn


def _entries() -> Mapping[str, Entry]:
    from yolov5.models import yolo

    found: dict[str, Entry] = {}
    for path in sorted(Path(yolo.__file__).parent.rglob("*.yaml")):
        segments = path.stem.endswith("-seg")
        owner: Any = yolo.SegmentationModel if segments else yolo.DetectionModel
        task = "image-segmentation" if segments else "object-detection"
        if path.stem != "anchors":  # lists of numbers
            build = partial(_built, owner, path)
            found[path.stem] = Entry(build, path.stem[: len("yolov5")], task)
    return found


def _built(owner: Callable[[str], nn.Module], path: Path) -> nn.Module:
    import torch
    from yolov5.models.common import Conv

    # A file that names another activation sets it for all models that are built after it.
    Conv.default_act = torch.nn.SiLU()
    with torch.device("cpu"):  # the constructor runs the network, and sorts its anchors
        return owner(str(path)).to("meta")


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    return [ExampleInputs((torch.empty(1, 3, 640, 640, device="meta"),))]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="yolov5",
    distribution="yolov5",
    licence="GPL-3.0-only",
    url="https://github.com/fcakyon/yolov5-pip",
    entries=_entries,
    inputs=_inputs,
).hooks()
