"""mmaction2: OpenMMLab's recognisers of actions in videos, skeletons and sound."""

from __future__ import annotations

from typing import Any

from nar_plugin.hookspecs import ExampleInputs

from ._openmmlab import Library, catalogue
from ._openmmlab.inputs import stated_size, stated_step

_JOINTS = {"coco": 17, "nturgb+d": 25, "openpose": 18}


def _task(path: str, model: dict[str, Any]) -> str:
    return "audio-classification" if "Audio" in model["type"] else "video-classification"


def _inputs(model: Any) -> list[ExampleInputs]:
    import torch

    config: Any = model.cfg.model
    backbone = config.get("backbone") or {}
    kind = type(model).__name__
    frames = stated_step(model, "SampleFrames") or stated_step(model, "SampleAVAFrames") or {}
    clips, steps = frames.get("num_clips", 8), frames.get("clip_len", 8)
    channels = backbone.get("in_channels", 3)
    side = stated_size(model, "CenterCrop", "ThreeCrop", "Resize") or (224, 224)
    side = (224, 224) if min(side) < 1 else side
    if kind == "FastRCNN":
        return _boxed(torch.empty(1, 3, steps, 256, 256, device="meta"))
    if kind == "RecognizerGCN":
        layout = str((backbone.get("graph_cfg") or {}).get("layout"))
        shapes: list[tuple[Any, ...]] = [(1, 1, 2, 100, _JOINTS.get(layout, 17), channels)]
    elif kind == "RecognizerAudio":
        shapes = [(1, 1, 1, 128, 80)]
    elif kind == "Recognizer2D":
        shapes = [(1, backbone.get("num_segments") or clips, 3, *side)]
    elif channels > 3:  # heat maps of joints
        shapes = [(1, 1, channels, 48, 64, 64)]
    else:
        shapes = [(1, 1, 3, time, *side) for time in (steps, backbone.get("num_frames", 8), 16)]
    if kind in ("BMN", "TEM", "PEM", "TCANet"):  # features of the steps of a video
        features = config.get("feat_dim") or config.get("tem_feat_dim") or 400
        shape = (1, features, config.get("temporal_dim") or config.get("tscale") or 100)
        return [ExampleInputs((torch.empty(*shape, device="meta"), None, "tensor"))]
    return [
        ExampleInputs((torch.empty(*shape, device="meta"),), stage)
        for shape in shapes
        for stage in ({"stage": "head"}, {})
    ]


def _boxed(frames: Any) -> list[ExampleInputs]:
    """A clip with one person's box, for detectors of actions."""
    import torch
    from mmaction.structures import ActionDataSample
    from mmengine.structures import InstanceData

    box = torch.tensor([[10.0, 10.0, 90.0, 200.0]], device="cpu")
    about = {"img_shape": (256, 256), "scale_factor": (1.0, 1.0), "ori_shape": (256, 256)}
    sample = ActionDataSample(metainfo=about, proposals=InstanceData(bboxes=box))
    return [ExampleInputs((frames, [sample]), {"mode": "predict"})]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = catalogue(
    Library(
        package="mmaction",
        distribution="mmaction2",
        task=_task,
        part="backbone",
        inputs=_inputs,
    )
).hooks()
