"""torchvision: image, video, detection, segmentation and optical flow models.

https://docs.pytorch.org/vision/stable/models.html
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from nar_plugin.catalogue import Catalogue, Entry
from nar_plugin.hookspecs import ExampleInputs

if TYPE_CHECKING:
    import torch
    from torch import nn

_PACKAGE = "torchvision.models"

# Defining modules under the name that the other two libraries' plugins use as well. Video models
# convolve over time, so they are families of their own.
_FAMILIES = {
    "inception": "inception_v3",
    "swin_transformer": "swin",
    "video.mvit": "video_mvit",
    "video.resnet": "video_resnet",
    "video.swin_transformer": "video_swin",
    "vision_transformer": "vit",
}
_TASKS = {
    "detection": "object-detection",
    "optical_flow": "optical-flow",
    "quantization": "image-classification",
    "segmentation": "image-segmentation",
    "video": "video-classification",
}
_DETECTION_SIZE = 320  # the models resize by themselves; the proposals need some room
_FLOW_SIZE = 128  # RAFT's smallest: 16 x 16 features for a pyramid of four levels
_FRAMES = 16
_IMAGE_SIZES = {"Inception3": 299, "QuantizableInception3": 299}
_VIDEO_SIZES = {"MViT": 224, "S3D": 224, "SwinTransformer3d": 224, "VideoResNet": 112}


def _entries() -> Mapping[str, Entry]:
    """All of `torchvision.models.list_models()`."""
    from torchvision import models

    entries = {}
    for name in models.list_models():
        builder = models.get_model_builder(name)
        module = str(builder.__module__).removeprefix(f"{_PACKAGE}.")
        package = module.rpartition(".")[0]
        page = ".".join(filter(None, (_PACKAGE, package, builder.__name__)))
        entries[name] = Entry(
            build=partial(_built, name),
            family=_family(name, module),
            task=_TASKS.get(package, "image-classification"),
            url=f"https://docs.pytorch.org/vision/stable/models/generated/{page}.html",
        )
    return entries


def _built(name: str) -> nn.Module:
    """A model without weights, its backbone's included."""
    from torchvision import models

    builder = models.get_model_builder(name)
    options: dict[str, object] = {"weights": None}
    known = inspect.signature(builder).parameters
    options |= {key: None for key in ("weights_backbone",) if key in known}
    options |= {key: False for key in ("quantize",) if key in known}
    if builder.__module__.endswith((".googlenet", ".inception")):
        options["init_weights"] = False  # else a warning, and a slow loop over all weights
    # RegNet reads the widths of its stages out of a tensor, which must hold real numbers.
    scope = _real_sizes() if builder.__module__.endswith(".regnet") else nullcontext()
    with scope:
        model: nn.Module = builder(**options)
    size = _published_size(name)
    if size is not None and not hasattr(model, "image_size"):
        model.__dict__["image_size"] = size
    return model


def _published_size(name: str) -> int | None:
    """Pixels that the weights of an image classifier read; of several sizes the smallest."""
    from torchvision import models

    steps = (weights.transforms for weights in models.get_model_weights(name))
    stated = (getattr(step, "keywords", {}).get("crop_size") for step in steps)
    return min((size for size in stated if isinstance(size, int)), default=None)


def _real_sizes() -> AbstractContextManager[object]:
    """A mode in which sizes are computed on the CPU, also under `torch.device("meta")`."""
    import torch
    from torch.overrides import TorchFunctionMode

    class RealSizes(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = dict(kwargs or {})
            if func in (torch.arange, torch.tensor):
                kwargs["device"] = "cpu"
            return func(*args, **kwargs)

    return RealSizes()


def _inputs(model: nn.Module) -> list[ExampleInputs] | None:
    """What the class of the model eats: an image, a video, two images or a list of images."""
    import torch

    owner = _CATALOGUE.owner(model)
    if owner is None:
        return None
    module = str(owner.__module__).removeprefix(f"{_PACKAGE}.")
    if module.startswith("detection."):
        image = torch.empty(_channels(model), _DETECTION_SIZE, _DETECTION_SIZE, device="meta")
        return [ExampleInputs(([image],))]
    if module.startswith("optical_flow."):
        image = torch.empty(1, 3, _FLOW_SIZE, _FLOW_SIZE, device="meta")
        return [ExampleInputs((image, image.clone()))]
    if module.startswith("video."):
        return [ExampleInputs((video,)) for video in _videos(model, owner.__name__)]
    size = getattr(model, "image_size", None) or _IMAGE_SIZES.get(owner.__name__, 224)
    return [ExampleInputs((torch.empty(1, _channels(model), size, size, device="meta"),))]


def _channels(model: nn.Module) -> int:
    """Input channels of the first convolution."""
    for module in model.modules():
        channels = getattr(module, "in_channels", None)
        if isinstance(channels, int) and hasattr(module, "kernel_size"):
            return channels
    return 3


def _videos(model: nn.Module, owner: str) -> Iterator[torch.Tensor]:
    import torch

    positions: Any = getattr(model, "pos_encoding", None)  # MViT is built for one size of video
    frames, size = _FRAMES, _VIDEO_SIZES.get(owner, 112)
    if positions is not None and hasattr(positions, "temporal_size"):
        patch: Any = model.conv_proj.stride
        frames = int(positions.temporal_size * patch[0])
        size = int(positions.spatial_size[0] * patch[1])
    yield torch.empty(1, _channels(model), frames, size, size, device="meta")


def _family(name: str, module: str) -> str:
    """The defining module, in the words that the three libraries share."""
    if name.startswith("swin_v2"):
        return "swinv2"
    return _FAMILIES.get(module, module.rpartition(".")[2])


_CATALOGUE = Catalogue(
    package="torchvision",
    distribution="torchvision",
    licence="BSD-3-Clause",
    url="https://docs.pytorch.org/vision/stable/models.html",
    entries=_entries,
    inputs=_inputs,
    models=(_PACKAGE,),
)
nar_library, nar_provenance, nar_example_inputs, nar_architectures, nar_build = _CATALOGUE.hooks()
