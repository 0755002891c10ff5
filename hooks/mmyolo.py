"""mmyolo: OpenMMLab's YOLO detectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nar_plugin.hookspecs import ExampleInputs

from ._openmmlab import Library, catalogue
from ._openmmlab.inputs import stated_size

if TYPE_CHECKING:
    from torch import nn


def _task(path: str, model: dict[str, Any]) -> str:
    if model["type"] == "ImageClassifier":
        return "image-classification"
    return "image-segmentation" if "-ins_" in path else "object-detection"


def _design(model: dict[str, Any]) -> str | None:
    """YOLOv5u: YOLOv5 with the head of YOLOv8."""
    backbone = str((model.get("backbone") or {}).get("type"))
    return "YOLOv5Head" if backbone == "YOLOv5CSPDarknet" else None


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    stated = stated_size(model, "LetterResize", "YOLOv5KeepRatioResize", "Resize", "mmdet.Resize")
    sizes = (stated, (640, 640), (1280, 1280))
    return [ExampleInputs((torch.empty(1, 3, *size, device="meta"),)) for size in sizes if size]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = catalogue(
    Library(
        package="mmyolo",
        distribution="mmyolo",
        task=_task,
        part="bbox_head",
        inputs=_inputs,
        design=_design,
    )
).hooks()
