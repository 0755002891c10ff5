"""Layers of one input that are one layer elsewhere: query, key and value, gate and value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from nar_plugin.checkpoints.parameters import Shape

MOST_SIDES = 24  # widths that are tried

Pieces = Counter[Shape]


def by_rest(parts: Iterable[Shape]) -> dict[Shape, dict[int, Shape]]:
    """By what is left of a shape without one side: that side, and the shape."""
    groups: dict[Shape, dict[int, Shape]] = {}
    for shape in parts:
        for position, side in enumerate(shape):
            groups.setdefault(shape[:position] + shape[position + 1 :], {})[side] = shape
    return groups


def compositions(
    shape: Shape, parts: Mapping[Shape, Mapping[int, Shape]]
) -> Iterator[tuple[Shape, ...]]:
    """Ways to put two or three layers of one input together as one layer of this shape.

    Example:
        >>> list(compositions((64, 192), by_rest([(64, 64), (64, 128)])))
        [((64, 64), (64, 128)), ((64, 64), (64, 64), (64, 64))]

    Args:
        shape: Of the one layer, its sides in order.
        parts: Shapes of the others, as `by_rest` gives them.
    """
    for position, goal in enumerate(shape):
        widths = parts.get(shape[:position] + shape[position + 1 :], {})
        sides = [side for side in sorted(widths) if side < goal][-MOST_SIDES:]
        for place, one in enumerate(sides):
            if goal - one in widths and one <= goal - one:
                yield widths[one], widths[goal - one]
            for other in sides[place:]:
                third = goal - one - other
                if third >= other and third in widths:
                    yield widths[one], widths[other], widths[third]


def best_way(
    ways: Iterable[tuple[Shape, ...]], parts: Mapping[Shape, int], wanted: int, times: int = 1
) -> tuple[Pieces, int] | None:
    """Of the ways to put parts together the one that works most often, and how often.

    Args:
        ways: The pieces of each.
        parts: How many there are of each shape.
        wanted: How often it is to work at most.
        times: How many of each piece it takes.
    """
    best: tuple[Pieces, int] | None = None
    for way in ways:
        pieces = Counter(way)
        count = min(wanted, *(parts.get(p, 0) // (n * times) for p, n in pieces.items()))
        if count > (best[1] if best else 0):
            best = pieces, count
    return best


def one_expert(shape: Shape, packed: int) -> Shape | None:
    """The shape of one expert's matrix in a tensor that packs so many of them."""
    if not packed or packed not in shape:
        return None
    place = shape.index(packed)
    return shape[:place] + shape[place + 1 :]
