"""What a slice of joined values is: where it lies in one of them, that one."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import accumulate
from typing import NamedTuple

import torch

from nar_plugin.tracing.canon.call import Call
from nar_plugin.tracing.canon.order import laid_out
from nar_plugin.tracing.record.record import Move

_JOINING = frozenset({"cat", "stack"})


class Joined(NamedTuple):
    """Values that one call joined along a dimension.

    Attributes:
        out: The result.
        dim: The dimension.
        ends: Where each value ends along it.
        sources: What made each of them, a node or PARAM, DATA or CONST.
        origins: The calls that made them.
    """

    out: torch.Tensor
    dim: int
    ends: list[int]
    sources: list[int]
    origins: list[int]

    def part(self, tensor: torch.Tensor, moves: dict[int, Move]) -> int | None:
        """Which of the values a view or a copy of the result lies in; None where in several."""
        while not _shares_memory(tensor, self.out):
            move = moves.get(id(tensor))
            if move is None:
                return None
            tensor = move.args[0]
        places = _along(tensor, self.out, self.dim)
        if places is None or tensor is self.out:
            return None
        first, last = places
        begins = [0, *self.ends[:-1]]
        pairs = enumerate(zip(begins, self.ends, strict=True))
        return next((i for i, (begin, end) in pairs if begin <= first and last < end), None)

    def order(self, tensor: torch.Tensor, part: int) -> tuple[Hashable, ...] | None:
        """In which order a view holds one of the values; None where it is a copy."""
        if not _shares_memory(tensor, self.out):
            return None
        begin = [0, *self.ends][part]
        whole = self.out.narrow(self.dim, begin, self.ends[part] - begin)
        offset = int(tensor.storage_offset()) - int(whole.storage_offset())
        here, there = (laid_out(item.shape, item.stride()) for item in (tensor, whole))
        return () if here == there and not offset else (offset, here, there)


def joined_by(call: Call) -> Joined | None:
    """What a call joins, if it does."""
    out, dense = call.out, call.name in _JOINING and isinstance(call.out, torch.Tensor)
    if not dense or not out.is_contiguous() or len(call.tensors) != len(call.sources):
        return None
    dim = int(call.args[1] if len(call.args) > 1 else call.kwargs.get("dim", 0)) % out.dim()
    if call.name == "stack":
        sizes = [1] * len(call.tensors)
    elif all(tensor.dim() == out.dim() for tensor in call.tensors):
        sizes = [tensor.shape[dim] for tensor in call.tensors]
    else:
        return None  # cat passes empty tensors of another rank by
    return Joined(out, dim, [*accumulate(sizes)], call.sources, call.origins)


def _shares_memory(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one is other or (
        one.layout is torch.strided
        and one.untyped_storage()._cdata == other.untyped_storage()._cdata
    )


def _along(view: torch.Tensor, whole: torch.Tensor, dim: int) -> tuple[int, int] | None:
    """The first and last place along a dimension of a contiguous tensor that a view of it reads.

    None where a dimension of the view runs over the end of that dimension, as in a flat view.
    """
    step, size = int(whole.stride(dim)), int(whole.shape[dim])
    begin = int(view.storage_offset()) - int(whole.storage_offset())
    first, inner = begin // step % size, begin % step
    last = first
    for stride, count in zip(map(int, view.stride()), view.shape, strict=True):
        if count <= 1 or stride == 0 or stride % (step * size) == 0:
            continue
        if stride % step == 0:
            last += stride // step * (count - 1)
        else:
            inner += stride * (count - 1)
    return (first, last) if last < size and inner < step else None
