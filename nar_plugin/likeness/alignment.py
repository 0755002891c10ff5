"""Which part of one design corresponds to which part of another, along the depth of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nar_plugin.likeness.blocks import Block
from nar_plugin.likeness.differences import Difference
from nar_plugin.likeness.groups import rows_of
from nar_plugin.likeness.masses import Masses
from nar_plugin.likeness.partners import Side, matches_of
from nar_plugin.mining import MacroGraph

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Part:
    """Neighbouring blocks of a design that are told together.

    Attributes:
        blocks: In order, at least one.
        share: The part of the design's mass that they have.
    """

    blocks: tuple[Block, ...]
    share: float

    def __len__(self) -> int:
        """The number of blocks."""
        return len(self.blocks)

    @property
    def ops(self) -> int:
        """The number of operations."""
        return sum(len(block.places) for block in self.blocks)

    @property
    def stacked(self) -> bool:
        """Whether it is made of layers of a stack."""
        return self.blocks[0].stacked

    @property
    def label(self) -> str:
        """The classes of its blocks, two at most; the first kinds of what is no layer."""
        labels = list(dict.fromkeys(block.label for block in self.blocks))
        if self.stacked:
            return ", ".join(labels[:2]) + (", ..." if len(labels) > 2 else "")
        if len(labels) == 1:
            return labels[0]
        kinds = dict.fromkeys(kind for label in labels for kind in label.split(", "))
        told = [kind for kind in kinds if kind != "..."]
        return ", ".join(told[:4]) + (", ..." if len(told) > 4 or "..." in kinds else "")


@dataclass(frozen=True)
class Pair:
    """A part of one design and the part of the other that it corresponds to.

    Attributes:
        a: Part of the first.
        b: Part of the second.
        likeness: How alike their blocks are, from 0 to 1.
        moved: The mass that the overlap moves from one to the other.
        matched: How many blocks correspond one to one.
        changes: What differs, and in how many of these.
    """

    a: Part
    b: Part
    likeness: float
    moved: float
    matched: int
    changes: tuple[tuple[Difference, int], ...]


@dataclass(frozen=True)
class Lone:
    """A part of one design that corresponds to nothing in the other.

    Attributes:
        part: The part.
        second: Whether it is of the second design.
    """

    part: Part
    second: bool


@dataclass(frozen=True)
class Alignment:
    """What two designs have in common, part by part.

    Attributes:
        a: The first design.
        b: The second.
        rows: Along the depth: what corresponds, and what has no partner.
        moved: float64[parts of a, parts of b], the mass that the overlap moves, in the order of
            the rows. It sums to the overlap.
    """

    a: MacroGraph
    b: MacroGraph
    rows: tuple[Pair | Lone, ...]
    moved: FloatArray

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """What corresponds."""
        return tuple(row for row in self.rows if isinstance(row, Pair))

    @property
    def lone(self) -> tuple[Lone, ...]:
        """What has no partner."""
        return tuple(row for row in self.rows if isinstance(row, Lone))

    @cached_property
    def overlap(self) -> float:
        """The mass that is moved: what of the likeness is counted (`nar_plugin.likeness`)."""
        return float(self.moved.sum())


def align(a: MacroGraph, b: MacroGraph) -> Alignment:
    """Match the blocks of two designs in order, and tell neighbours that fare alike together.

    Blocks correspond where they are alike enough, in order along the depth, so that as many
    operations as possible are matched; of many equal layers the first have the partners, and the
    others count as more of the same.

    Args:
        a: The first design.
        b: The second. Swapped designs have the same rows, seen from the other side.
    """
    one, other = Side.of(a), Side.of(b)
    masses = Masses.of((a.graph, b.graph), (one.owners, other.owners))
    likenesses = masses.likenesses()
    matches = matches_of(likenesses, one, other)
    rows = rows_of(one, other, matches)
    shares = [share.sum(axis=0) for share in masses.shares()]
    parts = [np.zeros(len(side.blocks), dtype=np.int64) for side in (one, other)]
    numbers = [0, 0]
    partners: list[tuple[int, int]] = []
    for row in rows:
        if row.one and row.other:
            partners.append((numbers[0], numbers[1]))
        for side, members in enumerate((row.one, row.other)):
            parts[side][members] = numbers[side]
            numbers[side] += bool(members)
    moved = masses.moved((parts[0], parts[1]), partners)
    mass = iter([float(moved[pair]) for pair in partners])
    found: list[Pair | Lone] = []
    for row in rows:
        left = _part(one, row.one, shares[0]) if row.one else None
        right = _part(other, row.other, shares[1]) if row.other else None
        if left and right:
            alike = float(np.mean([match.likeness for match in row.matches]))
            changes = Counter(change for match in row.matches for change in match.differences)
            told = tuple(changes.items())
            found.append(Pair(left, right, alike, next(mass), len(row.matches), told))
        elif lone := left or right:
            found.append(Lone(lone, second=left is None))
    return Alignment(a, b, tuple(found), moved)


def _part(side: Side, members: Sequence[int], shares: FloatArray) -> Part:
    return Part(tuple(side.blocks[n] for n in members), float(shares[list(members)].sum()))
