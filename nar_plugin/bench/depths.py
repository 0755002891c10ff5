"""Whether mined repeats have the depth of the stacks that models declare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

import numpy as np

from nar_plugin.bench.stacks import Stack
from nar_plugin.mining import Repeat
from nar_plugin.tracing.graph import IntArray


def depths_found(declared: Sequence[Stack], found: Sequence[Repeat], length: int) -> list[bool]:
    """For each stack whether repeats times blocks per period are its depth.

    A declared block is counted in the mined block that holds most of its operations. All blocks
    of a stack must lie in mined blocks of one repeat that follow one another and hold as many of
    them each. Where they lie in one alone (two layers that alternate, a stage of two), the other
    mined blocks of its repeat must hold as many. Where in its period a stack is cut does not
    matter, since that is what the boundaries are measured for: what holds after the mined
    beginnings are moved by up to half of a block holds.

    Args:
        declared: The stacks, placed in the order in which the graph is cut.
        found: The mined repeats.
        length: The number of operations.
    """
    owner = np.full(length, -1)
    repeats: list[int] = []  # of each mined block
    for number, repeat in enumerate(found):
        for start, stop in pairwise((*repeat.starts, repeat.stop)):
            owner[start:stop] = len(repeats)
            repeats.append(number)
    reach = max((int(median(map(len, stack.blocks))) // 2 for stack in declared), default=0)
    met = [False] * len(declared)
    for shift in sorted(range(-reach, reach + 1), key=abs):
        homes = _homes(declared, _moved(owner, shift))
        held = Counter(home for places in homes for home in places)
        for number, stack in enumerate(declared):
            if abs(shift) <= int(median(map(len, stack.blocks))) // 2:
                met[number] = met[number] or _is_found(homes[number], held, repeats)
    return met


def _homes(declared: Sequence[Stack], owner: IntArray) -> list[list[int]]:
    return [[_home(owner[list(block)].tolist()) for block in stack.blocks] for stack in declared]


def _moved(owner: IntArray, shift: int) -> IntArray:
    moved = np.full_like(owner, -1)
    moved[max(shift, 0) : len(owner) + min(shift, 0)] = owner[
        max(-shift, 0) : len(owner) - max(shift, 0)
    ]
    return moved


def _home(owners: list[int]) -> int:
    """The mined block that holds most of some operations, the first of several; -1 for none."""
    counts = Counter(owners)
    return min(counts, key=lambda owner: (-counts[owner], owner))


def _is_found(places: list[int], held: Counter[int], repeats: list[int]) -> bool:
    used = sorted(set(places))
    if used[0] < 0 or len({repeats[block] for block in used}) > 1:
        return False
    each = set(Counter(places).values())
    if len(each) > 1 or used != list(range(used[0], used[-1] + 1)):
        return False
    if len(used) > 1:
        return True
    mates = [block for block, repeat in enumerate(repeats) if repeat == repeats[used[0]]]
    return {held[block] for block in mates} - {0} == each
