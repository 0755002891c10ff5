"""Loops over positions: a forward that runs one step on each slice of a sequence.

Such a loop leaves as many copies of its step as the sequence is long. One copy stands for all of
them: for all that are alike, which in a recurrence from a state of zeros are the second and those
after it. So the graph does not depend on the length.

Copies stand one behind the other in the recording. A later one makes the same calls with the same
weights, reads other slices of the same values, and where it reads what a step made, reads what the
step before it made, as that one does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, NamedTuple

import torch

from nar_plugin.tracing.call import tensors_among
from nar_plugin.tracing.record import CONST, DATA, PARAM, Move, Record

_STEPS = 3  # fewer are no loop: one norm for queries and keys, what is done to x and then to y
_EARLIER = 4  # calls alike that may have begun the step before


def repeated_steps(records: list[Record], moves: Mapping[int, Move]) -> dict[int, int]:
    """The calls of a loop's later steps, each with the same call of the first step like them.

    Args:
        records: The recorded calls.
        moves: The calls that only moved values, by identity of the result.
    """
    loops = _Loops(records, moves)
    stands_for: dict[int, int] = {}
    place = 0
    while place < len(records):
        for first in loops.before(place):
            end = loops.end(place, place - first)
            if end > place:
                steps = range(place, end)
                stands_for |= {i: first + (i - first) % (place - first) for i in steps}
                place = end - 1
                break
        place += 1
    return stands_for


class _Argument(NamedTuple):
    """A tensor that a call reads: its source, and what it is a slice of."""

    source: int
    tensor: torch.Tensor | None
    whole: int


class _Loops:
    """Looks for repeated calls in a recording."""

    def __init__(self, records: list[Record], moves: Mapping[int, Move]) -> None:
        self._records = records
        self._moves = moves
        self._read: dict[int, list[_Argument]] = {}
        self._begun: dict[Hashable, list[int]] = defaultdict(list)

    def before(self, place: int) -> list[int]:
        """Earlier calls with which a step may have begun if one begins at a place, last first."""
        found: list[int] = []
        for key in dict.fromkeys(self._slices_read(place)):
            found += reversed(self._begun[key][-_EARLIER:])
            self._begun[key].append(place)
        return found

    def end(self, place: int, period: int) -> int:
        """Where whole copies of the calls before a place end; the place itself without any."""
        end = place
        while end < len(self._records) and self._repeats(end, place, period):
            end += 1
        later = (end - place) // period
        if 1 + later < _STEPS:
            return place
        step = range(place, place + period)
        slices = {item.whole for i in step for item in self._next_slices(i, period)}
        read = [item for i in step for item in self._arguments(i)]
        recurrent = any(place - period <= item.source < place for item in read)
        each_alone = any(item.source == PARAM for item in read) and slices != {DATA}
        return place + later * period if slices and (recurrent or each_alone) else place

    def _slices_read(self, place: int) -> Iterator[Hashable]:
        """For each slice that a call reads, what it has in common with that of another step."""
        record = self._records[place]
        moved = any(id(tensor) in self._moves for tensor in tensors_among(record))
        if moved or DATA in record.sources:
            for item in self._arguments(place):
                if item.source == DATA or (item.source >= 0 and id(item.tensor) in self._moves):
                    yield record.func, record.path, _shape(record.out), item.whole

    def _repeats(self, here: int, start: int, period: int) -> bool:
        """Whether a call is the same one of the step before, with steps from `start` on."""
        one, other = self._records[here], self._records[here - period]
        if one.func != other.func or one.path != other.path or _shape(one.out) != _shape(other.out):
            return False
        mine, earlier = self._arguments(here), self._arguments(here - period)
        if len(mine) != len(earlier):
            return False
        for now, before in zip(mine, earlier, strict=True):
            if _shape(now.tensor) != _shape(before.tensor):
                return False
            if now.source == before.source:
                if now.source != CONST and now.whole != before.whole:
                    return False
                if now.source == PARAM and self._part(now.tensor) != self._part(before.tensor):
                    return False  # each step has its own slice of the weights
                continue
            passed_on = start - period <= now.source < start
            starts = passed_on and (before.source >= 0 or before.source == DATA)
            if not starts and now.source != before.source + period:
                return False
        return True

    def _next_slices(self, here: int, period: int) -> Iterator[_Argument]:
        """What a call reads other slices of than that of the step before."""
        pairs = zip(self._arguments(here), self._arguments(here - period), strict=True)
        for now, before in pairs:
            same = now.source == before.source and now.source not in (CONST, PARAM)
            if same and self._part(now.tensor) != self._part(before.tensor):
                yield now

    def _arguments(self, place: int) -> list[_Argument]:
        if place not in self._read:
            record = self._records[place]
            tensors: list[Any] = list(tensors_among(record))
            if len(tensors) != len(record.sources):  # an operation that was recorded as one
                tensors = [None] * len(record.sources)
            pairs = zip(record.sources, tensors, strict=True)
            self._read[place] = [_Argument(*pair, self._whole(*pair)) for pair in pairs]
        return self._read[place]

    def _whole(self, source: int, tensor: torch.Tensor | None) -> int:
        if source == DATA and id(tensor) not in self._moves:
            return DATA  # ids have values, and their slices are values too
        while (move := self._moves.get(id(tensor))) is not None:
            tensor = move.args[0]
        return id(tensor)

    def _part(self, tensor: torch.Tensor | None) -> list[Hashable]:
        """Which slice a tensor is, and of what."""
        steps: list[Hashable] = []
        while tensor is not None and (move := self._moves.get(id(tensor))) is not None:
            steps.append((move.func, str(move.args[1:]), move.place))
            tensor = move.args[0]
        if tensor is None or tensor.is_meta:
            return [*steps, id(tensor)]
        return [*steps, tensor.data_ptr(), tensor.shape, tensor.stride()]  # it has values


def _shape(out: Any) -> Hashable:
    """The shapes of a call's results."""
    if isinstance(out, torch.Tensor):
        return out.shape
    return tuple(map(_shape, out)) if isinstance(out, tuple | list) else None
