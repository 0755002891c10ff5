"""Images and videos for a model of transformers: their layout, and the places they take in text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from math import ceil
from typing import Any

import torch
from torch import Tensor, nn

from ..sizes import SEEING, VISION, channels_of, find, number
from .media import Media, floats
from .patches import patches
from .texts import PLACEHOLDERS

_COUNTED = (
    "image_seq_length",
    "image_seq_len",
    "mm_tokens_per_image",
    "num_image_tokens",
    "num_query_tokens",
    "resampler_n_latents",
    "image_token_num",
    "vision_soft_tokens_per_image",
)
_SHUFFLED = ("scale_factor", "pixel_shuffle_factor")
_SHRUNK = (
    "spatial_merge_size",
    "merge_size",
    "downsample_factor",
    "proj_pooling_ratio",
    *_SHUFFLED,
)
_USUAL = (*((side, side) for side in (224, 384, 256, 512, 336, 640, 448)), (48, 320))
# Types that take several images, and no mask that would show it in the signature.
_SEVERAL = ("colmodernvbert", "idefics", "perception_lm", "pi0")


def images(model: nn.Module, names: set[str]) -> Iterator[Media]:
    """One image in the layouts that the signature names, likeliest first."""
    config: Any = model.config
    if _blind(config):
        return
    patched = list(patches(config, names))
    if patched:
        yield from patched
    elif "pixel_values" not in names:
        return
    elif "aspect_ratio_ids" in names:
        yield _tiles_with_ratio(config)
    elif config.model_type == "fuyu":
        patch = number(config, ("patch_size",), 30)
        yield Media({"pixel_values": floats(1, 16, 3 * patch**2)}, tokens=16)
    elif find(config, ("image_grid_pinpoints",)):
        yield from _tiles_with_overview(config)
    else:
        yield from _pixels(config, names)


def videos(model: nn.Module, names: set[str]) -> Iterator[Media]:
    """One video, for models that take no still images."""
    config: Any = model.config
    if "pixel_values_videos" not in names or _blind(config):
        return
    frames = number(config, ("frames_per_clip", "num_frames"), 8, SEEING)
    tokens = number(config, ("video_seq_length",), 0)
    for height, width in _sizes(config):
        video = floats(1, frames, channels_of(config), height, width)
        yield Media({"pixel_values_videos": video}, tokens, kind="video")


def _blind(config: Any) -> bool:
    """Whether the vision tower was left out."""
    return "vision_config" in vars(config) and config.vision_config is None


def _pixels(config: Any, names: set[str]) -> Iterator[Media]:
    """Plain images; several of them in one more dimension; and the frames of a video.

    Shapes:
        pixel_values: float[1, channels, height, width], or with a number of images, or frames,
        behind the batch.
    """
    channels = channels_of(config)
    frames = number(config, ("num_frames", "frames_per_clip"), 2, SEEING)
    for place, (height, width) in enumerate(_sizes(config)):
        for tokens in _places(config, height, width):
            image = floats(1, channels, height, width)
            layouts = [image]
            if "pixel_attention_mask" in names or config.model_type in _SEVERAL:
                layouts.insert(0, image[:, None])
            for pixels in layouts:
                yield from _with_sizes(names, pixels, tokens)
        if not place:
            yield Media({"pixel_values": floats(1, frames, channels, height, width)})


def _with_sizes(names: set[str], pixels: Tensor, tokens: int) -> Iterator[Media]:
    kwargs: dict[str, Any] = {"pixel_values": pixels}
    if "high_res_pixel_values" in names:
        kwargs["high_res_pixel_values"] = floats(1, 3, 1024, 1024)
    if "prompt_depth" in names:  # what a phone's sensor measures
        kwargs["prompt_depth"] = floats(1, 1, 192, 256)
    if "tile_fine_mask" in names:
        kwargs["pixel_attention_mask"] = torch.ones(1, 1, dtype=torch.bool)
    if "image_attention_mask" in names and pixels.dim() == 5:
        kwargs["image_attention_mask"] = torch.ones(1, 64, 1, dtype=torch.int64)
    if "image_sizes" in names:  # some vision towers of one and the same class refuse it
        yield Media({**kwargs, "image_sizes": torch.tensor([pixels.shape[-2:]])}, tokens)
    yield Media(kwargs, tokens)


def _sizes(config: Any) -> Iterator[tuple[int, int]]:
    """Heights and widths in pixels, the configuration's own first."""
    own = find(config, ("image_size", "img_size", "crop_size", "input_size"), SEEING)
    found = []
    if own is None:  # a wrapped model of timm
        own = (find(config, ("model_args",), VISION) or {}).get("img_size")
    if isinstance(own, int):
        found.append((own, own))
    elif isinstance(own, list | tuple) and len(own) >= 2:
        found.append((own[-2], own[-1]))
    elif isinstance(own, dict) and {"height", "width"} <= set(own):
        found.append((own["height"], own["width"]))
    ratios = find(config, ("scaled_images_ratios",))  # DepthPro looks at a quarter of the image
    if ratios:
        found = [(round(found[0][0] / min(ratios)), round(found[0][1] / min(ratios)))]
    step = number(config, ("patch_size",), 1, SEEING) * number(config, _SHUFFLED, 1)
    for height, width in dict.fromkeys([*found, *_USUAL]):
        if height % step == 0 and width % step == 0:
            yield height, width
    yield from found


