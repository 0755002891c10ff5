"""What lies between the stems and the heads of two aligned designs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from nar_plugin.likeness.alignment import Alignment, Lone, Pair, Part
from nar_plugin.likeness.differences import STRUCTURAL, Difference
from nar_plugin.mining import MacroGraph


@dataclass(frozen=True)
class Body:
    """What lies between the stems and the heads of two aligned designs.

    Attributes:
        pairs: What corresponds.
        lone: What has no partner.
        ends: The stems and heads with their names, paired or not.
    """

    pairs: tuple[Pair, ...]
    lone: tuple[Lone, ...]
    ends: tuple[tuple[str, Pair | Lone], ...]

    @property
    def counts(self) -> tuple[int, int]:
        """The number of blocks of each design."""
        first, second = (sum(map(len, self._parts(side))) for side in (False, True))
        return first, second

    @property
    def matched(self) -> int:
        """The number of blocks that correspond one to one."""
        return sum(pair.matched for pair in self.pairs)

    @property
    def coverage(self) -> float:
        """The part of the operations that lies in blocks with a partner; the less of two parts."""
        return min(self._covered(side) for side in (False, True))

    @property
    def likeness(self) -> float:
        """How alike blocks with a partner are, on the average over their operations."""
        sizes = [pair.a.ops + pair.b.ops for pair in self.pairs]
        return float(np.average([pair.likeness for pair in self.pairs], weights=sizes))

    @property
    def changes(self) -> Counter[Difference]:
        """In how many blocks that correspond something differs."""
        found: Counter[Difference] = Counter()
        for pair in self.pairs:
            found.update(dict(pair.changes))
        return found

    @property
    def touched(self) -> int:
        """How many blocks differ in structure."""
        return sum(
            max((n for each, n in pair.changes if each.sort in STRUCTURAL), default=0)
            for pair in self.pairs
        )

    @property
    def first_touched(self) -> str:
        """The first block of the second design that differs in structure."""
        return next(
            pair.b.blocks[0].path
            for pair in self.pairs
            if any(each.sort in STRUCTURAL for each, _ in pair.changes)
        )

    def _parts(self, second: bool) -> list[Part]:
        paired = [pair.b if second else pair.a for pair in self.pairs]
        return paired + [each.part for each in self.lone if each.second is second]

    def _covered(self, second: bool) -> float:
        whole = sum(part.ops for part in self._parts(second))
        return sum((pair.b if second else pair.a).ops for pair in self.pairs) / max(whole, 1)


def body_of(alignment: Alignment) -> Body:
    """Tell the stems and heads of two aligned designs from the rest.

    A stem is no layer of a stack and reads an input; a head is none and gives a result.
    """
    ends, pairs, lone = [], [], []
    for row in alignment.rows:
        if name := _end(row, alignment):
            ends.append((name, row))
        elif isinstance(row, Pair):
            pairs.append(row)
        else:
            lone.append(row)
    return Body(tuple(pairs), tuple(lone), tuple(ends))


def _end(row: Pair | Lone, alignment: Alignment) -> str:
    """`stem` or `head` where a row is one on every side that it has, else empty."""
    if isinstance(row, Lone):
        return _end_of(row.part, alignment.b if row.second else alignment.a)
    one, other = _end_of(row.a, alignment.a), _end_of(row.b, alignment.b)
    return one if one == other else ""


def _end_of(part: Part, macro: MacroGraph) -> str:
    if part.stacked or len(macro.graph) <= part.ops:
        return ""
    places = np.concatenate([block.places for block in part.blocks])
    edges = macro.graph.edges
    if not np.isin(places, edges[:, 1]).all():
        return "stem"
    return "" if np.isin(places, edges[:, 0]).all() else "head"
