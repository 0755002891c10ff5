"""A figure as SVG: the folded design on the left, its kinds of block from the inside beside it.

Names are untrusted: every one is cleaned and escaped. Nothing in the picture runs or loads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from itertools import pairwise
from math import sqrt
from urllib.parse import quote

from nar_plugin.drawing.figure import Box, Figure, Kind, Level
from nar_plugin.drawing.layout import Layout, Placed, laid_out, shape_place
from nar_plugin.drawing.measures import (
    BAR,
    BOX_PAD,
    CHAR_NOTE,
    CHAR_PATH,
    FRAME_PAD,
    LINE_NOTE,
    LINE_TITLE,
    WIDEST,
    shortened,
    title_of,
)
from nar_plugin.visible_text import clean, counted, params_text

COLOURS = 8  # of Okabe & Ito, Color Universal Design, 2008, in drawing.css
_EDGE, _GAP, _HEAD, _PANEL_HEAD = 14, 16, 52, 40
_FAINT, _STRONG = 0.12, 0.5  # of the tint of no work, of all of it
_ROUND = 5  # radius of a corner
Area = tuple[float, float, float, float]  # left, top, right, bottom
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def figure_svg(figure: Figure) -> str:
    """The whole picture."""
    spine = laid_out(figure.spine, WIDEST * 0.55).moved(_EDGE, _HEAD)
    heavy = heaviest(figure.spine)
    parts = list(_layout(spine, heavy, heading=True))
    area = _EDGE, _HEAD, _EDGE + spine.width, _HEAD + spine.height
    panels, right, bottom = _panels(figure.kinds, area)
    parts += panels
    width = max(right + _EDGE, 8.5 * len(figure.title) + 2 * _EDGE, 420)
    parts += _header(figure.title, figure.facts, width)
    estimated = any(box.estimated for box in figure.spine.boxes)
    parts += _legend(bottom + 26, bool(figure.kinds), heavy > 0, estimated)
    return document(parts, width, bottom + 50, figure.title)


def level_svg(level: Level, title: str) -> str:
    """One block from the inside."""
    layout = laid_out(level, WIDEST).moved(_EDGE, _EDGE)
    parts = list(_layout(layout, heaviest(level)))
    return document(parts, layout.width + 2 * _EDGE, layout.height + 2 * _EDGE, title)


def thumbnail_svg(figure: Figure, height: int = 220) -> str:
    """The folded design alone, so high."""
    spine = laid_out(figure.spine, WIDEST * 0.55).moved(_EDGE, _EDGE)
    heavy = heaviest(figure.spine)
    parts = list(_layout(spine, heavy, heading=True))
    width, tall = spine.width + 2 * _EDGE, spine.height + 2 * _EDGE
    return document(parts, width, tall, figure.title, shown=f'height="{height}"')


def document(parts: Iterable[str], width: float, height: float, title: str, shown: str = "") -> str:
    """An SVG with its own colours, for light, for dark and for paper."""
    size = shown or f'width="{_n(width)}" height="{_n(height)}"'
    arrow = (
        '<marker id="nar-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path class="arrow" d="M0 0.5L8 4L0 7.5z"/></marker>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="nar-drawing" role="img" {size} '
        f'viewBox="0 0 {_n(width)} {_n(height)}" style="max-width:100%">'
        f"<title>{_text(title)}</title><style>{stylesheet()}</style><defs>{arrow}</defs>"
        f'<rect class="paper" width="{_n(width)}" height="{_n(height)}"/>'
        f"{''.join(parts)}</svg>"
    )


@cache
def stylesheet() -> str:
    """The colours and fonts of every picture."""
    return files("nar_plugin.drawing").joinpath("drawing.css").read_text("utf-8").replace("\n", "")


def _header(title: str, facts: str, width: float) -> list[str]:
    return [
        written(_EDGE, 24, title, "head"),
        written(_EDGE, 40, shortened(facts, CHAR_NOTE, width - _EDGE), "quiet"),
    ]


def _panels(kinds: Sequence[Kind], spine: Area) -> tuple[list[str], float, float]:
    """The kinds beside the spine and below it: each as high, then as far left as there is room.

    Returns:
        What is drawn, and how far it reaches to the right and down.
    """
    taken = [spine]
    parts: list[str] = []
    for number, kind in enumerate(kinds):
        layout = laid_out(kind.level, 400)
        heading = f"{kind_letter(number)}  {kind.title}"
        wide = max(layout.width, 7.6 * len(heading), 150) + 2 * FRAME_PAD
        high = layout.height + _PANEL_HEAD + FRAME_PAD
        x, y = _free_place(wide, high, taken)
        taken.append((x, y, x + wide, y + high))
        parts += _panel(kind, number, layout, x, y, wide, high)
    return parts, max(area[2] for area in taken), max(area[3] for area in taken)


def _free_place(wide: float, high: float, taken: Sequence[Area]) -> tuple[float, float]:
    """The highest place, and of these the leftmost, that touches nothing."""
    lefts = [float(_EDGE), *(area[2] + _GAP for area in taken)]
    tops = [float(_HEAD), *(area[3] + _GAP for area in taken)]
    return min(
        (
            (x, y)
            for y in tops
            for x in lefts
            if (x + wide <= WIDEST - _EDGE or x == _EDGE)
            and not any(
                x < area[2] + _GAP - 1
                and area[0] < x + wide + _GAP - 1
                and y < area[3] + _GAP - 1
                and area[1] < y + high + _GAP - 1
                for area in taken
            )
        ),
        key=lambda place: (place[1], place[0]),
    )


def _panel(
    kind: Kind, number: int, layout: Layout, x: float, y: float, across: float, down: float
) -> list[str]:
    heavy = heaviest(kind.level)
    shown = layout.moved(x + (across - layout.width) / 2, y + _PANEL_HEAD)
    count = (
        f"{counted(kind.count, 'block')}, shown: {kind.path}"
        if kind.path
        else counted(kind.count, "block")
    )
    return [
        f'<g class="k{number % COLOURS}"><rect class="panel" x="{_n(x)}" y="{_n(y)}" '
        f'width="{_n(across)}" height="{_n(down)}" rx="6"/>'
        f'<rect class="tint" x="{_n(x)}" y="{_n(y)}" width="{_n(across)}" height="4" rx="2"/></g>',
        written(x + FRAME_PAD, y + 19, f"{kind_letter(number)}  {kind.title}", "title"),
        written(x + FRAME_PAD, y + 31, shortened(clean(count), CHAR_NOTE, across), "quiet"),
        *_layout(shown, heavy),
    ]


def heaviest(level: Level) -> int:
    """The weights of the heaviest box."""
    return max((box.weights for box in level.all_boxes() if box.inside is None), default=0)


def _legend(y: float, kinds: bool, weighed: bool, estimated: bool) -> list[str]:
    told = ["letter, colour: kind of block; \N{PRIME}: a variant"] if kinds else []
    told += [f"shade: FLOPs{', estimated' * estimated}; bar: weights"] if weighed else []
    return [
        written(_EDGE, y, " \N{MIDDLE DOT} ".join(told), "quiet"),
        written(_EDGE, y + 13, "at an arrow: channels and resolution where they change", "quiet"),
    ]


def _layout(layout: Layout, heavy: int, *, heading: bool = False) -> Iterable[str]:
    """Edges first, so that boxes stand on them; then the shapes."""
    for box in layout.boxes:
        if box.inside is not None:
            yield frame(box)
    for route in layout.routes:
        yield edge_path(route.points)
    for box in layout.boxes:
        if box.inside is not None:
            yield from _layout(box.inside, heavy, heading=heading)
        else:
            yield drawn_box(box, heavy, heading=heading)
    for route in layout.routes:
        if route.shape:
            x, y = shape_place(route)
            yield written(x, y, route.shape, "quiet halo")


def frame(placed: Placed) -> str:
    """The frame of blocks that are drawn one by one, with its heading."""
    box = placed.box
    title = written(placed.x + 8, placed.y + 14, title_of(box), "title")
    note = " \N{MIDDLE DOT} ".join(filter(None, (box.note, box.place)))
    rest = written(placed.x + 8, placed.y + 25, shortened(note, CHAR_NOTE, placed.width), "path")
    rect = _rect(placed, "frame", 8)
    return linked(box, f"{rect}{title}{rest}")


def drawn_box(placed: Placed, heavy: int, *, heading: bool = False, alone: bool = False) -> str:
    """A box with its texts, its shade and its bar.

    Args:
        placed: The box.
        heavy: The weights that fill the bar.
        heading: Whether its path is written.
        alone: Whether it has no partner, of two designs side by side.
    """
    box = placed.box
    if box.mark in ("in", "out"):
        text = shortened(box.title, CHAR_NOTE)
        middle = f'x="{_n(placed.middle)}" y="{_n(placed.y + 12)}" text-anchor="middle"'
        return f'{_rect(placed, "stub", 9)}<text class="quiet" {middle}>{_text(text)}</text>'
    if box.mark:
        circle = (
            f'<circle class="join" cx="{_n(placed.middle)}" cy="{_n(placed.y + placed.height / 2)}"'
            f' r="{_n(placed.width / 2)}"/><text class="title" text-anchor="middle" '
            f'x="{_n(placed.middle)}" y="{_n(placed.y + placed.height / 2 + 4)}">{box.mark}</text>'
        )
        return linked(box, circle)
    parts = [_rect(placed, "box alone" if alone else "box", 5)]
    if box.kind is not None:
        strength = _FAINT + (_STRONG - _FAINT) * sqrt(min(1.0, box.work))
        tint = _rect(placed, "tint", 5, f' fill-opacity="{strength:.2f}"')
        parts.append(f'<g class="k{box.kind % COLOURS}">{tint}</g>')
    elif box.work > 0:
        strength = 0.4 * sqrt(min(1.0, box.work))
        parts.append(_rect(placed, "ink", 5, f' fill-opacity="{strength:.2f}"'))
    return linked(box, "".join([*parts, *_texts(placed, heading), *_bar(placed, heavy)]))


def _texts(placed: Placed, heading: bool) -> Iterable[str]:
    box, x = placed.box, placed.x + BOX_PAD + 3
    y = placed.y + BOX_PAD + 10
    yield written(x, y, title_of(box), "title")
    if heading and box.kind is not None:
        at = f'x="{_n(placed.x + placed.width - 6)}" y="{_n(y)}" text-anchor="end"'
        yield f'<text class="title" {at}>{letter_of(box)}</text>'
    y += LINE_TITLE - 3
    if box.note:
        yield written(x, y, shortened(box.note, CHAR_NOTE, placed.width), "quiet")
        y += LINE_NOTE - 1
    if box.place:
        yield written(x, y, shortened(box.place, CHAR_PATH, placed.width), "path")


def _bar(placed: Placed, heavy: int) -> Iterable[str]:
    if placed.box.weights and heavy:
        full = placed.width - 2 * BOX_PAD
        wide = max(1.5, full * min(1.0, placed.box.weights / heavy))
        y = placed.y + placed.height - BAR - 2
        yield (
            f'<rect class="bar" x="{_n(placed.x + BOX_PAD)}" y="{_n(y)}" width="{_n(wide)}" '
            'height="3" rx="1.5"/>'
        )


def linked(box: Box, inside: str) -> str:
    """What is drawn, as a link whose address is the module path, with the facts as its title."""
    facts = [
        title_of(box),
        box.note,
        clean(box.path) if box.path == box.place else f"{clean(box.path)} ({box.place})".strip(),
        counted(box.ops, "operation") if box.ops else "",
        f"{params_text(box.weights)} weights" if box.weights else "",
        f"{box.work:.0%} of the FLOPs{', estimated' * box.estimated}" if box.work >= 0.005 else "",
    ]
    title = f"<title>{_text(chr(10).join(filter(None, facts)), keep=True)}</title>"
    if not box.path:
        return f"<g>{title}{inside}</g>"
    return f'<a href="#{quote(clean(box.path))}">{title}{inside}</a>'


def edge_path(points: Sequence[tuple[float, float]]) -> str:
    """A line with rounded corners and an arrow."""
    start, *rest = points
    told = [f"M{_n(start[0])} {_n(start[1])}"]
    before = start
    for corner, after in pairwise(rest):
        one, other = _towards(corner, before), _towards(corner, after)
        told.append(
            f"L{_n(one[0])} {_n(one[1])}Q{_n(corner[0])} {_n(corner[1])} "
            f"{_n(other[0])} {_n(other[1])}"
        )
        before = corner
    told.append(f"L{_n(rest[-1][0])} {_n(rest[-1][1])}")
    return f'<path class="edge" d="{"".join(told)}"/>'


def written(x: float, y: float, text: str, kind: str) -> str:
    """A line of text."""
    return f'<text class="{kind}" x="{_n(x)}" y="{_n(y)}">{_text(text)}</text>' if text else ""


def kind_letter(number: int) -> str:
    """A letter for a kind of block, which tells it where colours do not."""
    return LETTERS[number % len(LETTERS)]


def letter_of(box: Box) -> str:
    """The letter of its kind, primed of a variant; empty of what is no block."""
    prime = "\N{PRIME}" if box.variant else ""
    return "" if box.kind is None else kind_letter(box.kind) + prime


def _towards(corner: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """A point a little way from a corner, at most half way."""
    dx, dy = other[0] - corner[0], other[1] - corner[1]
    length = abs(dx) + abs(dy) or 1.0
    step = min(_ROUND, length / 2)
    return corner[0] + dx / length * step, corner[1] + dy / length * step


def _rect(placed: Placed, kind: str, radius: int, more: str = "") -> str:
    return (
        f'<rect class="{kind}" x="{_n(placed.x)}" y="{_n(placed.y)}" width="{_n(placed.width)}" '
        f'height="{_n(placed.height)}" rx="{radius}"{more}/>'
    )


def _n(number: float) -> str:
    """A number of pixels, to a tenth."""
    return f"{number:.1f}".removesuffix(".0")


def _text(text: str, *, keep: bool = False) -> str:
    return escape(text if keep else clean(text))