def _places(config: Any, height: int, width: int) -> Iterator[int]:
    """How many tokens an image may take: what the configuration counts, or a share of its patches.

    Pixels are shuffled into fewer, wider tokens by a factor on each side, and convolutional
    towers leave a 32nd or a 64th of each side.
    """
    if find(config, PLACEHOLDERS["image"]) is None:
        yield 0
        return
    patch = number(config, ("patch_size",), _named_patch(config), SEEING)
    patches = (height // patch) * (width // patch)
    ratio = find(config, ("downsample_ratio", "pixel_shuffle_ratio"), SEEING) or 1
    queries = find(config, ("projector_patch_to_query_dict",)) or {}
    counts = [queries.get(patches), *(find(config, (name,)) for name in _COUNTED)]
    counts += [patches // number(config, (name,), 1, SEEING) ** 2 for name in _SHRUNK]
    counts += [int(patches * ratio**2), patches, patches + 1]
    counts += [patches // side**2 for side in (2, 3, 4)]
    for step in (32, 64):
        count = ceil(height / step) * ceil(width / step)
        counts += [count, count + 1]
    counts.append(height // 8 * (width // 8 + 1))
    yield from dict.fromkeys(item for item in counts if isinstance(item, int) and item > 0)


def _named_patch(config: Any) -> int:
    """A side of a patch as timm writes it into the architecture's name, else 16."""
    found = re.search(r"_patch(\d+)", str(find(config, ("architecture",), VISION)))
    return int(found[1]) if found else 16


def _tiles_with_ratio(config: Any) -> Media:
    """Tiles of one image in one of the supported ratios, as Llama 3.2 takes them."""
    height, width = next(_sizes(config))
    tiles = number(config, ("max_num_tiles",), 4, VISION)
    return Media(
        {
            "pixel_values": floats(1, 1, tiles, channels_of(config), height, width),
            "aspect_ratio_ids": torch.tensor([[1]]),
            "aspect_ratio_mask": torch.ones(1, 1, tiles, dtype=torch.int64),
        }
    )


def _tiles_with_overview(config: Any) -> Iterator[Media]:
    """The image as a whole and its tiles, each row ended by a token, as LLaVA-NeXT takes them."""
    height, width = find(config, ("image_grid_pinpoints",))[0]
    shrunk = Fraction(find(config, ("downsample_rate",)) or 1)
    patch = number(config, ("patch_size",), 14, VISION)
    likeliest, _ = next(_sizes(config))  # of whole patches
    for size in dict.fromkeys((number(config, ("image_size",), likeliest, VISION), likeliest)):
        side = int(size // patch * shrunk)
        rows, columns = height // size * side, width // size * side
        tiles = 1 + (height // size) * (width // size)
        kwargs = {
            "pixel_values": floats(1, tiles, channels_of(config), size, size),
            "image_sizes": torch.tensor([[height, width]]),
        }
        yield Media(kwargs, side * side + rows * (columns + 1))
