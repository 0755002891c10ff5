"""Layers of one input that are one layer elsewhere: query, key and value, gate and value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from nar_plugin.checkpoints.parameters import Shape

MOST_SIDES = 24  # widths that are tried

Pieces = Counter[Shape]


def by_rest(parts: Iterable[Shape]) -> dict[Shape, dict[int, Shape]]:
    """By what is left of a shape without one side: that side, the smallest first, and the shape."""
    groups: dict[Shape, dict[int, Shape]] = {}
    for shape in sorted(parts):
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
        widths = parts.get(shape[:position] + shape[position + 1 :])
        if widths is None:
            continue
        sides = [side for side in widths if side < goal][-MOST_SIDES:]
        for place, one in enumerate(sides):
            if one > goal - one:
                break
            if goal - one in widths:
                yield widths[one], widths[goal - one]
            for other in sides[place:]:
                third = goal - one - other
                if third < other:
                    break
                if third in widths:
                    yield widths[one], widths[other], widths[third]


def best_way(
    ways: Iterable[tuple[Shape, ...]],
    parts: Callable[[Shape], int],
    wanted: int,
    times: int = 1,
) -> tuple[Pieces, int] | None:
    """Of the ways to put parts together the one that works most often, and how often.

    Args:
        ways: The pieces of each.
        parts: How many there are of each shape.
        wanted: How often it is to work at most.
        times: How many of each piece it takes.
    """
    best: tuple[Shape, ...] = ()
    most = 0
    for way in ways:
        count = min(wanted, *(parts(piece) // (way.count(piece) * times) for piece in way))
        if count > most:
            best, most = way, count
    return (Counter(best), most) if most else None


def one_side_off(shape: Shape, parts: Mapping[Shape, Mapping[int, Shape]]) -> list[Shape]:
    """The shapes that differ from this one in a single side.

    Example:
        >>> one_side_off((8, 16), by_rest([(8, 8), (8, 16), (16, 32), (9, 17)]))
        [(16, 32), (8, 8)]

    Args:
        shape: Its sides in order.
        parts: The others, as `by_rest` gives them.
    """
    rests = (shape[:position] + shape[position + 1 :] for position in range(len(shape)))
    others = (other for rest in rests for other in parts.get(rest, {}).values())
    return [other for other in dict.fromkeys(others) if other != shape]


def one_expert(shape: Shape, packed: int) -> Shape | None:
    """The shape of one expert's matrix in a tensor that packs so many of them."""
    if not packed or packed not in shape:
        return None
    place = shape.index(packed)
    return shape[:place] + shape[place + 1 :]
