"""In which order a call reads what another one made.

Views and copies leave no node, so a graph does not say that a value was turned in between. A rule
that names a pattern asks here: x * sigmoid(x) is SiLU, x times the sigmoid of x, turned, is not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import torch

from nar_plugin.tracing.canon.node import Read
from nar_plugin.tracing.record.record import Move, name_of

_COPIES = frozenset(
    """
    clone contiguous _to_copy to copy reshape _reshape_copy _reshape_alias view_copy view
    _unsafe_view unsqueeze squeeze flatten unflatten detach alias lift lift_fresh positive data
    """.split()
)


class Along(NamedTuple):
    """Where a weight has more than one number, beside a value of the same number of dimensions.

    Attributes:
        flows: The value, as it is read.
        dims: The dimensions, counted from the last.
        order: In which order the value is read.
    """

    flows: torch.Tensor
    dims: tuple[int, ...]
    order: tuple[Hashable, ...]

    def is_of(self, made: torch.Tensor, channels: Iterable[int]) -> bool:
        """Whether the weight has a number for each channel of what a layer made."""
        flows, channels = self.flows, [dim % made.dim() for dim in channels]
        if not self.order:
            return places(flows.shape, self.dims) == places(made.shape, channels)
        if not _share(flows, made):
            return False
        mine = [(flows.shape[dim], flows.stride(dim)) for dim in self.dims]
        theirs = [(made.shape[dim], made.stride(dim)) for dim in channels]
        return laid_out(*zip(*mine, strict=True)) == laid_out(*zip(*theirs, strict=True))


def order_of(
    tensor: torch.Tensor, moves: Mapping[int, Move], roots: Mapping[int, Read]
) -> tuple[Hashable, ...]:
    """How the values of a tensor stand, seen from the call that made them.

    Args:
        tensor: A view or a copy of what a call made, or that itself.
        moves: The calls that only moved values, by identity of the result.
        roots: Tensors before numbers were added to them, by identity of the result.

    Returns:
        Empty where all follow one another as they were made, whatever the shape; else what changed
        that. A value that is spread by `expand` counts once.
    """
    steps: list[Hashable] = []
    while True:
        if tensor.layout is not torch.strided:
            return (*steps, id(tensor))
        whole, move = tensor, moves.get(id(tensor))
        while move is not None and _share(whole, move.args[0]):
            whole = move.args[0]
            move = moves.get(id(whole))
        here, there = (laid_out(item.shape, item.stride()) for item in (tensor, whole))
        offset = int(tensor.storage_offset()) - int(whole.storage_offset())
        if here != there or offset:
            steps.append((offset, here, there))
        if move is None:
            return (*steps, *(roots[id(whole)].order if id(whole) in roots else ()))
        if name_of(move.func).rstrip("_") not in _COPIES:
            steps.append((name_of(move.func), str(move.args[1:]), move.place))
        tensor = move.args[0]


def laid_out(sizes: Iterable[int], steps: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Sizes and steps of dimensions, those that follow one another as one; none of size 1."""
    found: list[tuple[int, int]] = []
    for size, step in zip(map(int, sizes), map(int, steps), strict=True):
        if size == 1 or step == 0:
            continue
        if found and found[-1][1] == step * size:
            found[-1] = found[-1][0] * size, step
        else:
            found.append((size, step))
    return tuple(found)


def places(shape: Sequence[int], dims: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Where some dimensions stand among the values of a shape: equal whatever it was viewed as."""
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step)
        step *= int(size)
    wanted = {dim % len(shape) for dim in dims}
    told = [step if dim in wanted else 0 for dim, step in enumerate(reversed(steps))]
    return laid_out(shape, told)


def _share(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors are views of one memory."""
    strided = other.layout is torch.strided
    return strided and one.untyped_storage()._cdata == other.untyped_storage()._cdata
