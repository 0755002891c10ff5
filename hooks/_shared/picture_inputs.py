"""What a module that takes pictures may take in: their sizes and channels."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter

from nar_plugin.tracing.twin.parts import modules, parameters

from .attribute_search import resolutions
from .layers import floats, width_of

IMAGE = re.compile(r"image|img|pixel|frame|picture|photo")
_FOR_PHOTOGRAPHS = 5_000_000  # parameters; LeNet has 60 thousand, a ResNet-18 11 million


def images(model: nn.Module, stem: nn.Module, name: str) -> Iterator[Tensor]:
    """Pictures for the first convolution: sizes that the model says, then usual ones."""
    channels = width_of(stem)
    usual = [(size, size) for size in (224, 256, 64, 32, 28, 128, 299)]
    if channels == 1 and _small(model):  # hand-written digits before photographs
        usual = [(28, 28), (32, 32), *usual]
    if _is_enlarged(stem):
        usual = [(1, 1), *usual]
    sizes = dict.fromkeys([*_table_sizes(model, stem), *resolutions(model), *usual])
    seen = {layer.in_channels for layer in modules(model) if isinstance(layer, nn.Conv2d)}
    stem_channels = [channels, *(item for item in (3, 1) if item in seen and item != channels)]
    for height, width in sizes:
        yield floats(1, channels, height, width)
    for other in stem_channels[1:]:
        yield floats(1, other, 224, 224)


def _is_enlarged(stem: nn.Module) -> bool:
    """Whether a layer makes a patch of one pixel: a generator's, whose code has no sides."""
    return (
        isinstance(stem, nn.ConvTranspose2d)
        and stem.stride == (1, 1)
        and stem.padding == (0, 0)
        and min(stem.kernel_size) > 1
    )


def _small(model: nn.Module) -> bool:
    """Whether 28 x 28 pixels can be meant: a deep network halves them away, or a window clips."""
    known = (item for item in parameters(model) if not isinstance(item, UninitializedParameter))
    return sum(parameter.numel() for parameter in known) < _FOR_PHOTOGRAPHS


def thinner(picture: Tensor) -> Iterator[Tensor]:
    """The same picture in colours, gray, and with no channels: a forward may repeat them."""
    channels, *sides = picture.shape[1:]
    for fewer in (3, 1):
        if fewer < channels and channels % fewer == 0:
            yield floats(1, fewer, *sides)
    yield floats(1, *sides)


def _table_sizes(model: nn.Module, stem: nn.Module) -> Iterator[tuple[int, int]]:
    """The image size for which a table of patch positions, (1, patches [+ 1], width), was made."""
    patch = getattr(stem, "stride", None)
    if isinstance(patch, tuple) and patch == getattr(stem, "kernel_size", None):
        for tokens in table_lengths(model):
            side = math.isqrt(tokens)
            yield side * patch[0], side * patch[-1]


def table_lengths(model: nn.Module) -> list[int]:
    """Patches of what may be tables of positions, the longest first: registers are few."""
    found = set()
    for parameter in parameters(model):
        if parameter.dim() == 3 and parameter.shape[0] == 1:
            for extra in (0, 1, 2):  # class and distillation tokens
                tokens = parameter.shape[1] - extra
                if tokens > 1 and math.isqrt(tokens) ** 2 == tokens:
                    found.add(tokens)
    return sorted(found, reverse=True)
