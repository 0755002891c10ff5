"""Which part of an image each row of a layer's input is."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import torch

from nar_plugin.tracing.canon.call import Call, operator_name
from nar_plugin.tracing.record.record import Move, Record

_IMAGE = 4  # dimensions: samples, channels, height, width; five for a film
_CUT = 6  # dimensions of an image whose height and width were cut
_LARGEST = 1 << 26  # values of an image
_SAME = frozenset("_to_copy to clone contiguous alias detach lift lift_fresh".split())


def patches(call: Call, place: int) -> tuple[int, ...] | None:
    """The sides of the patches of an image that an operand of a call holds, one in each row.

    The calls that moved the image's values are run again with the number of each value in its
    place, so it does not matter how they are written: in views, by `unfold` or `F.unfold`.

    Args:
        call: The call.
        place: Which of its tensors; the last dimension is taken for the features of a patch.

    Returns:
        Height and width, of a film the frames before them; None where the rows are anything but
        patches side by side that cover the image, several and of more than one pixel of a frame.
    """
    tensor = call.tensors[place]
    image, moves = _unmoved(tensor, call.origins[place], call.records, call.moves)
    if image.dim() < _IMAGE or not moves or not 0 < image.numel() <= _LARGEST:
        return None
    places = _again(image, moves)
    if places is None:
        return None
    return _sides(places.reshape(-1, tensor.shape[-1]), image.shape)


def side_by_side(call: Call) -> bool:
    """Whether `F.unfold` or `F.fold` moves patches that neither overlap nor leave anything out."""
    kernel, dilation, padding, stride = call.args[-4:]
    plain = set(dilation) == {1} and set(padding) == {0} and list(kernel) == list(stride)
    image = call.tensors[0].shape[-2:] if call.name == "im2col" else call.args[1]
    return plain and not any(size % side for size, side in zip(image, kernel, strict=True))


def _unmoved(
    tensor: torch.Tensor, origin: int, records: list[Record], moves: Mapping[int, Move]
) -> tuple[torch.Tensor, list[Move]]:
    """What a tensor's values were before they were moved, and the moves; none unless they cut."""
    made: list[Move] = []
    cut = False
    while True:
        record = records[origin] if origin >= 0 else None
        if id(tensor) in moves:
            move = moves[id(tensor)]
        elif record is not None and record.out is tensor and record.name == "im2col":
            move, origin = Move(record.func, record.args), record.sources[0]
            cut = True
        else:
            return tensor, made if cut else []
        made.append(move)
        tensor = move.args[0]
        cut = cut or tensor.dim() >= _CUT


def _again(image: torch.Tensor, moves: list[Move]) -> torch.Tensor | None:
    """The places in the image that the moved values come from."""
    places = torch.arange(image.numel(), dtype=torch.float64).view(image.shape)
    for func, (_, *rest), place in reversed(moves):
        if any(isinstance(item, torch.Tensor) for item in rest):
            return None
        if operator_name(func) not in _SAME:
            moved = func(places, *rest)
            places = (moved if place is None else moved[place]).contiguous()
    return places.long()


def _sides(rows: torch.Tensor, shape: torch.Size) -> tuple[int, ...] | None:
    """The sides of the patches that rows of places in an image of this shape are."""
    first = rows[0]
    if len(rows) < 2 or bool(((rows - rows[:, :1]) != (first - first[0])).any()):
        return None
    _, channels, *inside = torch.unravel_index(first, shape)
    corners = [axis.min() for axis in inside]
    sides = [int(axis.max() - corner) + 1 for axis, corner in zip(inside, corners, strict=True)]
    size = shape[1] * prod(sides)
    if len(first) != size or _different(first) != size or _different(channels) != shape[1]:
        return None
    grid = [length // side for length, side in zip(shape[2:], sides, strict=True)]
    least = rows.min(1).values
    starts = torch.stack(torch.unravel_index(least, shape)[2:], dim=1)
    whole = len(rows) == shape[0] * prod(grid) == _different(least)
    on_grid = not bool((starts % torch.tensor(sides)).any())
    several = all(count > 1 for count in grid[-2:]) and prod(sides[-2:]) > 1
    return tuple(sides) if whole and on_grid and several else None


def _different(places: torch.Tensor) -> int:
    return len(torch.unique(places))
