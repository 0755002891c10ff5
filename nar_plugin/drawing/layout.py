"""Where boxes and edges go: rows along the depth, orthogonal edges, long ones in lanes beside.

A folded design is a nearly straight line with a few branches, so the layers of Sugiyama, Tagawa &
Toda (Methods for Visual Understanding of Hierarchical System Structures, 1981) suffice: rows by the
longest path, no row wider than the picture (Coffman & Graham, 1972), order by barycentre. An edge
that passes a row by runs in a lane beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nar_plugin.drawing.figure import Box, Edge, Level
from nar_plugin.drawing.measures import (
    BETWEEN,
    CHAR_SHAPE,
    FRAME_HEAD,
    FRAME_PAD,
    LANE,
    ROW_GAP,
    size_of,
)

Point = tuple[float, float]


@dataclass(frozen=True)
class Placed:
    """A box with its place, in pixels from the upper left corner of the picture."""

    box: Box
    x: float
    y: float
    width: float
    height: float
    inside: Layout | None = None

    @property
    def middle(self) -> float:
        """Of its width."""
        return self.x + self.width / 2

    def moved(self, right: float, down: float) -> Placed:
        """The box elsewhere, with what is in it."""
        inside = self.inside.moved(right, down) if self.inside else None
        return Placed(self.box, self.x + right, self.y + down, self.width, self.height, inside)


@dataclass(frozen=True)
class Route:
    """The way of an edge, from corner to corner, and the shape that stands at its end."""

    points: tuple[Point, ...]
    shape: str = ""

    def moved(self, right: float, down: float) -> Route:
        """The way elsewhere."""
        return Route(tuple((x + right, y + down) for x, y in self.points), self.shape)


@dataclass(frozen=True)
class Layout:
    """Boxes and edges with their places, and the size of all."""

    boxes: tuple[Placed, ...]
    routes: tuple[Route, ...]
    width: float
    height: float

    def moved(self, right: float, down: float) -> Layout:
        """All of it elsewhere."""
        return Layout(
            tuple(box.moved(right, down) for box in self.boxes),
            tuple(route.moved(right, down) for route in self.routes),
            self.width,
            self.height,
        )


def laid_out(level: Level, most: float) -> Layout:
    """Place the boxes of a level.

    Args:
        level: What is drawn, its boxes in topological order.
        most: The width of a row in pixels, where one box is not wider.
    """
    placed = [_sized(box, most) for box in level.boxes]
    rows = _rows(placed, level.edges, most)
    row_of = {number: row for row, members in enumerate(rows) for number in members}
    placed = _across(placed, rows, level.edges)
    long = [edge for edge in level.edges if row_of[edge.target] - row_of[edge.source] > 1]
    lanes = _lanes(long, placed, rows, row_of)
    placed = _down(placed, rows, level.edges, row_of)
    routes = [
        _beside(edge, placed, lanes[edge], rows, row_of)
        if edge in lanes
        else _straight(edge, placed, level.edges)
        for edge in level.edges
    ]
    return _trimmed(placed, routes)


def _sized(box: Box, most: float) -> Placed:
    if box.inside is None:
        return Placed(box, 0, 0, *size_of(box))
    inside = laid_out(box.inside, most - 2 * FRAME_PAD)
    width = max(inside.width + 2 * FRAME_PAD, size_of(box)[0])
    left = (width - inside.width) / 2
    return Placed(
        box,
        0,
        0,
        width,
        inside.height + FRAME_HEAD + FRAME_PAD,
        inside.moved(left, FRAME_HEAD),
    )


def _rows(placed: Sequence[Placed], edges: Sequence[Edge], most: float) -> list[list[int]]:
    """Numbers of boxes, row by row, each below all that it reads."""
    before: list[list[int]] = [[] for _ in placed]
    after: list[list[int]] = [[] for _ in placed]
    for edge in edges:
        before[edge.target].append(edge.source)
        after[edge.source].append(edge.target)
    least = [0] * len(placed)
    for number in range(len(placed)):
        least[number] = max((least[n] + 1 for n in before[number]), default=0)
    for number in reversed(range(len(placed))):  # what reads nothing stands near its reader
        if not before[number] and after[number]:
            least[number] = min(least[n] for n in after[number]) - 1
    rows: list[list[int]] = []
    widths: list[float] = []
    row_of: dict[int, int] = {}
    for number in sorted(range(len(placed)), key=lambda n: (least[n], n)):
        row = max([least[number], *(row_of[n] + 1 for n in before[number])])
        need = placed[number].width + BETWEEN
        while row < len(rows) and rows[row] and widths[row] + need > most + BETWEEN:
            row += 1
        while row >= len(rows):
            rows.append([])
            widths.append(0)
        rows[row].append(number)
        widths[row] += need
        row_of[number] = row
    return [row for row in rows if row]


def _across(
    placed: Sequence[Placed], rows: Sequence[Sequence[int]], edges: Sequence[Edge]
) -> list[Placed]:
    """Boxes at their place in the row: in the middle of what they read, and not on one another."""
    row_of = {number: row for row, members in enumerate(rows) for number in members}
    before: dict[int, list[int]] = {}
    after: dict[int, list[int]] = {}
    for edge in edges:
        if row_of[edge.target] - row_of[edge.source] == 1:  # the others run in lanes
            before.setdefault(edge.target, []).append(edge.source)
            after.setdefault(edge.source, []).append(edge.target)
    middle = [0.0] * len(placed)
    for _ in range(3):
        for known, order in ((before, rows), (after, list(reversed(rows)))):
            for row in order:
                _settle(row, known, placed, middle)
    for row in rows:
        _settle(row, before, placed, middle)
    return [each.moved(middle[n] - each.width / 2 - each.x, 0) for n, each in enumerate(placed)]


def _settle(
    row: Sequence[int],
    near: dict[int, list[int]],
    placed: Sequence[Placed],
    middle: list[float],
) -> None:
    """Set the middles of one row by those of the boxes that each is near to."""
    wanted = {}
    for number in row:
        middles = [middle[other] for other in near.get(number, ())] or [middle[number]]
        wanted[number] = sum(middles) / len(middles)
    _spread(sorted(row, key=lambda n: (wanted[n], n)), wanted, placed, middle)


def _spread(
    order: Sequence[int],
    wanted: dict[int, float],
    placed: Sequence[Placed],
    middle: list[float],
) -> None:
    """Set the middles of one row, as near as can be to what is wanted, in order."""
    right = float("-inf")
    for number in order:
        half = placed[number].width / 2
        middle[number] = max(wanted[number], right + BETWEEN + half)
        right = middle[number] + half
    shift = sum(middle[n] - wanted[n] for n in order) / len(order)
    for number in order:
        middle[number] -= shift


def _lanes(
    edges: Sequence[Edge],
    placed: Sequence[Placed],
    rows: Sequence[Sequence[int]],
    row_of: dict[int, int],
) -> dict[Edge, float]:
    """The x of each long edge: beside the rows that it passes, short ones nearest.

    Edges that would go around the left of most rows do; the others go around the right.
    """
    left = [min(placed[n].x for n in row) for row in rows]
    right = [max(placed[n].x + placed[n].width for n in row) for row in rows]
    lanes: dict[Edge, float] = {}
    shared: dict[tuple[str, int], float] = {}  # by source and by target: they may run together
    for edge in sorted(edges, key=lambda e: (row_of[e.target] - row_of[e.source], e.source)):
        passed = range(row_of[edge.source], row_of[edge.target] + 1)
        ends = placed[edge.source].middle, placed[edge.target].middle
        most, least = max(right[row] for row in passed), min(left[row] for row in passed)
        ways = [shared.get(("from", edge.source)), shared.get(("to", edge.target))]
        free = [way for way in ways if way is not None and (way >= most or way <= least)]
        if free:
            lanes[edge] = free[0]
        elif sum(ends) / 2 - least < most - sum(ends) / 2 - 1:
            lanes[edge] = least - LANE
            for row in passed:
                left[row] = min(left[row], lanes[edge])
        else:
            lanes[edge] = most + LANE
            for row in passed:
                right[row] = max(right[row], lanes[edge])
        shared[("from", edge.source)] = shared[("to", edge.target)] = lanes[edge]
    return lanes


def _down(
    placed: Sequence[Placed],
    rows: Sequence[Sequence[int]],
    edges: Sequence[Edge],
    row_of: dict[int, int],
) -> list[Placed]:
    """Boxes at their row, with more room between rows where a shape is written."""
    told = {row_of[edge.target] for edge in edges if edge.shape}
    found = list(placed)
    y = 0.0
    for number, row in enumerate(rows):
        if number:
            y += ROW_GAP + (8 if number in told else 0)
        height = max(placed[n].height for n in row)
        for n in row:
            found[n] = placed[n].moved(0, y + (height - placed[n].height) / 2 - placed[n].y)
        y += height
    return found


def _straight(edge: Edge, placed: Sequence[Placed], edges: Sequence[Edge]) -> Route:
    """Down to the next row, with a bend where the boxes do not stand below one another."""
    one, other = placed[edge.source], placed[edge.target]
    start, end = (one.middle, one.y + one.height), (other.middle, other.y)
    if abs(start[0] - end[0]) < 1:
        return Route((start, end), edge.shape)
    into = sorted(
        (e.source for e in edges if e.target == edge.target), key=lambda n: placed[n].middle
    )
    step = min(14.0, other.width / (len(into) + 1))
    end = (other.middle + step * (into.index(edge.source) - (len(into) - 1) / 2), other.y)
    bend = other.y - ROW_GAP / 2
    return Route((start, (start[0], bend), (end[0], bend), end), edge.shape)


def _beside(
    edge: Edge,
    placed: Sequence[Placed],
    lane: float,
    rows: Sequence[Sequence[int]],
    row_of: dict[int, int],
) -> Route:
    """Out of the side of a box, down the lane, and into the side of another.

    Where another box stands in between, the edge leaves below it, or comes in above.
    """
    one, other = placed[edge.source], placed[edge.target]
    left = lane < min(one.x, other.x)

    def is_free(number: int) -> bool:
        row = rows[row_of[number]]
        ends = [placed[n].x for n in row] if left else [placed[n].x + placed[n].width for n in row]
        mine = placed[number].x if left else placed[number].x + placed[number].width
        return mine == (min(ends) if left else max(ends))

    start = (one.x if left else one.x + one.width, one.y + one.height * 0.7)
    points: list[Point] = [start, (lane, start[1])]
    if not is_free(edge.source):
        below = max(placed[n].y + placed[n].height for n in rows[row_of[edge.source]]) + 7
        points = [(one.middle, one.y + one.height), (one.middle, below), (lane, below)]
    end = (other.x if left else other.x + other.width, other.y + other.height * 0.35)
    if is_free(edge.target):
        points += [(lane, end[1]), end]
    else:
        above = min(placed[n].y for n in rows[row_of[edge.target]]) - 7
        points += [(lane, above), (other.middle, above), (other.middle, other.y)]
    return Route(tuple(points), edge.shape)


def _trimmed(placed: Sequence[Placed], routes: Sequence[Route]) -> Layout:
    """All of it with the upper left corner at zero."""
    xs = [x for box in placed for x in (box.x, box.x + box.width)]
    ys = [y for box in placed for y in (box.y, box.y + box.height)]
    for route in routes:
        xs += [x for x, _ in route.points]
        ys += [y for _, y in route.points]
        if route.shape:
            written = shape_place(route)[0]
            xs += [written, written + CHAR_SHAPE * len(route.shape)]
    left, top = min(xs, default=0.0), min(ys, default=0.0)
    found = Layout(
        tuple(placed), tuple(routes), max(xs, default=0.0) - left, max(ys, default=0.0) - top
    )
    return found.moved(-left, -top)


def shape_place(route: Route) -> Point:
    """Where the shape of an edge is written: right of its end, or of its beginning if it bends."""
    (x, y), (end_x, end_y) = route.points[0], route.points[-1]
    if len(route.points) == 2:
        return end_x + 5, end_y - 8
    if route.points[1][0] == x:
        return x + 5, y + 12
    lane = route.points[1][0]
    return (lane + 4 if lane > x else lane - 4 - CHAR_SHAPE * len(route.shape)), y + 14
