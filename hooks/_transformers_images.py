"""Images and videos for a model of transformers: their layout, and the places they take in text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from nar_plugin.hooks._transformers_media import Media, floats
from nar_plugin.hooks._transformers_sizes import BACKBONE, VISION, find, number
from nar_plugin.hooks._transformers_texts import PLACEHOLDERS
from torch import nn

_SEEING = (*VISION, *BACKBONE)
_PATCHES = 8  # a side of the grid of patches, where the model takes any
_COUNTED = (
    "image_seq_length",
    "image_seq_len",
    "mm_tokens_per_image",
    "num_image_tokens",
    "num_query_tokens",
    "image_token_num",
    "vision_soft_tokens_per_image",
)
_USUAL = (224, 384, 256, 512, 336)


def images(model: nn.Module, names: set[str], required: set[str]) -> Iterator[Media]:
    """One image in the layouts that the signature names, likeliest first."""
    config: Any = model.config  # type: ignore[assignment]
    if "grid_thw" in names or "image_grid_thw" in names:
        yield from _patch_grids(config, names)
        return
    if "pixel_values" not in names:
        return
    if "spatial_shapes" in names:
        yield from _patch_sequences(config)
        return
    channels = number(config, ("num_channels", "in_channels", "in_chans"), 3, _SEEING)
    sizes = list(_sizes(config))
    for place, (height, width) in enumerate(sizes):
        for tokens in _places(config, height, width):
            yield Media(_still(names, floats(1, channels, height, width)), tokens)
            if "pixel_attention_mask" in names and not place:
                several = floats(1, 1, channels, height, width)
                yield Media(_still(names, several), tokens)
    height, width = sizes[0]
    frames = number(config, ("num_frames", "frames_per_clip"), 16, _SEEING)
    yield Media({"pixel_values": floats(1, frames, channels, height, width)})


def videos(model: nn.Module, names: set[str]) -> Iterator[Media]:
    """One video, for models that take no still images."""
    config: Any = model.config  # type: ignore[assignment]
    if "pixel_values_videos" not in names:
        return
    channels = number(config, ("num_channels", "in_channels", "in_chans"), 3, _SEEING)
    frames = number(config, ("frames_per_clip", "num_frames"), 8, _SEEING)
    for height, width in _sizes(config):
        video = floats(1, frames, channels, height, width)
        yield Media({"pixel_values_videos": video}, kind="video")


def _still(names: set[str], pixels: torch.Tensor) -> dict[str, Any]:
    kwargs: dict[str, Any] = {"pixel_values": pixels}
    height, width = pixels.shape[-2:]
    if "image_sizes" in names:
        kwargs["image_sizes"] = torch.tensor([[height, width]])
    return kwargs


def _sizes(config: Any) -> Iterator[tuple[int, int]]:
    """Heights and widths in pixels, the configuration's own first."""
    own = find(config, ("image_size", "img_size", "crop_size", "input_size"), _SEEING)
    found = []
    if isinstance(own, int):
        found.append((own, own))
    elif isinstance(own, list | tuple) and len(own) >= 2:
        found.append((own[-2], own[-1]))
    elif isinstance(own, dict) and {"height", "width"} <= set(own):
        found.append((own["height"], own["width"]))
    yield from dict.fromkeys([*found, *((side, side) for side in _USUAL)])


def _places(config: Any, height: int, width: int) -> Iterator[int]:
    """How many tokens an image may take: what the configuration counts, or its patches."""
    if find(config, PLACEHOLDERS["image"]) is None:
        yield 0
        return
    patch = number(config, ("patch_size",), 16, _SEEING)
    patches = (height // patch) * (width // patch)
    merge = number(config, ("spatial_merge_size", "merge_size", "downsample_factor"), 1, _SEEING)
    scale = number(config, ("scale_factor", "pixel_shuffle_factor"), 1)
    ratio = find(config, ("downsample_ratio", "pixel_shuffle_ratio"), _SEEING) or 1
    counts = [find(config, (name,)) for name in _COUNTED]
    counts += [
        patches // merge**2,
        patches // scale**2,
        int(patches * ratio**2),
        patches,
        patches + 1,
    ]
    yield from dict.fromkeys(item for item in counts if isinstance(item, int) and item > 0)


def _patch_grids(config: Any, names: set[str]) -> Iterator[Media]:
    """Flattened patches with their grid, as Qwen2-VL takes them.

    Shapes:
        pixel_values: float[64, channels * frames * patch * patch], or each patch as an image.
    """
    patch = number(config, ("patch_size",), 14, VISION)
    frames = number(config, ("temporal_patch_size",), 1, VISION)
    channels = number(config, ("in_channels", "in_chans", "num_channels"), 3, VISION)
    merge = number(config, ("spatial_merge_size", "merge_size"), 2, VISION)
    grid = torch.tensor([[1, _PATCHES, _PATCHES]])
    count = _PATCHES * _PATCHES
    for tokens in dict.fromkeys((count // merge**2, count)):
        for shape in ((channels * frames * patch**2,), (channels, patch, patch)):
            pixels = floats(count, *shape)
            if "hidden_states" in names:
                yield Media({"hidden_states": pixels, "grid_thw": grid})
            elif "grid_thw" in names:
                yield Media({"pixel_values": pixels, "grid_thw": grid})
            else:
                yield Media({"pixel_values": pixels, "image_grid_thw": grid}, tokens)


def _patch_sequences(config: Any) -> Iterator[Media]:
    """A padded sequence of flattened patches with its shape, as SigLIP 2 takes it."""
    patch = number(config, ("patch_size",), 16, VISION)
    channels = number(config, ("num_channels",), 3, VISION)
    count = _PATCHES * _PATCHES
    kwargs = {
        "pixel_values": floats(1, count, channels * patch**2),
        "pixel_attention_mask": torch.ones(1, count, dtype=torch.int64),
        "spatial_shapes": torch.tensor([[_PATCHES, _PATCHES]]),
    }
    factor = number(config, ("downsample_factor",), 1)
    for tokens in dict.fromkeys((count // factor**2, count)):
        yield Media(kwargs, tokens)
