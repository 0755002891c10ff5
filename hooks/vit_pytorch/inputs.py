"""What vit-pytorch's models eat, from how they cut patches and how many positions they know.

An image becomes patches in an einops layer such as `b c (h p1) (w p2) -> b (h w) (p1 p2 c)` with
known `p1` and `p2`; the width of the next layer divided by the patch's size is the number of
channels, and the table of positions has a row for each patch, and often some more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

from torch import Tensor, nn

from nar_plugin.hookspecs import ExampleInputs

from .._shared.layers import floats, width_of

_SIDE = re.compile(r"\((\w+) (\w+)\)|\w+")
_MOST = 8
_MORE_TOKENS = 6  # class tokens and registers may stand before the patches
_USUAL = (256, 224, 128, 64)
_FRAMES = (16, 8)


class Patches(NamedTuple):
    """How a model cuts its input.

    Attributes:
        sizes: Of a patch, one for each dimension of the input.
        channels: Of the input.
    """

    sizes: tuple[int, ...]
    channels: int


def guesses(model: nn.Module) -> list[ExampleInputs]:
    """Inputs that the forward may accept, best guess first."""
    shapes = list(dict.fromkeys(_shapes(model)))[:_MOST]
    if any(type(part).__name__ == "NaViT" for part in model.modules()):
        images = [floats(*shape) for shape in shapes[:2]]
        return [found for image in images for found in (_several([image]), _several(image))]
    return [ExampleInputs((floats(1, *shape),)) for shape in shapes]


def _several(image: Tensor | list[Tensor]) -> ExampleInputs:
    """Images of any size come in a list, or packed in a list of lists."""
    return ExampleInputs(([image],))


def _shapes(model: nn.Module) -> Iterator[tuple[int, ...]]:
    """(channels, ...) of the input, without the batch."""
    patches = next(_patches(model), None)
    stem = next((part for part in model.modules() if isinstance(part, nn.Conv2d | nn.Conv3d)), None)
    if patches is None and stem is None:
        patches = _from_attributes(model)
    if patches is not None:
        rank = len(patches.sizes)
        for grid in _grids(model, rank):
            sides = (side * size for side, size in zip(grid, patches.sizes, strict=True))
            yield patches.channels, *sides
        yield from _usual(patches.channels, rank)
    if stem is not None and patches is None:
        yield from _through_stem(model, stem)


def _through_stem(model: nn.Module, stem: nn.Conv2d | nn.Conv3d) -> Iterator[tuple[int, ...]]:
    """Of a model that begins with a convolution, or folds patches by hand before it."""
    rank, channels = len(stem.stride), stem.in_channels
    folded = channels % 3 == 0 and math.isqrt(channels // 3) ** 2 == channels // 3
    channels = 3 if folded else channels
    tokenizer = getattr(model, "tokenizer", None)
    if isinstance(tokenizer, nn.Module):
        steps = _steps(tokenizer, rank)
        for grid in _grids(model, rank):
            yield channels, *(side * step for side, step in zip(grid, steps, strict=True))
    yield from _usual(channels, rank)


def _steps(tokenizer: nn.Module, rank: int) -> tuple[int, ...]:
    """How many pixels apart the tokens of convolutions and poolings are, in each direction."""
    steps = [1] * rank
    for part in tokenizer.modules():
        stride = getattr(part, "stride", None)
        if stride is not None:
            strides = stride if isinstance(stride, tuple) else (stride,) * rank
            steps = [step * more for step, more in zip(steps, strides, strict=True)]
    return tuple(steps)


def _usual(channels: int, rank: int) -> Iterator[tuple[int, ...]]:
    for size in _USUAL:
        yield channels, *((_FRAMES[0],) if rank > 2 else ()), *((size,) * min(rank, 2))


def _patches(model: nn.Module) -> Iterator[Patches]:
    """Of each einops layer that takes composed sides apart, where a layer follows."""
    for part in model.modules():
        if not isinstance(part, nn.Sequential):
            continue
        cut: Any = next((item for item in part if hasattr(item, "axes_lengths")), None)
        layer = next((item for item in part if width_of(item) > 0), None)
        if cut is None or layer is None:
            continue
        known = dict(cut.axes_lengths)
        sides = [found[2] for found in _SIDE.finditer(cut.pattern.partition("->")[0])][2:]
        sizes = tuple(known.get(name, 1) for name in sides)  # a side that stays whole is cut by 1
        if math.prod(sizes) > 1:
            yield Patches(sizes, max(1, width_of(layer) // math.prod(sizes)))


def _from_attributes(model: Any) -> Patches | None:
    """Of a model that cuts patches by hand in its forward."""
    size, channels = getattr(model, "patch_size", None), getattr(model, "channels", 3)
    if isinstance(size, int):
        return Patches((size, size), channels)
    return Patches(tuple(size), channels) if isinstance(size, tuple) else None


def _grids(model: nn.Module, rank: int) -> Iterator[tuple[int, ...]]:
    """Patches in each direction, for the numbers of positions that the model has rows for."""
    known = getattr(model, "num_patches_per_dim", None)
    if isinstance(known, tuple | list) and len(known) == rank:
        yield tuple(known)
    for tokens in _positions(model):
        if isinstance(tokens, tuple):  # frames and the positions in one of them
            yield from ((tokens[0], *grid) for grid in _factors(tokens[1], rank - 1))
        else:
            yield from _factors(tokens, rank)


def _positions(model: nn.Module) -> Iterator[int | tuple[int, int]]:
    """Numbers of patches: of rows in tables of positions, less the tokens before the patches."""
    for part in model.modules():
        tables = {**vars(part), **part._parameters, **part._buffers}
        for name, table in tables.items():
            if not isinstance(table, Tensor) or "pos" not in name or table.dim() < 2:
                continue
            *frames, rows = [size for size in table.shape[:-1] if size > 1] or [1]
            for more in range(min(_MORE_TOKENS, rows)):
                yield (frames[-1], rows - more) if frames else rows - more


def _factors(number: int, rank: int) -> Iterator[tuple[int, ...]]:
    """Products that are a number: squares and what is nearly square, behind any depth."""
    if rank == 1:
        yield (number,)
        return
    divisors = [item for item in range(1, number + 1) if number % item == 0]
    if rank == 2:
        sides = [(one, number // one) for one in divisors if one <= number // one <= 2 * one]
        yield from (pair for low, high in reversed(sides) for pair in ((low, high), (high, low)))
        return
    for depth, side in product(divisors, divisors):
        if depth * side * side == number and side > 1:
            yield depth, side, side
