"""Two designs side by side: what corresponds stands in one row and has one colour.

The rows are those of the alignment that `compare` explains.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from textwrap import wrap

from nar_plugin.drawing.elements import (
    COLOURS,
    document,
    drawn_box,
    edge_path,
    shade_text,
    written,
)
from nar_plugin.drawing.figure import Box
from nar_plugin.drawing.inside import Drawn
from nar_plugin.drawing.layout import Placed
from nar_plugin.drawing.measures import shortened
from nar_plugin.encoder.sizes import weights
from nar_plugin.likeness.alignment import Alignment, Lone, Pair, Part, align
from nar_plugin.likeness.differences import INSERTED, Difference
from nar_plugin.likeness.verdict import verdict_of
from nar_plugin.mining import MacroGraph
from nar_plugin.visible_text import clean, counted

SAME = 0.995  # likeness from which on a row without differences is marked as equal
_WIDE, _MIDDLE, _EDGE, _HEAD, _GAP = 232.0, 236.0, 40.0, 74.0, 22.0
_TOLD = 6  # lines about a row
_LINE = 13
_LANE, _LANES = 7.0, 4
_LETTERS = 40  # of a line between the two
MOST_ROWS = 60


def pair_svg(a: MacroGraph, b: MacroGraph, titles: tuple[str, str]) -> str:
    """The picture of two designs."""
    alignment = align(a, b)
    rows = alignment.rows[:MOST_ROWS]
    sides = Drawn(a.graph), Drawn(b.graph)
    lefts = _EDGE, _EDGE + _WIDE + _MIDDLE
    parts = [
        written(_EDGE, 24, shortened(clean(titles[0]), 9, _WIDE + 60), "head"),
        written(lefts[1], 24, shortened(clean(titles[1]), 9, _WIDE + 60), "head"),
        *_verdict(alignment),
    ]
    placed: tuple[list[tuple[Part, Placed]], list[tuple[Part, Placed]]] = ([], [])
    texts: list[str] = []
    alone: list[Placed] = []
    y = _HEAD
    for number, row in enumerate(rows):
        found = _members(row)
        boxes = [
            None if part is None else _sized(sides[n], part, lefts[n], y, number % COLOURS)
            for n, part in enumerate(found)
        ]
        told = _told(row, rows[number - 1] if number else None)
        height = max([box.height for box in boxes if box] + [_LINE * len(told) + 4])
        texts += _between(told, y, height, row)
        for n, (part, box) in enumerate(zip(found, boxes, strict=True)):
            if part is not None and box is not None:
                placed[n].append((part, box.moved(0, (height - box.height) / 2)))
                alone += [placed[n][-1][1]] if isinstance(row, Lone) else []
        y += height + _GAP
    heavy = max((box.box.weights for side in placed for _, box in side), default=0)
    for n, side in enumerate(placed):
        parts += _edges(sides[n], side, left=n == 0)
        parts += [drawn_box(box, heavy, alone=box in alone) for _, box in side]
    parts += texts
    more = len(alignment.rows) - len(rows)
    if more > 0:
        parts.append(written(_EDGE, y, f"and {counted(more, 'row')} more", "quiet"))
        y += _LINE
    legend = "one row, one colour: what corresponds \N{MIDDLE DOT} =: the same \N{MIDDLE DOT} "
    legend += "\N{NOT EQUAL TO}: differs \N{MIDDLE DOT} dashed: without a partner"
    shade = shade_text(any(side.estimated for side in sides))
    parts.append(written(_EDGE, y + 8, f"{legend} \N{MIDDLE DOT} {shade}", "quiet"))
    title = f"{clean(titles[0])} and {clean(titles[1])}"
    return document(parts, lefts[1] + _WIDE + _EDGE, y + 22, title)


def _verdict(alignment: Alignment) -> Iterable[str]:
    """The verdict of `compare`, in at most two lines."""
    words, lines = clean(verdict_of(alignment).text).split(), [""]
    for word in words:
        if len(lines[-1]) + len(word) > 128:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    if len(lines) > 2:
        lines[1] += " \N{HORIZONTAL ELLIPSIS}"
    for number, line in enumerate(lines[:2]):
        yield written(_EDGE, 42 + _LINE * number, line, "quiet")


def _members(row: Pair | Lone) -> tuple[Part | None, Part | None]:
    if isinstance(row, Lone):
        return (None, row.part) if row.second else (row.part, None)
    return row.a, row.b


def _sized(drawn: Drawn, part: Part, x: float, y: float, kind: int) -> Placed:
    places = sorted(place for block in part.blocks for place in block.places.tolist())
    first, last = part.blocks[0], part.blocks[-1]
    kinds = list(dict.fromkeys(drawn.graph.ops[place].kind for place in first.places.tolist()))
    label = first.label if part.stacked else ", ".join(kinds[:3])
    note = "" if part.stacked else ", ".join(kinds[3:7])
    box = Box(
        clean(label),
        clean(note),
        first.path,
        _range(first.path, last.last),
        len(part) if part.stacked else 1,
        len(places),
        sum(weights(drawn.graph.ops[place]) for place in places),
        sum(drawn.work[place] for place in places),
        drawn.estimated,
        kind,
    )
    height = 46.0 if note else 34.0
    return Placed(box, x, y, _WIDE, height + 8)


def _range(first: str, last: str) -> str:
    """The first path, and of the last what differs."""
    if first == last:
        return clean(first)
    pairs = zip(first.split("."), last.split("."), strict=False)
    same = len(list(takewhile(lambda names: names[0] == names[1], pairs)))
    return clean(f"{first} \N{HORIZONTAL ELLIPSIS} {'.'.join(last.split('.')[same:])}")


def _told(row: Pair | Lone, before: Pair | Lone | None) -> list[str]:
    """How alike the two parts of a row are, and what differs, in lines that fit."""
    if isinstance(row, Lone):
        return [f"only in the {'second' if row.second else 'first'}"]
    changes = _differences(row)
    if not changes:
        sign = "=" if row.likeness >= SAME else "\N{ALMOST EQUAL TO}"
        return [f"{sign} {row.likeness:.2f}"]
    lines = [line for text in changes for line in wrap(text, _LETTERS, subsequent_indent="  ")]
    if isinstance(before, Pair) and len(lines) > 1 and _differences(before) == changes:
        lines = ["as above"]
    if len(lines) > _TOLD:
        lines = [*lines[: _TOLD - 1], "\N{HORIZONTAL ELLIPSIS}"]
    return [f"\N{NOT EQUAL TO} {row.likeness:.2f}", *lines]


def _differences(row: Pair) -> list[str]:
    counts = [f"{len(row.b)} instead of {len(row.a)} blocks"] if len(row.a) != len(row.b) else []
    return counts + [_change(each, count, row.matched) for each, count in row.changes]


def _change(change: Difference, count: int, of: int) -> str:
    text = f"with {change}" if change.sort == INSERTED else str(change)
    return clean(text) + (f" ({count} of {of})" if count < of else "")


def _between(told: Sequence[str], y: float, height: float, row: Pair | Lone) -> Iterable[str]:
    middle = _EDGE + _WIDE + _MIDDLE / 2
    top = y + height / 2 - _LINE * (len(told) - 1) / 2 + 4
    for number, text in enumerate(told):
        kind = "title" if number == 0 and isinstance(row, Pair) else "quiet"
        yield written(middle, top + _LINE * number, text, f"{kind} middle")


def _edges(drawn: Drawn, side: Sequence[tuple[Part, Placed]], *, left: bool) -> Iterable[str]:
    """Arrows from part to part: straight to the next, in a lane on the outer side to others."""
    owner = {
        place: n
        for n, (part, _) in enumerate(side)
        for block in part.blocks
        for place in block.places.tolist()
    }
    pairs = set()
    for source, target in drawn.graph.edges.tolist():
        one, other = owner.get(source), owner.get(target)
        if one is not None and other is not None and one < other:
            pairs.add((one, other))
    lanes: list[int] = []  # the row at which each is free again
    for one, other in sorted(pairs):
        start, end = side[one][1], side[other][1]
        if other == one + 1:
            yield edge_path(((start.middle, start.y + start.height), (end.middle, end.y)))
            continue
        free = next((n for n, until in enumerate(lanes) if until <= one), len(lanes))
        lanes[free : free + 1] = [other]
        out = _LANE * (min(free, _LANES - 1) + 1)
        x = start.x - out if left else start.x + start.width + out
        border = start.x if left else start.x + start.width
        low, high = start.y + start.height * 0.7, end.y + end.height * 0.3
        yield edge_path(((border, low), (x, low), (x, high), (border, high)))
