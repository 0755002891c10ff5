"""mmsegmentation: OpenMMLab's semantic segmenters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nar_plugin.hookspecs import ExampleInputs

from ._openmmlab import Library, catalogue

if TYPE_CHECKING:
    from torch import nn


_SHAPES = ("img_shape", "pad_shape", "ori_shape")
_MODES = ("tensor", "predict")  # heads that look at the sample have a forward for predictions only
# Backbones that are a segmenter by themselves, under a head of two convolutions.
_SEGMENTERS = (
    "BiSeNetV1",
    "BiSeNetV2",
    "CGNet",
    "ERFNet",
    "ICNet",
    "STDCContextPathNet",
    "UNet",
)


def _task(path: str, model: dict[str, Any]) -> str:
    return "depth-estimation" if model["type"] == "DepthEstimator" else "image-segmentation"


def _design(model: dict[str, Any]) -> str | None:
    """The backbone of a plain head, or of U-Net under any, where that is the whole segmenter."""
    backbone = str((model.get("backbone") or {}).get("type"))
    return backbone if backbone in _SEGMENTERS else None


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch
    from mmseg.structures import SegDataSample

    config: Any = getattr(model, "cfg", None) or {}
    stated = config.get("crop_size")
    guesses = []
    for size in (stated, (512, 512), (512, 1024)):
        if not isinstance(size, list | tuple):
            continue
        sample = SegDataSample(metainfo=dict.fromkeys(_SHAPES, tuple(size)))
        image = torch.empty(1, 3, *size, device="meta")
        guesses += [ExampleInputs((image, [sample]), {"mode": mode}) for mode in _MODES]
    return guesses


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = catalogue(
    Library(
        package="mmseg",
        distribution="mmsegmentation",
        task=_task,
        part="decode_head",
        inputs=_inputs,
        design=_design,
    )
).hooks()
