"""mmrotate: OpenMMLab's detectors of rotated boxes; most are mmdet's with other heads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._openmmlab import Library, catalogue
from ._openmmlab.detectors import detector_inputs

if TYPE_CHECKING:
    from torch import nn

    from nar_plugin.hookspecs import ExampleInputs


def _task(path: str, model: dict[str, Any]) -> str:
    return "object-detection"


def _design(model: dict[str, Any]) -> str | None:
    """The first head of a detector that refines: R3Det's or S2A-Net's."""
    first = model.get("bbox_head_init") or {}
    return str(first.get("type")) if model["type"] == "RefineSingleStageDetector" else None


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    return detector_inputs(model)


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = catalogue(
    Library(
        package="mmrotate",
        distribution="mmrotate",
        task=_task,
        part="",
        inputs=_inputs,
        design=_design,
    )
).hooks()
