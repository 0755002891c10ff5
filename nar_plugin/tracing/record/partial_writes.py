"""Writes into a part of a tensor: the whole is then what it was, with the part in its place.

So `y[..., :4].sigmoid_()` leaves what `torch.cat([y[..., :4].sigmoid(), y[..., 4:]], -1)` leaves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import _disable_current_modes

from nar_plugin.tracing.record.record import Record

_JOIN: Any = torch.ops.aten.cat.default
_COPY: Any = torch.ops.aten.copy_.default


_STEPS = 3  # writes alike that are a loop
_MOST_PIECES = 16  # beyond them it is a loop too


class Write(NamedTuple):
    """A value for a part of a tensor.

    Attributes:
        whole: What the part is a view of.
        part: The view.
        value: What is written; the part itself, where that was computed in place.
        old: The source of the whole.
        new: The source of the value.
        into: What holds the result: the whole, unless that is left as it was.
        path: The module that writes.
    """

    whole: torch.Tensor
    part: torch.Tensor
    value: torch.Tensor
    old: int
    new: int
    into: torch.Tensor
    path: str

    def record(self) -> Record:
        """The whole joined with the value, wherever that goes: alike for all steps of a loop."""
        sources = [self.old, self.new]
        return Record(_COPY, (self.part, self.value), {}, self.into, sources, self.path)

    def joined(self, tensors: list[torch.Tensor], sources: list[int], dim: int) -> Record:
        """The pieces of the whole joined in order."""
        return Record(_JOIN, (tensors, dim), {}, self.into, sources, self.path)

    def is_like(self, other: Write) -> bool:
        """Whether both may be steps of one loop."""
        return self.path == other.path and self.part.shape == other.part.shape


class _Piece(NamedTuple):
    start: int
    stop: int
    source: int


class _Pieces(NamedTuple):
    tensor: int  # that is made of them, by its id
    dim: int
    pieces: list[_Piece]


class Parts:
    """What whole tensors are made of since parts of them were written."""

    def __init__(self) -> None:
        self._buffers: set[int] = set()  # constants before, or written by a loop
        self._made: dict[int, _Pieces] = {}  # by the source
        self._steps: dict[int, dict[int, Write]] = {}  # the last writes, all alike; by the record

    def fill(self, whole: torch.Tensor) -> None:
        """Note that a part of a constant is written."""
        self._buffers.add(id(whole))

    def is_buffer(self, whole: torch.Tensor) -> bool:
        """Whether it is filled step by step."""
        return id(whole) in self._buffers

    def is_joined(self, source: int | None) -> bool:
        """Whether a source is a whole of which all pieces are known."""
        return source in self._made

    def source(self, whole: torch.Tensor, part: torch.Tensor, source: int) -> int:
        """The source of a view: of the piece that it lies in, or of the whole."""
        made = self._made[source]
        found = _slice(whole, part) if made.tensor == id(whole) else None
        if found is None or found[0] != made.dim:
            return source
        inside = (p.source for p in made.pieces if p.start <= found[1] and found[2] <= p.stop)
        return next(inside, source)

    def records(self, write: Write, index: int) -> dict[int, Record]:
        """The records that stand for a write, by their places; some may be there already.

        A slice along one dimension is joined with what lies before and behind it, any other part
        with all that the whole was. So is each part of a buffer that a loop fills, so that all of
        its steps are alike.

        Args:
            write: A value for a part of a tensor.
            index: The place of the next record.
        """
        if self.is_buffer(write.whole):
            return {index: write.record()}
        steps = self._steps.pop(id(write.whole), {})
        if not all(write.is_like(step) for step in steps.values()):
            steps = {}
        self._steps[id(write.into)] = steps = {**steps, index: write}
        found = _slice(write.whole, write.part)
        pieces = self._pieces(write, *found) if found else []
        if len(steps) == _STEPS or len(pieces) > _MOST_PIECES:
            self._buffers.add(id(write.into))
            return {place: step.record() for place, step in steps.items()}
        if not found:
            with _disable_current_modes():
                apart = [write.whole[None], write.part]  # never the shape of what made the whole
            return {index: write.joined(apart, [write.old, write.new], 0)}
        dim = found[0]
        self._made[index] = _Pieces(id(write.into), dim, pieces)
        with _disable_current_modes():
            slices = [write.whole.narrow(dim, p.start, p.stop - p.start) for p in pieces]
        return {index: write.joined(slices, [piece.source for piece in pieces], dim)}

    def _pieces(self, write: Write, dim: int, start: int, stop: int) -> list[_Piece]:
        """What the whole is made of after a write, in order."""
        before = self._made.get(write.old)
        if before is not None and before.tensor == id(write.whole) and before.dim == dim:
            pieces = before.pieces
        else:
            pieces = [_Piece(0, write.whole.shape[dim], write.old)]
        left = [p._replace(stop=min(p.stop, start)) for p in pieces if p.start < start]
        right = [p._replace(start=max(p.start, stop)) for p in pieces if p.stop > stop]
        return [*left, _Piece(start, stop, write.new), *right]


def _slice(whole: torch.Tensor, part: torch.Tensor) -> tuple[int, int, int] | None:
    """The one dimension along which a part is a slice, its start and its end; else None."""
    shape, strides = list(part.shape), list(part.stride())
    if part.dim() == whole.dim() - 1:  # one index of a dimension
        pairs = zip(whole.shape, whole.stride(), strict=True)
        kept = list(zip(shape, strides, strict=True))
        rest = list(pairs)
        dim = next((d for d in range(len(rest)) if rest[:d] + rest[d + 1 :] == kept), None)
        if dim is None:
            return None
        shape.insert(dim, 1)
        strides.insert(dim, whole.stride(dim))
    if strides != list(whole.stride()):
        return None
    dims = [d for d, size in enumerate(shape) if size != whole.shape[d]]
    if len(dims) != 1 or not strides[dims[0]] or not shape[dims[0]]:
        return None
    dim = dims[0]
    start = (part.storage_offset() - whole.storage_offset()) // strides[dim]
    return dim, int(start), int(start + shape[dim])
