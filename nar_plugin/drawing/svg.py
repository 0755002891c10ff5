"""A figure as SVG: the folded design on the left, its kinds of block from the inside beside it.

Where things stand; `elements.py` draws each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nar_plugin.drawing.elements import (
    COLOURS,
    document,
    drawn_box,
    edge_path,
    frame,
    kind_letter,
    px,
    shade_text,
    written,
)
from nar_plugin.drawing.figure import Figure, Kind, Level
from nar_plugin.drawing.layout import Layout, laid_out, shape_place
from nar_plugin.drawing.measures import CHAR_NOTE, FRAME_PAD, WIDEST, shortened
from nar_plugin.visible_text import clean, counted

_EDGE, _GAP, _HEAD, _PANEL_HEAD = 14, 16, 52, 40
Area = tuple[float, float, float, float]  # left, top, right, bottom


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
        f'<g class="k{number % COLOURS}"><rect class="panel" x="{px(x)}" y="{px(y)}" '
        f'width="{px(across)}" height="{px(down)}" rx="6"/>'
        f'<rect class="tint" x="{px(x)}" y="{px(y)}" width="{px(across)}" height="4" rx="2"/></g>',
        written(x + FRAME_PAD, y + 19, f"{kind_letter(number)}  {kind.title}", "title"),
        written(x + FRAME_PAD, y + 31, shortened(clean(count), CHAR_NOTE, across), "quiet"),
        *_layout(shown, heavy),
    ]


def heaviest(level: Level) -> int:
    """The weights of the heaviest box."""
    return max((box.weights for box in level.all_boxes() if box.inside is None), default=0)


def _legend(y: float, kinds: bool, weighed: bool, estimated: bool) -> list[str]:
    told = ["letter, colour: kind of block; \N{PRIME}: a variant"] if kinds else []
    told += [shade_text(estimated)] if weighed else []
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
