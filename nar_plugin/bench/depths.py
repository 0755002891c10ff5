"""Whether mined repeats have the depth of the stacks that models declare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from nar_plugin.bench.stacks import Stack
from nar_plugin.mining import Repeat


def depths_found(declared: Sequence[Stack], found: Sequence[Repeat], length: int) -> list[bool]:
    """For each stack whether repeats times blocks per period are its depth.

    A declared block is counted in the mined block that holds most of its operations, so that it
    does not matter where in its period a stack is cut: that is what the boundaries are measured
    for. All blocks of a stack must lie in mined blocks of one repeat that follow one another and
    hold as many of them each. Where they lie in one alone (two layers that alternate, a stage of
    two), the other mined blocks of its repeat must hold as many.

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
    homes = [[_home(owner[list(block)].tolist()) for block in stack.blocks] for stack in declared]
    held = Counter(home for places in homes for home in places)
    return [_is_found(places, held, repeats) for places in homes]


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
