"""mmdet: OpenMMLab's detectors, instance and panoptic segmenters and trackers."""

from __future__ import annotations

from typing import Any

from ._openmmlab import Library, catalogue
from ._openmmlab.detectors import detector_inputs

_MASKS = ("Mask", "SOLO", "Panoptic", "YOLACT", "CondInst", "BoxInst", "PointRend", "QueryInst")


def _task(path: str, model: dict[str, Any]) -> str:
    kind = str(model["type"])
    heads = {**model, **(model.get("roi_head") or {}), **(model.get("detector") or {})}
    if kind == "BaseReID":
        return "image-feature-extraction"
    if kind == "ImageClassifier":
        return "image-classification"
    if kind in ("GLIP", "GroundingDINO"):
        return "zero-shot-object-detection"
    if "mask_head" in heads or "-ins_" in path or any(word in kind for word in _MASKS):
        return "image-segmentation"
    return "object-detection"


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = catalogue(
    Library(
        package="mmdet",
        distribution="mmdet",
        task=_task,
        part="",
        inputs=detector_inputs,
    )
).hooks()
