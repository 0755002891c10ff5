"""Looks up sizes in the configuration of a model of diffusers, whatever its author called them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

_SIDE = 32  # of a latent whose configuration does not say
_CHANNELS = (
    "audio_acoustic_hidden_dim",
    "in_channels",
    "input_channels",
    "audio_channels",
    "io_channels",
    "latent_channels",
    "latent_channel",
    "latent_dim",
    "in_visual_dim",
    "in_dim",
    "encoder_in_channels",
    "num_channels",
    "data_dim",
    "embedding_dim",
)


def number(config: Mapping[str, Any], names: Sequence[str], default: int = 0) -> int:
    """The first integer under one of `names`, of a list its first; `default` if there is none.

    Example:
        ```python
        number(unet.config, ("sample_size",), 64)
        ```
    """
    return next(numbers(config, names), default)


def numbers(config: Mapping[str, Any], names: Sequence[str]) -> Iterator[int]:
    """Every positive integer under one of `names`, of a list its first, without repetition."""
    seen = set()
    for name in names:
        value = config.get(name)
        if isinstance(value, list | tuple) and value:
            value = value[0]
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            if value not in seen:
                yield value
            seen.add(value)


def sides(config: Mapping[str, Any], default: int = _SIDE) -> tuple[int, int]:
    """Height and width that the model was configured for, in its own pixels."""
    size = config.get("sample_size")
    if isinstance(size, list | tuple) and len(size) == 2:
        return int(size[0]), int(size[1])
    height = number(config, ("sample_height", "sample_size", "image_size"), default)
    return height, number(config, ("sample_width",), height)


def channels(model: nn.Module, config: Mapping[str, Any]) -> list[int]:
    """Channels that the input may have: as configured, then as the first convolution has them."""
    found = [2] if config.get("stereo") else []
    found += list(numbers(config, _CHANNELS))[:3]
    for module in model.modules():
        if isinstance(module, nn.Conv1d | nn.Conv2d | nn.Conv3d):
            found.append(module.in_channels)
            break
    return list(dict.fromkeys(found))


def floats(*shape: int) -> Tensor:
    """A tensor of data, which has no values."""
    return torch.empty(*shape, device="meta")
