"""Which part of one design corresponds to which part of another, along the depth of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nar_plugin.likeness.blocks import Block, blocks_of
from nar_plugin.likeness.differences import STRUCTURAL, Difference, differences
from nar_plugin.likeness.masses import Masses
from nar_plugin.likeness.matching import in_order
from nar_plugin.likeness.wiring import Wired, Wiring
from nar_plugin.mining import MacroGraph
from nar_plugin.mining.labels import shape_word

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

NEAR = 0.15  # likeness of two blocks from which on they correspond
UNLIKE = 0.4  # and where one of them is a layer of a stack and the other is not
EARLY = 1e-6  # what it is worth that two blocks lie equally deep: it decides between equals only


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
    one, other = _Side.of(a), _Side.of(b)
    masses = Masses.of((a.graph, b.graph), (one.owners, other.owners))
    likenesses = masses.likenesses()
    matches = _matches(likenesses, one, other)
    rows = _rows(one, other, matches)
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
        left = one.part(row.one, shares[0]) if row.one else None
        right = other.part(row.other, shares[1]) if row.other else None
        if left and right:
            alike = float(np.mean([match.likeness for match in row.matches]))
            changes = Counter(change for match in row.matches for change in match.differences)
            told = tuple(changes.items())
            found.append(Pair(left, right, alike, next(mass), len(row.matches), told))
        elif lone := left or right:
            found.append(Lone(lone, second=left is None))
    return Alignment(a, b, tuple(found), moved)


@dataclass(frozen=True)
class _Side:
    """One of the designs, cut into blocks.

    Attributes:
        macro: The design.
        blocks: Its n blocks.
        wired: The blocks in the graph.
        owners: int64[operations], the block of each operation.
        words: Of each block what it is made of, widths aside: equal for more of the same.
    """

    macro: MacroGraph
    blocks: tuple[Block, ...]
    wired: tuple[Wired, ...]
    owners: IntArray
    words: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, macro: MacroGraph) -> _Side:
        blocks, ops = blocks_of(macro), macro.graph.ops
        owners = np.zeros(len(ops), dtype=np.int64)
        for number, block in enumerate(blocks):
            owners[block.places] = number
        known = {id(op): op for op in ops}
        word = {key: shape_word(op) for key, op in known.items()}
        wiring = Wiring(macro.graph)
        return cls(
            macro,
            blocks,
            tuple(Wired(wiring, tuple(block.places.tolist())) for block in blocks),
            owners,
            tuple(tuple(word[id(ops[place])] for place in block.places) for block in blocks),
        )

    def part(self, members: Sequence[int], shares: FloatArray) -> Part:
        return Part(tuple(self.blocks[n] for n in members), float(shares[list(members)].sum()))

    def exactly(self, number: int) -> tuple[object, ...]:
        """Equal for layers of one stack that are equal in all."""
        ops = self.macro.graph.ops
        return (self.blocks[number].stack, *(ops[p] for p in self.blocks[number].places))


@dataclass(frozen=True)
class _Match:
    one: int
    other: int
    likeness: float
    differences: tuple[Difference, ...]

    @property
    def structure(self) -> frozenset[str]:
        """What differs beyond numbers."""
        return frozenset(each.text for each in self.differences if each.sort in STRUCTURAL)


@dataclass(frozen=True)
class _Row:
    one: list[int]
    other: list[int]
    matches: list[_Match]

    def with_more(self, row: _Row) -> _Row:
        return _Row(self.one + row.one, self.other + row.other, self.matches + row.matches)


def _matches(likenesses: FloatArray, one: _Side, other: _Side) -> list[_Match]:
    """The blocks that correspond, in order."""
    worth = _worth(likenesses, one, other)
    if _swapped(one, other):  # equal choices are made alike from either side
        pairs = [(n, m) for m, n in in_order(worth.T)]
    else:
        pairs = in_order(worth)
    places = _in_one_place(pairs, likenesses, one, other)
    old = sorted([*pairs, *places])
    known: dict[tuple[object, ...], tuple[Difference, ...]] = {}
    found = []
    for pair, (n, m) in zip(old, _early(old, one, other), strict=True):
        key = one.exactly(n), other.exactly(m)
        if key not in known:
            known[key] = differences(one.wired[n], other.wired[m])
        found.append(_Match(n, m, float(likenesses[pair]), known[key]))
    return found


def _swapped(one: _Side, other: _Side) -> bool:
    return one.macro.graph.fingerprint > other.macro.graph.fingerprint


def _worth(likenesses: FloatArray, one: _Side, other: _Side) -> FloatArray:
    """float64[n, m]: how many operations each pair of blocks lets correspond."""
    sizes = [np.array([len(block.places) for block in side.blocks]) for side in (one, other)]
    depths = [np.cumsum(size) / max(size.sum(), 1) for size in sizes]
    far = np.abs(depths[0][:, None] - depths[1][None])
    worth = likenesses * np.minimum(sizes[0][:, None], sizes[1][None])
    layers = [np.array([block.stacked for block in side.blocks]) for side in (one, other)]
    least = np.where(layers[0][:, None] == layers[1][None], NEAR, UNLIKE)
    return np.asarray(np.where(likenesses >= least, worth + EARLY * (1 - far), 0.0))


def _in_one_place(
    pairs: Sequence[tuple[int, int]], likenesses: FloatArray, one: _Side, other: _Side
) -> list[tuple[int, int]]:
    """Single rests between the same neighbours: two heads correspond, however unlike they are."""
    found = []
    ends = [(-1, -1), *pairs, (len(one.blocks), len(other.blocks))]
    for (n, m), (next_n, next_m) in pairwise(ends):
        alone = next_n == n + 2 and next_m == m + 2
        if alone and not one.blocks[n + 1].stacked and not other.blocks[m + 1].stacked:
            found += [(n + 1, m + 1)] if likenesses[n + 1, m + 1] > 0 else []
    return found


def _early(pairs: Sequence[tuple[int, int]], one: _Side, other: _Side) -> list[tuple[int, int]]:
    """The same pairs, each with the first of equal layers that is free."""
    found: list[tuple[int, int]] = []
    for pair in pairs:
        place = []
        for side, number, before in zip(
            (one, other), pair, found[-1] if found else (-1, -1), strict=True
        ):
            name = side.exactly(number)
            while number - 1 > before and side.exactly(number - 1) == name:
                number -= 1
            place.append(number)
        found.append((place[0], place[1]))
    return found


def _rows(one: _Side, other: _Side, matches: Sequence[_Match]) -> list[_Row]:
    """Which blocks of both are told in one row, in order along the depth."""
    rows: list[_Row] = []
    before = -1, -1
    for match in [*matches, None]:
        here = (match.one, match.other) if match else (len(one.blocks), len(other.blocks))
        alone = (
            [_Row([n], [], []) for n in range(before[0] + 1, here[0])],
            [_Row([], [n], []) for n in range(before[1] + 1, here[1])],
        )
        first = int(_swapped(one, other))
        rows += alone[first] + alone[1 - first]
        rows += [_Row([match.one], [match.other], [match])] if match else []
        before = here
    joined: list[_Row] = []
    for row in rows:
        if (
            joined
            and _same_stacks(joined[-1], row, one, other)
            and _fare_alike(joined[-1], row, one, other)
        ):
            joined[-1] = joined[-1].with_more(row)
        else:
            joined.append(row)
    return joined


def _same_stacks(row: _Row, new: _Row, one: _Side, other: _Side) -> bool:
    """Whether the blocks of both rows are layers of one stack, on either side."""
    for side, had, more in ((one, row.one, new.one), (other, row.other, new.other)):
        if had and more:
            last, first = side.blocks[had[-1]], side.blocks[more[0]]
            if not (last.stacked and first.stacked and last.stack == first.stack):
                return False
    return True


def _fare_alike(row: _Row, new: _Row, one: _Side, other: _Side) -> bool:
    """Whether the second row is more of the same: equal changes, or layers equal to known ones."""
    if new.matches:
        return bool(row.matches) and row.matches[-1].structure == new.matches[0].structure
    side, had, more = (one, row.one, new.one) if new.one else (other, row.other, new.other)
    if not had:
        return False
    return not row.matches or side.words[more[0]] in {side.words[n] for n in had}
