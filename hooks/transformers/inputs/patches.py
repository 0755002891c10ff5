"""Images that a model of transformers takes as patches, in a grid, a sequence or a strip."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Any

import torch

from ..sizes import VISION, channels_of, number
from .media import Media, floats

_PATCHES = 8  # a side of the grid of patches, where the model takes any


def patches(config: Any, names: set[str]) -> Iterator[Media]:
    """One image in patches, as the signature names them; nothing for a model of whole images."""
    if names & {"grid_thw", "image_grid_thw", "image_grid_hw"}:
        yield from _in_grids(config, names)
    elif "spatial_shapes" in names:
        yield from _in_sequences(config)
    elif "flattened_patches" in names:
        yield from _numbered(config)
    elif names & {"image_position_ids", "pixel_position_ids"}:
        yield from _placed(config, names)
    elif config.model_type == "inkling_mm_model":
        yield _cubes(config.vision_config)
    elif "image_token_pooling" in names:
        yield _pooled(config)
    elif config.model_type == "neomme":
        yield _flat(config)
    elif "target_sizes" in names and "pixel_values" in names:
        yield from _in_a_strip(config)


def _placed(config: Any, names: set[str]) -> Iterator[Media]:
    """Flattened patches with the column and row of each, pooled in squares, as Gemma 4 takes them.

    Shapes:
        pixel_values: float[1, patches, channels * patch * patch].
    """
    patch = number(config, ("patch_size",), 16, VISION)
    pooled = number(config, ("pooling_kernel_size",), 3, VISION)
    side = 4 * pooled
    places = torch.cartesian_prod(torch.arange(side), torch.arange(side)).flip(-1)[None]
    name = "image_position_ids" if "image_position_ids" in names else "pixel_position_ids"
    for width in dict.fromkeys((patch, patch * pooled)):
        pixels = floats(1, side * side, channels_of(config) * width**2)
        for tokens in (16, side * side):
            yield Media({"pixel_values": pixels, name: places}, tokens)


def _pooled(config: Any) -> Media:
    """One crop in flattened patches, and which of them each token pools, as Molmo 2 takes them.

    Shapes:
        pixel_values: float[1, patches, channels * patch * patch];
        image_token_pooling: int64[tokens, 4].
    """
    patch = number(config, ("patch_size",), 14, VISION)
    side = number(config, ("image_size",), 378, VISION) // patch
    rows = ceil(side / 2)
    pooled = torch.arange(4 * rows * rows).reshape(-1, 4) % side**2
    kwargs = {
        "pixel_values": floats(1, side * side, channels_of(config) * patch**2),
        "image_token_pooling": pooled,
        "image_grids": torch.tensor([[rows, rows, 0, 0]]),
    }
    return Media(kwargs, rows * rows)


def _cubes(config: Any) -> Media:
    """Patches of a few frames, channels last, one for each token, as Inkling takes them."""
    side, frames = config.patch_size, config.temporal_patch_size
    return Media({"pixel_values": floats(16, frames, side, side, config.num_channels)}, 16)


def _flat(config: Any) -> Media:
    """Flattened patches, each in the place of one token, as NeoMME takes them."""
    count = _PATCHES * _PATCHES
    patch = number(config, ("patch_size",), 32)
    return Media({"pixel_values": floats(count, channels_of(config) * patch**2)}, count)


def _in_a_strip(config: Any) -> Iterator[Media]:
    """All patches side by side with the shape of their grid, as MiniCPM-V packs them.

    Shapes:
        pixel_values: float[1, channels, patch, 64 * patch].
    """
    patch = number(config, ("patch_size",), 14, VISION)
    count = _PATCHES * _PATCHES
    kwargs = {
        "pixel_values": floats(1, channels_of(config), patch, count * patch),
        "target_sizes": torch.tensor([[_PATCHES, _PATCHES]]),
    }
    for share in (16, 4, 1):
        yield Media(kwargs, count // share)


def _in_grids(config: Any, names: set[str]) -> Iterator[Media]:
    """Flattened patches with their grid, as Qwen2-VL takes them.

    Shapes:
        pixel_values: float[64, channels * frames * patch * patch], or each patch as an image; or as
        many images as there are tokens, of merged patches, channels last.
    """
    patch = number(config, ("patch_size",), 14, VISION)
    frames = number(config, ("temporal_patch_size", "patch_temporal"), 1, VISION)
    channels = channels_of(config)
    merge = number(config, ("spatial_merge_size", "merge_size"), 2, VISION)
    count = _PATCHES * _PATCHES
    widths = dict.fromkeys(channels * depth * patch**2 for depth in (frames, 1, 2))
    image = (channels, patch, patch)
    merged = (merge * patch, merge * patch, channels)
    shapes = [*((count, width) for width in widths), (count, *image), (1, count, *image)]
    side = _PATCHES // merge
    rows = side * (side + 1)  # each is ended by a token
    pixels_name = "hidden_states" if "hidden_states" in names else "pixel_values"
    grid_name = next(iter({"grid_thw", "image_grid_thw", "image_grid_hw"} & names))
    grid = [1, _PATCHES, _PATCHES] if grid_name.endswith("thw") else [_PATCHES, _PATCHES]
    for shape in (*shapes, (count, *merged)):
        kwargs = {
            pixels_name: floats(*shape),
            grid_name: torch.tensor([grid]),
        }
        for name in {"merge_sizes", "image_merge_sizes"} & names:
            kwargs[name] = torch.tensor([merge])
        for tokens in dict.fromkeys((side**2, rows + 2, count, rows)):
            yield Media(kwargs, tokens)


def _in_sequences(config: Any) -> Iterator[Media]:
    """A padded sequence of flattened patches with its shape, as SigLIP 2 takes it."""
    patch = number(config, ("patch_size",), 16, VISION)
    count = _PATCHES * _PATCHES
    kwargs = {
        "pixel_values": floats(1, count, channels_of(config) * patch**2),
        "pixel_attention_mask": torch.ones(1, count, dtype=torch.int64),
        "spatial_shapes": torch.tensor([[_PATCHES, _PATCHES]]),
    }
    factor = number(config, ("downsample_factor",), 1)
    for tokens in dict.fromkeys((count // factor**2, count)):
        yield Media(kwargs, tokens)


def _numbered(config: Any) -> Iterator[Media]:
    """Flattened patches behind the numbers of their row and column, as Pix2Struct takes them."""
    patch = number(config, ("patch_size",), 16, VISION)
    width = number(config, ("patch_embed_hidden_size",), patch * patch * 3, VISION)
    for channels in dict.fromkeys((channels_of(config) * patch**2, width)):
        kwargs = {"flattened_patches": floats(1, _PATCHES * _PATCHES, 2 + channels)}
        yield Media(kwargs, number(config, ("latent_query_num",), 64))
