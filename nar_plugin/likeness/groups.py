"""Blocks in rows: neighbours that fare alike are told together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nar_plugin.likeness.partners import Match, Side, swapped


@dataclass(frozen=True)
class Row:
    """Blocks that are told together.

    Attributes:
        one: Their numbers in the first design.
        other: And in the second.
        matches: Which of them correspond.
    """

    one: list[int]
    other: list[int]
    matches: list[Match]

    def with_more(self, row: Row) -> Row:
        """The row, and what another one has."""
        return Row(self.one + row.one, self.other + row.other, self.matches + row.matches)


def rows_of(one: Side, other: Side, matches: Sequence[Match]) -> list[Row]:
    """Which blocks of both are told in one row, in order along the depth."""
    rows: list[Row] = []
    before = -1, -1
    for match in [*matches, None]:
        here = (match.one, match.other) if match else (len(one.blocks), len(other.blocks))
        alone = (
            [Row([n], [], []) for n in range(before[0] + 1, here[0])],
            [Row([], [n], []) for n in range(before[1] + 1, here[1])],
        )
        first = int(swapped(one, other))
        rows += alone[first] + alone[1 - first]
        rows += [Row([match.one], [match.other], [match])] if match else []
        before = here
    joined: list[Row] = []
    for row in rows:
        if joined and (
            _are_rests(joined[-1], row, one, other) or _go_on(joined[-1], row, one, other)
        ):
            joined[-1] = joined[-1].with_more(row)
        else:
            joined.append(row)
    return joined


def _are_rests(row: Row, new: Row, one: Side, other: Side) -> bool:
    """Whether both rows have no partner, are of one design and are no layers."""
    if row.matches or new.matches:
        return False
    return any(
        bool(had and more) and not any(side.blocks[n].stacked for n in (*had, *more))
        for side, had, more in ((one, row.one, new.one), (other, row.other, new.other))
    )


def _go_on(row: Row, new: Row, one: Side, other: Side) -> bool:
    """Whether the second row is more of the first: layers of one stack that fare alike."""
    return _same_stacks(row, new, one, other) and _fare_alike(row, new, one, other)


def _same_stacks(row: Row, new: Row, one: Side, other: Side) -> bool:
    """Whether the blocks of both rows are layers of one stack, on either side."""
    for side, had, more in ((one, row.one, new.one), (other, row.other, new.other)):
        if had and more:
            last, first = side.blocks[had[-1]], side.blocks[more[0]]
            if not (last.stacked and first.stacked and last.stack == first.stack):
                return False
    return True


def _fare_alike(row: Row, new: Row, one: Side, other: Side) -> bool:
    """Whether the second row is more of the same: equal changes, or layers equal to known ones."""
    if new.matches:
        return bool(row.matches) and row.matches[-1].structure == new.matches[0].structure
    side, had, more = (one, row.one, new.one) if new.one else (other, row.other, new.other)
    if not had:
        return False
    return not row.matches or side.words[more[0]] in {side.words[n] for n in had}
