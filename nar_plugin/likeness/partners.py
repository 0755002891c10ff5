"""Which block of one design corresponds to which of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nar_plugin.likeness.blocks import Block, blocks_of
from nar_plugin.likeness.differences import STRUCTURAL, Difference, differences
from nar_plugin.likeness.matching import in_order
from nar_plugin.likeness.wiring import Wired, Wiring
from nar_plugin.mining import MacroGraph
from nar_plugin.mining.step_labels import shape_word

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

NEAR = 0.2  # likeness of two blocks from which on they correspond
UNLIKE = 0.4  # and where one of them is a layer of a stack and the other is not
EARLY = 1e-6  # what it is worth that two blocks lie equally deep: it decides between equals only


@dataclass(frozen=True)
class Side:
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
    def of(cls, macro: MacroGraph) -> Side:
        """Cut a design into blocks."""
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

    def exactly(self, number: int) -> tuple[object, ...]:
        """Equal for layers of one stack that are equal in all."""
        ops = self.macro.graph.ops
        return (self.blocks[number].stack, *(ops[p] for p in self.blocks[number].places))


@dataclass(frozen=True)
class Match:
    """Two blocks that correspond.

    Attributes:
        one: Number of the block of the first design.
        other: Number of the block of the second.
        likeness: How alike they are.
        differences: What differs.
    """

    one: int
    other: int
    likeness: float
    differences: tuple[Difference, ...]

    @property
    def structure(self) -> frozenset[str]:
        """What differs beyond numbers."""
        return frozenset(each.text for each in self.differences if each.sort in STRUCTURAL)


def matches_of(likenesses: FloatArray, one: Side, other: Side) -> list[Match]:
    """The blocks that correspond, in order."""
    worth = _worth(likenesses, one, other)
    if swapped(one, other):  # equal choices are made alike from either side
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
        found.append(Match(n, m, float(likenesses[pair]), known[key]))
    return found


def swapped(one: Side, other: Side) -> bool:
    """Whether the second design is the first one by fingerprint."""
    return one.macro.graph.fingerprint > other.macro.graph.fingerprint


def _worth(likenesses: FloatArray, one: Side, other: Side) -> FloatArray:
    """float64[n, m]: how many operations each pair of blocks lets correspond."""
    sizes = [np.array([len(block.places) for block in side.blocks]) for side in (one, other)]
    depths = [np.cumsum(size) / max(size.sum(), 1) for size in sizes]
    far = np.abs(depths[0][:, None] - depths[1][None])
    worth = likenesses * np.minimum(sizes[0][:, None], sizes[1][None])
    layers = [np.array([block.stacked for block in side.blocks]) for side in (one, other)]
    least = np.where(layers[0][:, None] == layers[1][None], NEAR, UNLIKE)
    return np.asarray(np.where(likenesses >= least, worth + EARLY * (1 - far), 0.0))


def _in_one_place(
    pairs: Sequence[tuple[int, int]], likenesses: FloatArray, one: Side, other: Side
) -> list[tuple[int, int]]:
    """Single rests between the same neighbours: two heads correspond, however unlike they are."""
    found = []
    ends = [(-1, -1), *pairs, (len(one.blocks), len(other.blocks))]
    for (n, m), (next_n, next_m) in pairwise(ends):
        alone = next_n == n + 2 and next_m == m + 2
        if alone and not one.blocks[n + 1].stacked and not other.blocks[m + 1].stacked:
            found += [(n + 1, m + 1)] if likenesses[n + 1, m + 1] > 0 else []
    return found


def _early(pairs: Sequence[tuple[int, int]], one: Side, other: Side) -> list[tuple[int, int]]:
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
