"""Image sizes that an encoder of segmentation_models_pytorch accepts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import nn

_USUAL = (256, 256)


def channels(model: nn.Module) -> int:
    """Input channels of the encoder."""
    encoder: Any = getattr(model, "encoder", model)
    width = getattr(encoder, "_in_channels", None)
    if isinstance(width, int):
        return width
    layers = (layer for layer in encoder.modules() if isinstance(layer, nn.Conv2d))
    return next((layer.in_channels for layer in layers), 3)


def sizes(model: nn.Module) -> list[tuple[int, int]]:
    """Sizes that may be accepted, best first: any, or the one that a transformer was built for."""
    return list(dict.fromkeys((*_built_for(model), _USUAL, (224, 224), (384, 384))))


def _built_for(model: nn.Module) -> Iterator[tuple[int, int]]:
    """The resolution that a patch embedding inside the encoder insists on."""
    for module in model.modules():
        size = getattr(module, "img_size", None)
        if isinstance(size, int):
            size = (size, size)
        if (
            isinstance(size, tuple | list)
            and len(size) == 2
            and getattr(module, "strict_img_size", True)
        ):
            yield int(size[0]), int(size[1])
