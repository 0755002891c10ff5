"""Refusals about a number of dimensions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import partial
from itertools import islice

from torch import Tensor, nn

from nar_plugin.hookspecs import ExampleInputs

from ..._shared.layer_inputs import KINDS
from ..._shared.layers import stems_of
from . import edits as edit
from . import sizes


def ranks(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """`words` ends with the wanted number of dimensions."""
    wanted = int(words[-1])
    kind = {4: "image", 5: "volume"}.get(wanted)
    stem = stems_of(model).get(kind or "")
    if kind and stem:
        for tensor in islice(KINDS[kind](model, stem, ""), 2):
            yield from edit.each_float(inputs, partial(_replaced, new=tensor))
    for change in edit.ranked(wanted):
        yield from edit.each(inputs, change)


def _replaced(old: Tensor, new: Tensor) -> Tensor:
    return new


def ranks_of_layer(
    model: nn.Module, inputs: ExampleInputs, words: list[str]
) -> Iterator[ExampleInputs]:
    """A layer got another number of dimensions than it wants: `words` ends with its size."""
    by = int(words[0]) - len(sizes.numbers(words[1]))
    for place in edit.places(inputs):
        yield from _of_rank(inputs, place, by)


def another_rank(
    model: nn.Module, inputs: ExampleInputs, words: list[str]
) -> Iterator[ExampleInputs]:
    """Two tensors should have as many dimensions; either of them may be wrong."""
    step = int(words[0]) - int(words[1])
    for by in (step, -step):
        for place in edit.places(inputs):
            yield from islice(_of_rank(inputs, place, by), 2)


def fewer(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """Something has a dimension too many, such as the channel of a wave that the forward adds."""
    for place in edit.places(inputs):
        yield from _of_rank(inputs, place, -1)


def samples_second(
    model: nn.Module, inputs: ExampleInputs, words: list[str]
) -> Iterator[ExampleInputs]:
    """A state is of another number of samples: they stand behind the steps."""
    for place in edit.places(inputs):
        value = edit.value_at(inputs, place)
        if isinstance(value, Tensor) and value.dim() > 1 and len(value) == 1:
            yield edit.put(inputs, place, value.transpose(0, 1))


def _of_rank(inputs: ExampleInputs, place: edit.Place, by: int) -> Iterator[ExampleInputs]:
    """The inputs with so many dimensions more in one place."""
    value = edit.value_at(inputs, place)
    if isinstance(value, Tensor) and value.dim() + by > 0:
        for change in edit.ranked(value.dim() + by):
            if (made := change(value)) is not None:
                yield edit.put(inputs, place, made)


def inner_rank(
    model: nn.Module, inputs: ExampleInputs, words: list[str]
) -> Iterator[ExampleInputs]:
    """A layer got another number of dimensions than it wants: sets or frames were unpacked."""
    want, have = int(words[0]), int(words[1])
    first = inputs.args[0] if inputs.args else None
    if isinstance(first, Tensor) and first.dim() == want == have + 1:  # perhaps from a list
        yield edit.put(inputs, 0, [first])
    for place in edit.places(inputs):
        value = edit.value_at(inputs, place)
        if isinstance(value, Tensor) and value.is_floating_point() and want > have:
            grown = edit.shaped((*[1] * (want - have), *value.shape), value)
            yield edit.put(inputs, place, grown)
    yield from edit.each_float(
        inputs,
        lambda tensor: edit.shaped((*[1] * (want - have), *tensor.shape), tensor),
    )


def ordered(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """What is permuted has another number of dimensions: the input, or what was made of it."""
    yield from ranks(model, inputs, words)
    yield from another_rank(model, inputs, words[::-1])


def more_dimensions(
    model: nn.Module, inputs: ExampleInputs, words: list[str]
) -> Iterator[ExampleInputs]:
    """One dimension more than the first tensor has."""
    first = next((item for item in inputs.args if isinstance(item, Tensor)), None)
    if first is not None:
        yield from ranks(model, inputs, [str(first.dim() + 1)])


def viewed(model: nn.Module, inputs: ExampleInputs, words: list[str]) -> Iterator[ExampleInputs]:
    """A shape that the forward wants to see its input in."""
    sizes = [int(word) for word in re.findall(r"-?\d+", words[0])]
    if sizes[0] == 0 and len(sizes) > 1:  # too few frames for one clip
        for place in (1, 0):
            yield from edit.each_float(inputs, partial(edit.longer, place=place, times=sizes[1]))
    if sizes[0] > 1 and -1 in sizes:  # sets of a size that the model knows
        yield from edit.each(inputs, lambda tensor: _of_length(tensor, sizes[0]))
    yield from edit.each_float(inputs, lambda tensor: _ending(tensor, sizes))
    shape = [max(1, size) for size in sizes]
    if len(words) > 1:
        frames = int(words[1]) / math.prod(shape)
        yield from edit.each_float(inputs, lambda tensor: _of_frames(tensor, frames))
    slim = [shape[0], *(size for size in shape[1:] if size > 1)]
    for wanted in (*_images(shape), shape, slim):
        yield from edit.each_float(inputs, partial(edit.shaped, wanted))


def _images(shape: list[int]) -> Iterator[list[int]]:
    """The image that is cut into square patches by a view: n, c, rows, side, columns, side."""
    if len(shape) == 6 and shape[3] == shape[5]:
        count, channels, rows, side, columns, _ = shape
        yield [count, channels, rows * side, columns * side]


def _ending(tensor: Tensor, sizes: list[int]) -> Tensor | None:
    """Pictures in a row, with the channels in which the forward takes the row apart."""
    if len(sizes) != 4 or sizes[2:] != list(tensor.shape[-2:]) or tensor.dim() < 5 or sizes[1] < 1:
        return None
    return edit.shaped((*tensor.shape[:-3], *sizes[1:]), tensor)


def _of_frames(tensor: Tensor, left: float) -> Tensor | None:
    """A clip of which one frame is left where it left so many."""
    whole = left > 1 and left.is_integer() and tensor.dim() == 5
    return edit.shifted(tensor, 1, 1 - int(left)) if whole else None


def _of_length(tensor: Tensor, length: int) -> Tensor | None:
    shape = (length, *tensor.shape[1:])
    return edit.shaped(shape, tensor) if shape != tuple(tensor.shape) else None
