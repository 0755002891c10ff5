"""Refusals about a size: what a layer found, and what it wants."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import partial
from itertools import permutations

from torch import Tensor, nn

from nar_plugin.hookspecs import ExampleInputs

from . import edits as edit


def resize(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """`words` are the size that was found and the one that is wanted."""
    have, want = (int(word) for word in words[:2])
    if have != want:
        for change in edit.resized(have, want):
            yield from edit.each(inputs, change)
        yield from edit.as_features(want)(inputs)


def resize_back(
    model: nn.Module, inputs: ExampleInputs, words: list[str]
) -> Iterator[ExampleInputs]:
    """As `resize`, for a message that names the wanted size first."""
    yield from resize(model, inputs, [words[1], words[0]])


def either(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """Two sizes that should be one; the second is more often the model's own."""
    for have, want in permutations([int(word) for word in words[:2]]):
        yield from edit.each(inputs, partial(edit.dimension, have=have, want=want))
    yield from resize(model, inputs, words)
    yield from resize(model, inputs, words[::-1])


def facing(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """The width of a left factor and the height of a right one; the right is mostly a weight."""
    yield from resize(model, inputs, words)
    have, want = (int(word) for word in words[::-1])
    for which in (0, -1):
        yield from edit.each(inputs, partial(edit.dimension, have=have, want=want, which=which))


def expanded(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """A weight cannot be repeated to a size of the input, perhaps to the first."""
    yield from facing(model, inputs, words)
    yield from edit.each_float(inputs, lambda tensor: edit.batched(tensor, int(words[1])))


def stacked(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """A stack of matrices meets another: how many, and their width and height."""
    (many, wide), (many_there, high) = (numbers(word) for word in words)
    if wide != high:
        yield from facing(model, inputs, [str(wide), str(high)])
    if many != many_there:
        yield from edit.each_float(inputs, lambda tensor: edit.batched(tensor, many_there))
        yield from facing(model, inputs, [str(many), str(many_there)])


def product(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """A dimension that is to be taken apart into known sizes."""
    want = math.prod(number for number in numbers(words[0]) if number)
    yield from resize(model, inputs, [words[1], str(want)])


def shuffled(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """Channels that become pixels."""
    have, factor = (int(word) for word in words)
    yield from edit.each_float(inputs, edit.channels(have * factor**2))


def shapes(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """Two shapes as text that should be broadcastable; compared from their ends."""
    first, second = (numbers(word) for word in words[:2])
    for have, want in dict.fromkeys(zip(reversed(first), reversed(second), strict=False)):
        if have != want and 1 not in (have, want):
            yield from either(model, inputs, [str(have), str(want)])


def channels(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """Another number of channels, or the same channels in another arrangement."""
    want, have = int(words[0]), int(words[1])
    yield from edit.each_float(inputs, edit.channels(want))
    yield from edit.each_float(inputs, lambda tensor: _repeated(tensor, have, want))
    yield from edit.each_float(inputs, lambda tensor: _in_frames(tensor, want - have))
    yield from edit.each_float(inputs, lambda tensor: _frames_first(tensor, have, want))
    yield from edit.each_float(inputs, lambda tensor: _as_frames(tensor, want))
    yield from resize(model, inputs, [words[1], words[0]])


def _repeated(tensor: Tensor, have: int, want: int) -> Tensor | None:
    """The same picture with the channels of which the forward makes so many times as many."""
    given = tensor.shape[1] if tensor.dim() > 2 else 0
    if not given or have % given or (want * given) % have:
        return None
    return edit.shaped((len(tensor), want * given // have, *tensor.shape[2:]), tensor)


def _in_frames(tensor: Tensor, by: int) -> Tensor | None:
    """The channels of a video's frames, to which the forward may have added a state's."""
    return edit.shifted(tensor, 2, by) if tensor.dim() == 5 else None


def _frames_first(tensor: Tensor, have: int, want: int) -> Tensor | None:
    """A video whose frames come before its channels, as the forward swaps them."""
    right = tensor.dim() == 5 and tuple(tensor.shape[1:3]) == (want, have)
    return edit.shaped((len(tensor), have, want, *tensor.shape[3:]), tensor) if right else None


def _as_frames(tensor: Tensor, want: int) -> Tensor | None:
    """Two frames in the place of a picture whose channels were taken for frames."""
    right = tensor.dim() == 4 and tensor.shape[1] == want
    return edit.shaped((len(tensor), 2, *tensor.shape[1:]), tensor) if right else None


def signal(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """A filter over time does not fit: a wave, with or without channels."""
    length = 16 * int(words[0])
    for shape in ((1, length), (1, 1, length)):
        yield from edit.each_float(inputs, partial(edit.shaped, shape))


def width(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """`words` are the shape that a norm wants and, perhaps, the size that it got."""
    want = numbers(words[0])[-1]
    yield from edit.each_float(inputs, edit.width(want))
    if words[1:]:  # something may have been concatenated
        by = want - numbers(words[1])[-1]
        yield from edit.each_float(inputs, lambda tensor: edit.shifted(tensor, -1, by))


def sides(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """A picture of the height and width that the message names."""
    height, across = int(words[0]), int(words[-1])
    yield from edit.each_float(inputs, edit.sides(height, across))


def side(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """A picture's height or width: the other one will be refused next if it stays."""
    want = int(words[1])
    yield from edit.each_float(inputs, edit.sides(want, want))
    yield from resize(model, inputs, words)


def multiples(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """Sides that are multiples of what the message names."""
    for factor in (1, 2, 4, 8):
        yield from edit.each_float(inputs, edit.multiples(int(words[-1]) * factor))


def larger(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """A kernel or a window does not fit."""
    for ratio in (2.0, 4.0):
        yield from edit.each_float(inputs, partial(edit.scaled, ratio=ratio))
    yield from edit.each_float(inputs, lambda tensor: _longer_clip(tensor))


def _longer_clip(tensor: Tensor) -> Tensor | None:
    return edit.longer(tensor, 2, 2) if tensor.dim() == 5 else None


def further(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """A position lies outside of a dimension."""
    position, size = int(words[0]), int(words[1])
    yield from resize(model, inputs, [str(size), str(2 * (position + 1))])


def split(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """Parts whose widths the forward knows."""
    yield from edit.each_float(inputs, edit.width(sum(numbers(words[0]))))


def any_of(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """Nobody knows the message: a number of it that an input has may have to be another one."""
    told = dict.fromkeys(number for number in numbers(words[0]) if number > 1)
    for have, want in permutations(told, 2):
        yield from edit.each(inputs, partial(edit.dimension, have=have, want=want))


def last(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """So many values, in the last dimension."""
    want = int(words[0])
    yield from edit.each(
        inputs,
        lambda tensor: (
            edit.shaped((*tensor.shape[:-1], want), tensor) if tensor.shape[-1] != want else None
        ),
    )


def numbers(text: str) -> list[int]:
    """Every number in a text, in order."""
    return [int(word) for word in re.findall(r"\d+", text)]
