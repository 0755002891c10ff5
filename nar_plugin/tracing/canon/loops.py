"""Loops over positions: a forward that runs one step on each slice of a sequence.

Such a loop leaves as many copies of its step as the sequence is long. One copy stands for all of
them: for all that are alike, which in a recurrence from a state of zeros are the second and those
after it. So the graph does not depend on the length.

Copies stand one behind the other in the recording. A later one makes the same calls with the same
numbers and the same weights, reads other slices of the same values, and where it reads what a step
made, reads what the step before it made, as that one does: not what an earlier one made. A step
without weights is one of a loop only where it hands something on, from each step to the next:
heads and blocks that are written one by one stay as they are written. Slices that are the weights
of a layer, which a network made, are no sequence.

A loop may also read the same value in each step, as a spiking net sees one image for some time, or
nothing but its state. It is one where a step has weights and the results of all are joined; or
either, and the state begins as a constant. Layers that share their weights do neither.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

import torch

from nar_plugin.tracing.canon.call import tensors_among
from nar_plugin.tracing.record.record import CONST, DATA, PARAM, Move, Record
from nar_plugin.tracing.vocabulary import ARITHMETIC, EMBEDDINGS, LOOKUPS

_STEPS = 3  # fewer are no loop: one norm for queries and keys, what is done to x and then to y
_EARLIER = 16  # calls alike that may have begun the step before
_FACTORS = {  # of layers: which tensor is multiplied; the one behind it is the weight
    **dict.fromkeys(("convolution", "linear", "matmul", "mm", "bmm", "mv"), 0),
    **dict.fromkeys(("addmm", "baddbmm", "addbmm", "addmv"), 1),
}


def repeated_steps(records: list[Record], moves: Mapping[int, Move]) -> dict[int, int]:
    """The calls of a loop's later steps, each with the same call of the first step like them.

    Args:
        records: The recorded calls.
        moves: The calls that only moved values, by identity of the result.
    """
    return _repeated(Loops(records, moves)) or _repeated(Loops(records, moves, slices=False))


def _repeated(loops: Loops) -> dict[int, int]:
    """The same, of one kind of loop."""
    stands_for: dict[int, int] = {}
    place = 0
    while place < loops.count:
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
    weighs: bool  # it is a weight that is no parameter, or the bias beside one


class Loops:
    """Looks for repeated calls in a recording.

    Args:
        records: The recorded calls.
        moves: The calls that only moved values, by identity of the result.
        slices: Whether a loop reads other slices of one value in each step, as most do.
    """

    def __init__(
        self, records: list[Record], moves: Mapping[int, Move], *, slices: bool = True
    ) -> None:
        self.count = len(records)
        self._slices = slices
        self._records = records
        self._moves = moves
        self._read: dict[int, list[_Argument]] = {}
        self._begun: dict[Hashable, list[int]] = defaultdict(list)
        self._often = Counter((record.func, record.path) for record in records)
        self._joined = [{*record.sources} for record in records if len(record.sources) >= _STEPS]
        self._no_loop: dict[int, int] = {}  # by period: up to where calls repeat and are no loop

    def before(self, place: int) -> list[int]:
        """Earlier calls with which a step may have begun if one begins at a place, last first."""
        found: list[int] = []
        for key in dict.fromkeys(self._read_alike(place)):
            found += reversed(self._begun[key][-_EARLIER:])
            self._begun[key].append(place)
        return found

    def end(self, place: int, period: int) -> int:
        """Where whole copies of the calls before a place end; the place itself without any."""
        if place < self._no_loop.get(period, 0):
            return place
        end = place
        handed: dict[Hashable, Hashable] = {}
        while end < len(self._records) and self._repeats(end, place, period, handed):
            end += 1
        later = (end - place) // period
        if later == 0 or (end - self._begin(place, period)) // period < _STEPS:
            shorter = self._no_loop.items()
            if any(until == end and period % step == 0 for step, until in shorter):
                self._no_loop[period] = end  # so it is none with several steps for one
            return place
        step = range(place, place + period)
        slices = {item.whole for i in step for item in self._next_slices(i, period)}
        weighted = any(item.source == PARAM for i in step for item in self._arguments(i))
        each_alone = weighted and slices != {DATA}
        recurrent = self._is_recurrent(step)
        if slices and self._slices and (each_alone or recurrent):
            return place + later * period
        if recurrent and not slices and not self._slices:
            collected = self._is_collected(step)
            if (weighted and collected) or (
                (weighted or collected) and self._begins_constant(step)
            ):
                return place + later * period
        self._no_loop[period] = end
        return place

    def _is_recurrent(self, step: range) -> bool:
        """Whether a step hands something on that the same call of the next one depends on.

        A step may be found from its middle on: what it reads of the one before is then made in
        one step of the forward.
        """
        reads = TopologicalSorter[int]()
        for i in step:
            written = self._records[i].name == "copy_"  # into a tensor that holds other slices
            for item in self._arguments(i)[written:]:
                if item.source >= step.start - len(step):
                    reads.add(i, step.start + (item.source - step.start) % len(step))
        try:
            reads.prepare()
        except CycleError:
            return True
        return False

    def _is_collected(self, step: range) -> bool:
        """Whether some call joins what each step has made, or each writes into one tensor."""
        period = len(step)
        return any(
            {made - period, made, made + period} <= joined
            for made in step
            for joined in self._joined
        ) or any(
            self._records[made].name == "copy_" and self._arguments(made)[0].source == made - period
            for made in step
        )

    def _begins_constant(self, step: range) -> bool:
        """Whether all that is handed on was, before the first step, a constant or nothing."""
        start, period = step.start - len(step), len(step)
        handed = [
            (before.source, now.source, start)
            for here in step
            for now, before in zip(
                self._arguments(here), self._arguments(here - period), strict=True
            )
            if start <= now.source < step.start and before.source < start
        ]
        return self._grew(handed, period)

    def _grew(self, pairs: list[tuple[int, int, int]], period: int) -> bool:
        """Whether values were made as those of the next step, from states that were constant.

        Args:
            pairs: Sources of a value, and of that of the next step; where that step begins.
            period: The calls of a step.
        """
        seen: set[tuple[int, int]] = set()
        waiting = list(pairs)
        while waiting:
            first, second, start = waiting.pop()
            if first in (second, CONST) or (first, second) in seen:
                continue
            seen.add((first, second))
            if first < 0 or second < 0:
                return False
            one, other = self._records[first], self._records[second]
            mine, later = self._arguments(first), self._arguments(second)
            if (one.func, one.path) != (other.func, other.path):
                if other.name != "copy_" or later[0].source != first:
                    return False
                waiting.append((first, later[-1].source, start))  # the first write into a whole
            elif len(mine) > len(later):
                return False
            else:
                for now, then in self._aligned(mine, later):
                    begin = start - period if 0 <= then.source < start else start
                    waiting.append((now.source, then.source, begin))
        return True

    def _aligned(
        self, mine: list[_Argument], later: list[_Argument]
    ) -> Iterator[tuple[_Argument, _Argument]]:
        """The arguments of two calls side by side; a state may have been a plain number at first.

        Where that is so, what has no counterpart is paired with something else.
        """
        if len(mine) == len(later):
            yield from zip(mine, later, strict=True)
            return
        rest = iter(later)
        for now in mine:
            yield now, next((then for then in rest if self._is_like(now, then)), later[0])

    def _is_like(self, now: _Argument, then: _Argument) -> bool:
        if now.source == then.source or now.source == CONST:
            return True
        if now.source < 0 or then.source < 0:
            return False
        one, other = self._records[now.source], self._records[then.source]
        return (one.func, one.path) == (other.func, other.path)

    def _begin(self, place: int, period: int) -> int:
        """Where the calls before a place begin, with those of a step whose state is a constant."""
        here = place
        while max(place - 2 * period, period) < here and self._repeats(
            here - 1, place - period, period, {}, zeros=True
        ):
            here -= 1
        return here - period

    def _read_alike(self, place: int) -> Iterator[Hashable]:
        """For each value that a call reads, what it has in common with that of another step."""
        record = self._records[place]
        if self._often[record.func, record.path] < _STEPS:
            return
        moved = any(id(tensor) in self._moves for tensor in tensors_among(record))
        if self._slices and not moved and DATA not in record.sources:
            return
        read = self._arguments(place)
        weights = [tuple(self._part(item.tensor)) for item in read if item.source == PARAM]
        alike = record.func, record.path, _shape(record.out), *weights
        if weights and not self._slices:
            yield alike
        for item in read:
            live = item.source == DATA or item.source >= 0
            moved = item.source == DATA or id(item.tensor) in self._moves or not self._slices
            if live and moved and not item.weighs:
                yield *alike, item.whole

    def _repeats(
        self,
        here: int,
        start: int,
        period: int,
        handed: dict[Hashable, Hashable],
        *,
        zeros: bool = False,
    ) -> bool:
        """Whether a call is the same one of the step before.

        Args:
            here: The call.
            start: Where the second step begins.
            period: The calls of a step.
            handed: Which values of the first step are which ones of the second; is added to.
            zeros: Whether a state may begin as a constant.
        """
        one, other = self._records[here], self._records[here - period]
        if one.func != other.func or one.path != other.path:
            return False
        if not self._are_sized_alike(one.out, other.out) or not self._are_told_alike(one, other):
            return False
        mine, earlier = self._arguments(here), self._arguments(here - period)
        if len(mine) != len(earlier):
            return False
        step = here - (here - start) % period
        looks_up = one.name in LOOKUPS | EMBEDDINGS and mine[0].source == PARAM
        for now, before in zip(mine, earlier, strict=True):
            if not self._are_sized_alike(now.tensor, before.tensor):
                return False
            if now.source == before.source:
                if now.source != CONST and now.whole != before.whole:
                    return False
                if now.source == PARAM and self._part(now.tensor) != self._part(before.tensor):
                    return False  # each step has its own slice of the weights
                if now.source == CONST and looks_up and not _equal(now.tensor, before.tensor):
                    return False  # likewise
                if now.source >= start - period:
                    return False  # what one step made, for all
            elif before.source >= 0 and now.source == before.source + period:
                if now.source < step - period:
                    return False  # of an earlier step than the one before
            else:
                begins = before.source >= 0 or before.source == DATA
                passed_on = step == start and start - period <= now.source < start
                if not (zeros and now.source >= here - period) and not (begins and passed_on):
                    return False
            if (
                step == start
                and now.source not in (CONST, PARAM)
                and before.source < start - period
            ):
                value = now.source, now.whole
                if handed.setdefault((before.source, before.whole), value) != value:
                    return False  # from one value two states begin, or one that is read as well
        return True

    def _are_sized_alike(self, now: Any, before: Any) -> bool:
        return _shape(now) == _shape(before)

    def _are_told_alike(self, now: Record, before: Record) -> bool:
        """Whether two calls are told the same numbers, beside tensors."""
        return now.name.rstrip("_") in ARITHMETIC or numbers_of(now) == numbers_of(before)

    def _next_slices(self, here: int, period: int) -> Iterator[_Argument]:
        """What a call reads other slices of than that of the step before."""
        pairs = zip(self._arguments(here), self._arguments(here - period), strict=True)
        for now, before in pairs:
            same = now.source == before.source and now.source not in (CONST, PARAM)
            if same and not now.weighs and self._part(now.tensor) != self._part(before.tensor):
                yield now

    def _arguments(self, place: int) -> list[_Argument]:
        if place not in self._read:
            record = self._records[place]
            tensors: list[Any] = list(tensors_among(record))
            if len(tensors) != len(record.sources):  # an operation that was recorded as one
                tensors = [None] * len(record.sources)
            factor = _generated(record)
            self._read[place] = [
                _Argument(source, tensor, self._whole(source, tensor), factor not in (None, i))
                for i, (source, tensor) in enumerate(zip(record.sources, tensors, strict=True))
            ]
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


def _generated(record: Record) -> int | None:
    """Which tensor a layer multiplies with a weight that is no parameter; None for other calls."""
    factor = _FACTORS.get(record.name.rstrip("_"))
    if factor is None or PARAM in record.sources[factor : factor + 2]:
        return None
    return factor


def numbers_of(value: Any) -> Any:
    """What a call is told beside tensors."""
    if isinstance(value, Record):
        return numbers_of(value.args), [
            (key, numbers_of(item)) for key, item in value.kwargs.items()
        ]
    if isinstance(value, torch.Tensor):
        return None
    return [numbers_of(item) for item in value] if isinstance(value, tuple | list) else value


def _equal(one: torch.Tensor | None, other: torch.Tensor | None) -> bool:
    """Whether two constants hold the same places; large ones, without values, are taken to."""
    if one is None or other is None or one.is_meta or other.is_meta:
        return True
    return torch.equal(one, other)
