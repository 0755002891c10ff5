"""kornia: computer vision in tensors, with networks for features, detection and more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    from torch import nn

_POINTS = 64
_PATCHES = ("HardNet", "HardNet8", "HyNet", "SOSNet", "TFeat", "OriNet")
_GREY = ("KeyNet", "SOLD2Net", "SmallSRNet", "XFeatModel")


def _entries() -> Mapping[str, Entry]:
    from . import models

    return models.read()


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    def image(channels: int, side: int) -> torch.Tensor:
        return torch.empty(1, channels, side, side, device="meta")

    name, ids = type(model).__name__, torch.arange(16).view(1, 16)
    special: dict[str, tuple[Any, ...]] = {
        "DeFMO": (image(6, 256),),
        "KimiVLModel": (image(3, 392),),
        "LAFAffNetShapeEstimator": (torch.empty(1, 8, 2, 3, device="meta"), image(1, 128)),
        "LoFTR": ({"image0": image(1, 256), "image1": image(1, 256)},),
        "PaliGemma": (ids, image(3, 224)),
        "Qwen25VisionTransformer": (image(3, 224),),
        "RTDETR": (image(3, 640),),
        "Sam": (image(3, 1024), [_prompt()], True),
    }
    if name in special:
        return [ExampleInputs(special[name])]
    if name == "LightGlue":
        return [ExampleInputs(({"image0": _points(model), "image1": _points(model)},))]
    if name == "SigLip2Model":
        sides = (224, 256, 384, 512)
        ids = torch.arange(64).view(1, 64)
        return [
            ExampleInputs((), {"pixel_values": image(3, side), "input_ids": ids}) for side in sides
        ]
    if name in _PATCHES:
        return [ExampleInputs((image(1, 32),))]
    channels = 1 if name in _GREY else 3
    return [ExampleInputs((image(channels, side),)) for side in (256, 224, 640)]


def _points(model: Any) -> dict[str, Any]:
    import torch

    return {
        "keypoints": torch.rand(1, _POINTS, 2, device="cpu") * 256,
        "descriptors": torch.empty(1, _POINTS, model.conf.input_dim, device="meta"),
        "image_size": torch.tensor([[256, 256]], device="cpu"),
        "scales": torch.empty(1, _POINTS, device="meta"),
        "oris": torch.empty(1, _POINTS, device="meta"),
        "lafs": torch.empty(1, _POINTS, 2, 3, device="meta"),
    }


def _prompt() -> dict[str, Any]:
    import torch

    points = torch.empty(1, 1, 2, device="meta"), torch.ones(1, 1, dtype=torch.int64)
    return {"points": points}


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = Catalogue(
    package="kornia",
    distribution="kornia",
    licence="Apache-2.0",
    url="https://kornia.readthedocs.io/en/latest/models.html",
    entries=_entries,
    inputs=_inputs,
).hooks()
