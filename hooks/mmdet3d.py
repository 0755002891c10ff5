"""mmdet3d: OpenMMLab's detectors and segmenters of point clouds, and detectors of 3-D boxes."""

from __future__ import annotations

from typing import Any

from nar_plugin.hookspecs import ExampleInputs

from ._openmmlab import Library, catalogue
from ._openmmlab.detectors import detector_inputs

_POINTS = 4096
_VOXELS = 1000
_DESIGNS = ("PGDHead", "ShapeAwareHead", "SPVCNNBackbone")
_OF_VOXELS = ("VoxelNet", "DynamicVoxelNet", "MVXFasterRCNN")
_MASKS = ("HybridTask", "Mask", "UNet")


def _task(path: str, model: dict[str, Any]) -> str:
    kind = str(model["type"])
    heads = {**model, **(model.get("roi_head") or {})}
    if "mask_head" in heads or "decode_head" in model or any(word in kind for word in _MASKS):
        return "image-segmentation"
    return "object-detection"


def _design(model: dict[str, Any]) -> str | None:
    """The part that tells designs of one class apart.

    The head tells PAConv from PointNet++, SSN and PGD from what they start from; what gathers the
    voxels tells PointPillars from SECOND.
    """
    if model["type"] == "EncoderDecoder3D":
        return str(model["decode_head"]["type"])
    parts = [model.get(place) or {} for place in ("backbone", "bbox_head", "pts_bbox_head")]
    own = next((part["type"] for part in parts if part.get("type") in _DESIGNS), None)
    if own is None and model["type"] in _OF_VOXELS and "img_backbone" not in model:
        own = (model.get("middle_encoder") or model["pts_middle_encoder"])["type"]
    return own


def _inputs(model: Any) -> list[ExampleInputs]:
    import numpy as np
    import torch
    from mmdet3d.structures import CameraInstance3DBoxes, Det3DDataSample, LiDARInstance3DBoxes

    config: Any = model.cfg.model
    mono = "Mono" in type(model).__name__ or "MultiView" in type(model).__name__
    matrix = np.eye(4).tolist()
    about = {
        "box_type_3d": CameraInstance3DBoxes if mono else LiDARInstance3DBoxes,
        **dict.fromkeys(("img_shape", "pad_shape", "ori_shape", "input_shape"), (384, 1248)),
        **dict.fromkeys(("cam2img", "lidar2img", "lidar2cam", "depth2img"), matrix),
        "batch_input_shape": (384, 1248),
        "scale_factor": 1.0,
    }
    features = _widths(config)
    guesses = []
    for width in features:
        points = torch.empty(_POINTS, width, device="meta")
        inputs: dict[str, Any] = {"points": [points]}
        inputs["voxels"] = _voxels(config, width)
        if "img" in str(config.get("data_preprocessor")) or mono or "img_backbone" in config:
            inputs["imgs"] = torch.empty(1, 3, 384, 1248, device="meta")
        for mode in ("tensor", "predict"):
            sample = Det3DDataSample(metainfo=about)
            guesses.append(ExampleInputs((inputs, [sample]), {"mode": mode}))
    if "points" not in str(config.get("data_preprocessor")):
        guesses += detector_inputs(model)
    return guesses


def _widths(config: Any) -> list[int]:
    """Numbers that describe a point, the config's own first."""
    stated = [
        part.get("in_channels")
        for name in ("voxel_encoder", "pts_voxel_encoder", "backbone")
        if isinstance(part := config.get(name) or {}, dict)
    ]
    return list(dict.fromkeys([n for n in (*stated, 4, 5, 6, 3, 9) if isinstance(n, int) and n]))


def _voxels(config: Any, width: int) -> dict[str, Any]:
    """Occupied voxels, one to each point or with some points each, as the model's layer says."""
    import torch

    settings = config.get("data_preprocessor") or {}
    dynamic = settings.get("voxel_type", "hard") != "hard"
    most = (settings.get("voxel_layer") or {}).get("max_num_points", 10)
    shape = (_VOXELS, width) if dynamic or most < 1 else (_VOXELS, most, width)
    places = torch.zeros(_VOXELS, 4, dtype=torch.int32, device="cpu")
    return {
        "voxels": torch.empty(*shape, device="meta"),
        "coors": places,
        "num_points": torch.ones(_VOXELS, dtype=torch.int32, device="cpu"),
        "voxel_centers": torch.empty(_VOXELS, 3, device="meta"),
    }


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = catalogue(
    Library(
        package="mmdet3d",
        distribution="mmdet3d",
        task=_task,
        part="",
        inputs=_inputs,
        design=_design,
    )
).hooks()
