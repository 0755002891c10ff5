"""The configuration files that ultralytics carries, and the networks that they describe."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from nar_plugin.references.parameters_on_meta import parameters_on_meta

# The file `yolov8-seg.yaml` describes `yolov8n-seg` and its larger sisters.
_SCALED = re.compile(r"(yolo(?:e-)?v?\d+)(-.*)?")
_VERSION = re.compile(r"yoloe|yolov?\d+")
_CLASSES = {
    "Classify": "ClassificationModel",
    "Depth": "DepthModel",
    "OBB": "OBBModel",
    "Pose": "PoseModel",
    "RTDETRDecoder": "RTDETRDetectionModel",
    "Segment": "SegmentationModel",
    "SemanticSegment": "SemanticSegmentationModel",
    "WorldDetect": "WorldModel",
    "YOLOEDetect": "YOLOEModel",
    "YOLOESegment": "YOLOESegModel",
}
_TASKS = {
    "Classify": "image-classification",
    "Depth": "depth-estimation",
    "Pose": "keypoint-detection",
    "Segment": "image-segmentation",
    "SemanticSegment": "image-segmentation",
    "WorldDetect": "zero-shot-object-detection",
    "YOLOEDetect": "zero-shot-object-detection",
    "YOLOESegment": "image-segmentation",
}


class Configuration(NamedTuple):
    """One file in one scale.

    Attributes:
        path: The YAML file.
        scale: Its key below `scales`, or empty where there is but one size.
        head: The last layer's class, without the version behind it: `Detect`, `Segment`.
    """

    path: Path
    scale: str
    head: str

    @property
    def family(self) -> str:
        """The generation: `yolov8`, `yolo11`, `rt_detr`."""
        if self.head == "RTDETRDecoder":
            return "rt_detr"  # as transformers has it
        found = _VERSION.match(self.path.stem)
        return found[0] if found else self.path.stem

    @property
    def page(self) -> str:
        """The family's page in the documentation."""
        if self.head == "WorldDetect":
            return "yolo-world"
        return self.family.replace("_", "")

    @property
    def task(self) -> str:
        """In the words of the Hugging Face Hub."""
        return _TASKS.get(self.head, "object-detection")


@cache
def configurations() -> Mapping[str, Configuration]:
    """Every configuration by the name that ultralytics' `YOLO` knows it by.

    Raises:
        ImportError: Ultralytics is not installed.
    """
    with _quietly(), torch.device("cpu"):  # what a module makes when it is imported stays real
        from ultralytics.nn import tasks

    folder = Path(tasks.__file__).parents[1] / "cfg" / "models"
    found: dict[str, Configuration] = {}
    for path in sorted(folder.glob("*/*.yaml")):
        content = _content(path)
        head = re.sub(r"^v10|\d+$", "", content["head"][-1][2])
        for name, scale in _names(path.stem, content.get("scales") or {}):
            found[name] = Configuration(path, scale, head)
    return found


def _content(path: Path) -> dict[str, Any]:
    from ultralytics.utils import YAML

    load: Any = YAML.load  # has no types
    content: dict[str, Any] = load(path)
    return content


def _names(stem: str, scales: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    match = _SCALED.fullmatch(stem)
    if match is None or not scales:
        yield stem, next(iter(scales), "")
        return
    for scale in scales:
        yield f"{match[1]}{scale}{match[2] or ''}", scale


def built(name: str, configuration: Configuration) -> nn.Module:
    """The network, on the current device; while it is made it runs once to learn its strides."""
    from ultralytics.nn import tasks

    content = _content(configuration.path)
    content |= {"scale": configuration.scale, "yaml_file": f"{name}.yaml"}
    for _, _, layer, arguments in content["backbone"]:
        if layer == "TorchVision":
            arguments[2] = None  # its weights, which would be downloaded
    owner = getattr(tasks, _CLASSES.get(configuration.head, "DetectionModel"))
    with _quietly(), parameters_on_meta(), _RealStrides():
        model: nn.Module = owner(content, verbose=False)
    return model


@contextmanager
def _quietly() -> Iterator[None]:
    """Ultralytics logs to stdout, where results belong."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


class _RealStrides(TorchFunctionMode):
    """Tensors made of numbers stay on the CPU: the biases are computed from the strides."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func is torch.tensor:
            kwargs["device"] = "cpu"
        return func(*args, **kwargs)
