"""Scans by doubling: rounds in which each place joins what lies twice as far away as before.

A recurrence that is linear can be computed in as many rounds as the logarithm of the length says
(Hillis and Steele 1986). The first round stands for all of them, as the first step of a loop does.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import torch

from nar_plugin.tracing.canon.loops import Loops, numbers_of
from nar_plugin.tracing.record.record import PARAM, Move, Record

_ROUNDS = 3  # fewer are taken as they are


def doubling_rounds(records: list[Record], moves: Mapping[int, Move]) -> dict[int, int]:
    """The calls of a scan's later rounds, each with the same call of the first round.

    Args:
        records: The recorded calls.
        moves: The calls that only moved values, by identity of the result.
    """
    rounds = _Rounds(records, moves)
    stands_for: dict[int, int] = {}
    place = 0
    while place < rounds.count:
        for first in rounds.before(place):
            end = rounds.end(place, place - first)
            if end > place:
                stands_for |= {i: first + (i - first) % (place - first) for i in range(place, end)}
                place = end - 1
                break
        place += 1
    return stands_for


class _Rounds(Loops):
    """Looks for calls that are repeated on other slices of what they made before."""

    def end(self, place: int, period: int) -> int:
        """Where whole rounds after a place end; the place itself without any."""
        if place < self._no_loop.get(period, 0):
            return place
        end = place
        handed: dict[Hashable, Hashable] = {}
        while end < len(self._records) and self._repeats(end, place, period, handed):
            end += 1
        later = (end - place) // period
        if later + 1 < _ROUNDS or not self._is_scan(place, period):
            self._no_loop[period] = end
            return place
        return place + later * period

    def _is_scan(self, place: int, period: int) -> bool:
        """Whether rounds join what lies farther and farther away, and nothing else."""
        rounds = [range(place + i * period, place + (i + 1) * period) for i in range(_ROUNDS - 1)]
        weighted = any(item.source == PARAM for i in rounds[0] for item in self._arguments(i))
        doubles = all(map(self._doubles, rounds)) and self._is_recurrent(rounds[0])
        return doubles and not weighted

    def _doubles(self, step: range) -> bool:
        """Whether some distance is twice that of the round before."""
        pairs = [
            (before, now)
            for here in step
            for before, now in zip(self._told(here - len(step)), self._told(here), strict=False)
            if before != now
        ]
        return any(now == 2 * before for before, now in pairs)

    def _told(self, place: int) -> list[int]:
        """The whole numbers that a call is told, and those of the slices that it reads."""
        found = list(_whole(numbers_of(self._records[place])))
        for item in self._arguments(place):
            tensor = item.tensor
            while tensor is not None and (move := self._moves.get(id(tensor))) is not None:
                found += _whole(list(move.args[1:]))
                tensor = move.args[0]
        return found

    def _read_alike(self, place: int) -> Iterator[Hashable]:
        record = self._records[place]
        if self._often[record.func, record.path] < _ROUNDS:
            return
        if any(id(item.tensor) in self._moves for item in self._arguments(place)):
            yield record.func, record.path, _rank(record.out)

    def _are_sized_alike(self, now: Any, before: Any) -> bool:
        """But for the length that a round reads."""
        if not isinstance(now, torch.Tensor) or not isinstance(before, torch.Tensor):
            return super()._are_sized_alike(now, before)
        sizes = zip(now.shape, before.shape, strict=False)
        return now.dim() == before.dim() and sum(one != other for one, other in sizes) <= 1

    def _are_told_alike(self, now: Record, before: Record) -> bool:
        pairs = list(zip(_whole(numbers_of(before)), _whole(numbers_of(now)), strict=False))
        return all(new in (old, 2 * old) for old, new in pairs)


def _rank(out: Any) -> int:
    return out.dim() if isinstance(out, torch.Tensor) else -1


def _whole(value: Any) -> Iterator[int]:
    """The integers in nested lists and pairs."""
    if type(value) is int:
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _whole(item)
