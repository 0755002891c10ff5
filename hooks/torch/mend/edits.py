"""Changes to guessed inputs: another size, another number of dimensions, one argument more."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from nar_plugin.hookspecs import ExampleInputs

from ..._shared.layer_inputs import STEPS

_MOST_ELEMENTS = 1 << 28
_MOST_DIMENSIONS = 8
_MOST_IDS = 1 << 20  # with values: refused inputs are kept, and a trace reads fewer than these
Change = Callable[[Tensor], Tensor | None]
Place = int | str | tuple[int | str, int | str]  # an argument, or a field or item of one


def each_float(inputs: ExampleInputs, change: Change) -> Iterator[ExampleInputs]:
    """The inputs with one floating point tensor changed, then with all of them changed."""
    yield from each(inputs, lambda tensor: change(tensor) if _holds_floats(tensor) else None)


def each(inputs: ExampleInputs, change: Change) -> Iterator[ExampleInputs]:
    """The inputs with one tensor changed, then with all of them changed.

    A tensor may be an argument, or a field of one that is a dict or an object.
    """
    found = [(place, made) for place in places(inputs) if (made := changed(inputs, place, change))]
    for _, made in found:
        yield made
    if len(found) > 1:
        everywhere = inputs
        for place, _ in found:
            everywhere = changed(everywhere, place, change) or everywhere
        yield everywhere


def places(inputs: ExampleInputs) -> Iterator[Place]:
    """Where the tensors of the inputs are."""
    arguments: list[tuple[int | str, Any]] = [*enumerate(inputs.args), *inputs.kwargs.items()]
    for place, value in arguments:
        if isinstance(value, dict | SimpleNamespace):
            yield from ((place, key) for key in _fields(value))
        else:
            yield place
        if isinstance(value, list):
            yield from ((place, item) for item in _fields(value))


def value_at(inputs: ExampleInputs, place: Place) -> Any:
    """What stands at a place."""
    if isinstance(place, tuple):
        return _fields(value_at(inputs, place[0]))[place[1]]
    return inputs.args[place] if isinstance(place, int) else inputs.kwargs[place]


def _fields(value: Any) -> dict[Any, Any]:
    if isinstance(value, list):
        return dict(enumerate(value))
    return value if isinstance(value, dict) else vars(value)


def changed(inputs: ExampleInputs, place: Place, change: Change) -> ExampleInputs | None:
    """The inputs with the tensor in one place changed, or those of a list there."""
    value = value_at(inputs, place)
    if isinstance(value, list) and value and all(isinstance(item, Tensor) for item in value):
        new: Any = [change(item) for item in value]
        new = None if any(item is None for item in new) else new
    elif isinstance(value, Tensor):
        new = change(value)
    else:
        return None
    if new is None or (isinstance(new, Tensor) and new.numel() > _MOST_ELEMENTS):
        return None
    return put(inputs, place, new)


def _holds_floats(tensor: Tensor) -> bool:
    """Whether numbers stand in it, and no ids: those are real tensors, or too many."""
    return tensor.is_floating_point() or (tensor.is_meta and tensor.numel() <= _MOST_IDS)


def shaped(shape: Sequence[int], like: Tensor) -> Tensor:
    """A tensor of another shape: small ids where ids were, true where masks were, else floats."""
    if _holds_floats(like):
        return torch.empty(tuple(shape), device="meta")
    if math.prod(shape) > _MOST_IDS:
        return torch.empty(tuple(shape), dtype=like.dtype, device="meta")
    if like.dtype == torch.bool:
        return torch.ones(tuple(shape), dtype=torch.bool)
    return torch.arange(math.prod(shape)).reshape(tuple(shape)) % 7


def put(inputs: ExampleInputs, place: Place, value: Any) -> ExampleInputs:
    """The inputs with one argument, by position or by name, in place of the old or added."""
    if isinstance(place, tuple):
        owner = value_at(inputs, place[0])
        fields = {**_fields(owner), place[1]: value}
        made = list(fields.values()) if isinstance(owner, list) else type(owner)(**fields)
        return put(inputs, place[0], made)
    if isinstance(place, int):
        return replace(inputs, args=(*inputs.args[:place], value, *inputs.args[place + 1 :]))
    return replace(inputs, kwargs={**inputs.kwargs, place: value})


def resized(have: int, want: int) -> Iterator[Change]:
    """Ways to make a size that a layer found into the one that it wants.

    The size may be a dimension as it stands, one to which something was added or by which it was
    multiplied, the elements of a flattened picture, or its patches with or without a class token.
    """
    yield lambda tensor: dimension(tensor, have, want)
    if min(have, want) < 1:
        return
    for extra in (0, 1, 2):
        if have > extra and want > extra:
            ratio = math.sqrt((want - extra) / (have - extra))
            yield lambda tensor, ratio=ratio: scaled(tensor, ratio)  # type: ignore[misc]
    half_way = (1 + math.sqrt(want / have)) / 2  # borders that kernels cut off do not scale
    yield lambda tensor: scaled(tensor, half_way)
    yield lambda tensor: dimension(tensor, have, want, -1)
    yield lambda tensor: _transformed(tensor, have, want)
    for place in (-1, 1):
        yield lambda tensor, place=place: _adjusted(tensor, place, have, want)  # type: ignore[misc]
    if want % have == 0:
        yield lambda tensor: longer(tensor, 1, want // have)


def dimension(tensor: Tensor, have: int, want: int, which: int = 0) -> Tensor | None:
    """A dimension of a size made another one, counted from the last; the first never is."""
    shape = list(tensor.shape)
    found = [place for place in range(len(shape) - 1, 0, -1) if shape[place] == have]
    if not found:
        return None
    shape[found[which]] = want
    return shaped(shape, tensor)


def _adjusted(tensor: Tensor, place: int, have: int, want: int) -> Tensor | None:
    """A dimension that something was concatenated to, that was repeated, or that was pooled."""
    shape = list(tensor.shape)
    if len(shape) < 2:
        return None
    size = shape[place]
    exact = size * want % have == 0 and (have > size or size % have == 0)
    new = size * want // have if exact else size + want - have
    if new < 1 or new == size:
        return None
    shape[place] = new
    return shaped(shape, tensor)


def _transformed(tensor: Tensor, have: int, want: int) -> Tensor | None:
    """A last dimension of which a real Fourier transform keeps half, and one frequency more."""
    if want < 2 or tensor.shape[-1] // 2 + 1 != have:
        return None
    return shaped((*tensor.shape[:-1], 2 * (want - 1)), tensor)


def batched(tensor: Tensor, size: int) -> Tensor | None:
    """Another first dimension, where that is a stack of matrices and no batch."""
    right = tensor.dim() == 3 and tensor.shape[0] != size
    return shaped((size, *tensor.shape[1:]), tensor) if right else None


def longer(tensor: Tensor, place: int, times: int) -> Tensor | None:
    """A dimension times a number: steps of which several make one patch, or stacked frames."""
    shape = list(tensor.shape)
    if len(shape) <= place or times == 1:
        return None
    shape[place] *= times
    return shaped(shape, tensor)


def shifted(tensor: Tensor, place: int, by: int) -> Tensor | None:
    """A dimension that is larger by a number, which may be negative."""
    shape = list(tensor.shape)
    if len(shape) <= place or shape[place] + by < 1:
        return None
    shape[place] += by
    return shaped(shape, tensor)


def scaled(tensor: Tensor, ratio: float) -> Tensor | None:
    """A picture with its sides times `ratio`, a signal with its length times its square."""
    shape = list(tensor.shape)
    if tensor.dim() >= 4:
        shape[-2:] = [max(1, round(side * ratio)) for side in shape[-2:]]
    elif tensor.dim() == 3:
        shape[-1] = max(1, round(shape[-1] * ratio * ratio))
    return None if shape == list(tensor.shape) else _floats(*shape)


def sized(which: Any, want: int | tuple[int, ...]) -> Change:
    """A dimension of another size, or a slice of them that become others, perhaps more."""

    def change(tensor: Tensor) -> Tensor | None:
        shape: list[Any] = list(tensor.shape)
        if isinstance(which, slice) != isinstance(want, tuple):
            return None
        if isinstance(which, int) and not -len(shape) <= which < len(shape):
            return None
        shape[which] = want
        changes = 0 < math.prod(shape) <= _MOST_ELEMENTS and shape != list(tensor.shape)
        return shaped(shape, tensor) if changes else None

    return change


def channels(want: int) -> Change:
    """Another number of channels, in the second dimension."""

    def change(tensor: Tensor) -> Tensor | None:
        shape = list(tensor.shape)
        if len(shape) < 2 or shape[1] == want:
            return None
        shape[1] = want
        return _floats(*shape)

    return change


def width(want: int) -> Change:
    """Another last dimension."""

    def change(tensor: Tensor) -> Tensor | None:
        shape = (*tensor.shape[:-1], want)
        return _floats(*shape) if shape != tuple(tensor.shape) else None

    return change


def sides(height: int, across: int) -> Change:
    """A picture of this size in pixels."""

    def change(tensor: Tensor) -> Tensor | None:
        if tensor.dim() < 4 or tuple(tensor.shape[-2:]) == (height, across):
            return None
        return _floats(*tensor.shape[:-2], height, across)

    return change


def multiples(of: int, rest: int = 0) -> Change:
    """Sides or a length that are the next multiple of a number, and a rest more."""

    def change(tensor: Tensor) -> Tensor | None:
        count = 2 if tensor.dim() >= 4 else 1
        shape = list(tensor.shape)
        shape[-count:] = [side + (rest - side) % of for side in shape[-count:]]
        return None if shape == list(tensor.shape) else _floats(*shape)

    return change


def ranked(want: int) -> Iterator[Change]:
    """Ways to give a tensor so many dimensions."""

    def grow(place: int, size: int, *, ids: bool = False) -> Change:
        def change(tensor: Tensor) -> Tensor | None:
            shape = list(tensor.shape)
            while len(shape) < want <= _MOST_DIMENSIONS:
                shape.insert(place if place >= 0 else len(shape), size)
            if len(shape) == tensor.dim():
                return None
            return shaped(shape, tensor) if ids else _floats(*shape)

        return change

    def shrink(place: int) -> Change:
        def change(tensor: Tensor) -> Tensor | None:
            shape = list(tensor.shape)
            while len(shape) > want:
                shape.pop(place)
            return shaped(shape, tensor) if len(shape) != tensor.dim() and shape else None

        return change

    yield lambda tensor: None if _holds_floats(tensor) else grow(1, 4, ids=True)(tensor)
    for place in (1, 2, -1):
        yield grow(place, 8 if want == 5 else STEPS)
    for place in (0, -1, 1):
        yield shrink(place)


def as_ids(tensor: Tensor) -> Tensor | None:
    """Token ids in the place of features: one for each, or one for each vector."""
    if not tensor.is_floating_point():
        return None
    shape = tensor.shape[:-1] if tensor.dim() > 2 else tensor.shape
    return torch.arange(math.prod(shape)).reshape(shape) % 7 if shape.numel() < 1 << 16 else None


def as_floats(tensor: Tensor) -> Tensor | None:
    """Numbers in the place of ids."""
    return None if tensor.is_floating_point() else _floats(*tensor.shape)


def as_list(tensor: Tensor) -> Any:
    """Two pictures without a batch dimension, as detectors take them."""
    return [torch.empty_like(tensor[0]), torch.empty_like(tensor[0])]


def as_pathways(clip: Tensor, count: int) -> Iterator[list[Tensor]]:
    """So many clips, of which all but the last may see a frame in 4, 8 or 2 only.

    Feichtenhofer et al. 2019, section 3.1: the slow pathway comes first.

    Shapes:
        clip (samples, channels, frames, height, width), or others, which are repeated.
    """
    yield [clip] * count
    for rarer in (4, 8, 2) if clip.dim() == 5 and count > 1 else ():
        if clip.shape[2] >= rarer:
            slow = _floats(*clip.shape[:2], clip.shape[2] // rarer, *clip.shape[3:])
            yield [*[slow] * (count - 1), clip]


def as_features(want: int) -> Callable[[ExampleInputs], Iterator[ExampleInputs]]:
    """Vectors of a width in the place of ids."""

    def change(inputs: ExampleInputs) -> Iterator[ExampleInputs]:
        for place, value in enumerate(inputs.args):
            if isinstance(value, Tensor) and not value.is_floating_point():
                yield put(inputs, place, _floats(*value.shape, want))

    return change


def _floats(*shape: int) -> Tensor:
    return torch.empty(*shape, device="meta")
