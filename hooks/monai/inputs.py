"""What MONAI's networks eat: an image or a volume, and what the other arguments are named for."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from nar_plugin.hookspecs import ExampleInputs

from .._shared.attribute_search import integer
from .._shared.layer_inputs import STEPS, TOKENS
from .._shared.layers import floats, ids

_USUAL = {1: (256, 64), 2: (256, 224, 96, 64), 3: (96, 64, 128, 32)}  # by dimensions
_SHAPES = ("img_size", "image_size", "input_image_size", "in_shape", "input_shape")
_MOST = 6
_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)


def guesses(model: Any) -> list[ExampleInputs]:
    """Inputs that the forward may accept, best guess first."""
    special = _SPECIAL.get(type(model).__name__)
    if special is not None:
        return special(model)
    stem = next((part for part in model.modules() if isinstance(part, _CONVOLUTIONS)), None)
    if stem is None:
        return _without_images(model)
    found = []
    for channels in _channels(model, stem):
        for size in dict.fromkeys(_sizes(model, len(stem.stride))):
            found.append(_inputs(model, floats(1, channels, *size)))
    return found[:_MOST]


def _channels(model: nn.Module, stem: Any) -> list[int]:
    """Of the first convolution; registration networks read a pair in one."""
    names = [item.name for item in _parameters(model)]
    return [stem.in_channels // 2] if "fixed" in names else [stem.in_channels]


def _sizes(model: Any, rank: int) -> Iterator[tuple[int, ...]]:
    for name in _SHAPES:
        shape = getattr(model, name, None)
        if isinstance(shape, int):
            yield (shape,) * rank
        elif isinstance(shape, tuple | list) and len(shape) >= rank:
            yield tuple(int(side) for side in shape[-rank:])
    patches, grid = getattr(model, "patch_size", None), getattr(model, "feat_size", None)
    if isinstance(patches, tuple) and isinstance(grid, tuple):  # UNETR
        yield tuple(side * patch for side, patch in zip(grid, patches, strict=True))
    yield from _from_positions(model, rank)
    for side in _USUAL[rank]:
        yield (side,) * rank


def _from_positions(model: nn.Module, rank: int) -> Iterator[tuple[int, ...]]:
    """As large as the table of the patches' positions, with sides as equal as can be."""
    for part in model.modules():
        table = getattr(part, "position_embeddings", None)
        cut = getattr(part, "patch_embeddings", None)
        if isinstance(table, Tensor) and isinstance(cut, _CONVOLUTIONS):
            grid = _grid(table.shape[1], rank)
            yield tuple(side * int(step) for side, step in zip(grid, cut.stride, strict=True))


def _grid(patches: int, rank: int) -> tuple[int, ...]:
    """The factors of a number, one for each dimension, that are nearest to each other."""
    if rank == 1:
        return (patches,)
    side = patches ** (1 / rank)
    divisors = (number for number in range(1, patches + 1) if patches % number == 0)
    nearest = min(divisors, key=lambda number: abs(number - side))
    return nearest, *_grid(patches // nearest, rank - 1)


def _parameters(model: nn.Module) -> list[inspect.Parameter]:
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(model.forward).parameters.values()
    return [item for item in parameters if item.kind not in kinds]


def _inputs(model: Any, image: Tensor) -> ExampleInputs:
    """The image, and by name what has no default or what the model was built for."""
    first, *others = _parameters(model)
    named = {item.name: _companion(model, item, image) for item in others}
    main = image if first.name != "seg" else _companion(model, first, image)
    return ExampleInputs((main,), {name: item for name, item in named.items() if item is not None})


def _companion(model: Any, item: inspect.Parameter, image: Tensor) -> Any:
    size = image.shape[2:]
    if item.name == "timesteps":
        return torch.tensor([7])
    if item.name == "fixed" or (item.name == "x" and getattr(model, "is_vae", False)):
        return image
    if item.name == "seg":
        return floats(1, integer(model, ("label_nc",)) or 1, *size)
    if item.name == "controlnet_cond":
        embedding = model.controlnet_cond_embedding
        larger = 2 ** sum(math.prod(part.stride) > 1 for part in _layers(embedding))
        return floats(1, next(_layers(embedding)).in_channels, *(side * larger for side in size))
    if item.name == "context":
        width = _context_width(model)
        return None if width is None else floats(1, STEPS, width)
    if item.name == "class_labels" and getattr(model, "num_class_embeds", None):
        return torch.tensor([0])
    return None if item.default is not item.empty else image


def _layers(model: nn.Module) -> Iterator[Any]:
    return (part for part in model.modules() if isinstance(part, _CONVOLUTIONS))


def _context_width(model: nn.Module) -> int | None:
    """Of what cross-attention reads, where there is any."""
    if not getattr(model, "with_conditioning", getattr(model, "with_cross_attention", False)):
        return None
    for name, part in model.named_modules():
        if isinstance(part, nn.Linear) and "to_k" in name and ("attn2" in name or "cross" in name):
            return part.in_features
    return None


def _without_images(model: Any) -> list[ExampleInputs]:
    """Of vectors, or of tokens."""
    table = next((part for part in model.modules() if isinstance(part, nn.Embedding)), None)
    if table is not None:
        length = min(TOKENS, integer(model, ("max_seq_len",)) or TOKENS)
        return [ExampleInputs((ids(length, table.num_embeddings),))]
    shape = getattr(model, "latent_shape", None)
    if isinstance(shape, tuple):
        return [ExampleInputs((floats(1, *shape),))]
    linear = next((part for part in model.modules() if isinstance(part, nn.Linear)), None)
    return [] if linear is None else [ExampleInputs((floats(1, linear.in_features),))]


def _generator(model: Any) -> list[ExampleInputs]:
    return [ExampleInputs((floats(1, *model.latent_shape),))]


def _bag(model: Any) -> list[ExampleInputs]:
    """Some patches of a slide."""
    stem = next(_layers(model))
    return [ExampleInputs((floats(1, 4, stem.in_channels, 224, 224),))]


def _packed(model: Any) -> list[ExampleInputs]:
    """Images of any size, packed in a list of lists."""
    cut = next(part for part in model.modules() if isinstance(part, nn.LayerNorm))
    rank = int(model.spatial_dims)
    channels = cut.normalized_shape[0] // model.patch_size**rank
    return [ExampleInputs(([[floats(channels, *(4 * model.patch_size,) * rank)]],))]


def _report_and_image(model: Any) -> list[ExampleInputs]:
    """Words, and an image of as many patches as there are positions."""
    table = next(part for part in model.modules() if isinstance(part, nn.Embedding))
    side = math.isqrt(model.num_patches)
    height, width = (side * patch for patch in model.patch_size)
    image = floats(1, model.vision_proj.in_channels, height, width)
    return [ExampleInputs((ids(TOKENS, table.num_embeddings),), {"vision_feats": image})]


def _prompted(model: Any) -> list[ExampleInputs]:
    """A volume, and the class to look for in it."""
    volume = floats(1, next(_layers(model)).in_channels, 96, 96, 96)
    return [ExampleInputs((volume,), {"class_vector": torch.tensor([[1]])})]


_SPECIAL: dict[str, Callable[[Any], list[ExampleInputs]]] = {
    "Generator": _generator,
    "MILModel": _bag,
    "NaViT": _packed,
    "Transchex": _report_and_image,
    "VISTA3D": _prompted,
}
