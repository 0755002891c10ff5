"""mmpose: OpenMMLab's pose estimators of people, hands, faces, animals and clothes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nar_plugin.hookspecs import ExampleInputs

from ._openmmlab import Library, catalogue
from ._openmmlab.inputs import stated_size

if TYPE_CHECKING:
    from torch import nn

# Heads that say more of the design than the backbone below them.
_DESIGNS = (
    "AssociativeEmbeddingHead CIDHead DEKRHead EDPoseHead RTMCCHead RTMOHead RTMWHead YOLOXPoseHead"
).split()


def _task(path: str, model: dict[str, Any]) -> str:
    return "keypoint-detection"


def _design(model: dict[str, Any]) -> str | None:
    """The head: of all people at once, of detectors with keypoints, of RTMPose."""
    head = str((model.get("head") or {}).get("type"))
    return head if head in _DESIGNS else None


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    config: Any = getattr(model, "cfg", None) or {}
    backbone = config.get("model", {}).get("backbone") or {}
    codec = config.get("codec") or {}
    codec = codec[-1] if isinstance(codec, list) else codec
    width, height = codec.get("input_size") or (192, 256)
    sizes = (stated_size(model, "BottomupResize"), (height, width), (256, 256), (512, 512))
    shapes: list[tuple[int, ...]] = [(1, 3, *size) for size in sizes if size]
    if type(model).__name__ == "PoseLifter":  # the joints of one person, in one or many frames
        channels, frames = backbone.get("in_channels", 34), backbone.get("seq_len", 243)
        shapes = [(1, channels, 1), (1, channels, 243), (1, frames, 17, channels)]
    return [ExampleInputs((torch.empty(*shape, device="meta"), None)) for shape in shapes]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = catalogue(
    Library(
        package="mmpose",
        distribution="mmpose",
        task=_task,
        part="backbone",
        inputs=_inputs,
        design=_design,
    )
).hooks()
