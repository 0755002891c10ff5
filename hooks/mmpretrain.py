"""mmpretrain: OpenMMLab's image classifiers, self-supervised and multimodal models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nar_plugin.hookspecs import ExampleInputs

from ._openmmlab import Library, catalogue
from ._openmmlab.inputs import stated_size

if TYPE_CHECKING:
    from torch import nn

_CROPS = ("EfficientNetCenterCrop", "CenterCrop", "Resize", "ResizeEdge")
_TASKS = {
    "ImageClassifier": "image-classification",
    "ImageToImageRetriever": "image-feature-extraction",
    "BlipCaption": "image-to-text",
    "Blip2Caption": "image-to-text",
    "BlipVQA": "visual-question-answering",
    "Blip2VQA": "visual-question-answering",
    "BlipGrounding": "zero-shot-object-detection",
    "ChineseCLIP": "zero-shot-image-classification",
    "CLIPZeroShot": "zero-shot-image-classification",
    "Flamingo": "image-text-to-text",
    "Llava": "image-text-to-text",
    "MiniGPT4": "image-text-to-text",
    "OFA": "image-text-to-text",
    "Otter": "image-text-to-text",
}


_OFA_TASKS = {
    "caption": "image-to-text",
    "refcoco": "zero-shot-object-detection",
    "vqa": "visual-question-answering",
}


def _task(path: str, model: dict[str, Any]) -> str:
    if model["type"] == "OFA" and model.get("task") in _OFA_TASKS:
        return _OFA_TASKS[model["task"]]
    if model["type"] == "ImageClassifier" and not model.get("head"):
        return "image-feature-extraction"
    return _TASKS.get(str(model["type"]), "image-feature-extraction")


def _inputs(model: nn.Module) -> list[ExampleInputs]:
    import torch

    config: Any = getattr(model, "cfg", None) or {}
    small = str(config.get("dataset_type")).startswith("CIFAR")
    stated = (32, 32) if small else stated_size(model, *_CROPS)
    sizes = (stated, (224, 224), (384, 384))
    return [ExampleInputs((torch.empty(1, 3, *size, device="meta"),)) for size in sizes if size]


nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = catalogue(
    Library(
        package="mmpretrain",
        distribution="mmpretrain",
        task=_task,
        part="backbone",
        inputs=_inputs,
    )
).hooks()
