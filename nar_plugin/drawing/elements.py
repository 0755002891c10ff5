"""What pictures are made of, as SVG: the document, boxes, frames, arrows and lines of text.

Names are untrusted: every one is cleaned and escaped. Nothing in a picture runs or loads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from itertools import pairwise
from math import sqrt
from urllib.parse import quote

from nar_plugin.drawing.figure import Box
from nar_plugin.drawing.layout import Placed
from nar_plugin.drawing.measures import (
    BAR,
    BOX_PAD,
    CHAR_NOTE,
    CHAR_PATH,
    LINE_NOTE,
    LINE_TITLE,
    shortened,
    title_of,
)
from nar_plugin.visible_text import clean, counted, params_text

COLOURS = 8  # of Okabe & Ito, Color Universal Design, 2008, in drawing.css
_FAINT, _STRONG = 0.12, 0.5  # of the tint of no work, of all of it
_ROUND = 5  # radius of a corner
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def document(parts: Iterable[str], width: float, height: float, title: str, shown: str = "") -> str:
    """An SVG with its own colours, for light, for dark and for paper."""
    size = shown or f'width="{px(width)}" height="{px(height)}"'
    arrow = (
        '<marker id="nar-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path class="arrow" d="M0 0.5L8 4L0 7.5z"/></marker>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="nar-drawing" role="img" {size} '
        f'viewBox="0 0 {px(width)} {px(height)}" style="max-width:100%">'
        f"<title>{_text(title)}</title><style>{_stylesheet()}</style><defs>{arrow}</defs>"
        f'<rect class="paper" width="{px(width)}" height="{px(height)}"/>'
        f"{''.join(parts)}</svg>"
    )


@cache
def _stylesheet() -> str:
    """The colours and fonts of every picture."""
    return files("nar_plugin.drawing").joinpath("drawing.css").read_text("utf-8").replace("\n", "")


def frame(placed: Placed) -> str:
    """The frame of blocks that are drawn one by one, with its heading."""
    box = placed.box
    title = written(placed.x + 8, placed.y + 14, title_of(box), "title")
    note = " \N{MIDDLE DOT} ".join(filter(None, (box.note, box.place)))
    rest = written(placed.x + 8, placed.y + 25, shortened(note, CHAR_NOTE, placed.width), "path")
    rect = _rect(placed, "frame", 8)
    return _linked(box, f"{rect}{title}{rest}")


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
        middle = f'x="{px(placed.middle)}" y="{px(placed.y + 12)}" text-anchor="middle"'
        return f'{_rect(placed, "stub", 9)}<text class="quiet" {middle}>{_text(text)}</text>'
    if box.mark:
        circle = (
            f'<circle class="join" cx="{px(placed.middle)}" cy="{px(placed.y + placed.height / 2)}"'
            f' r="{px(placed.width / 2)}"/><text class="title" text-anchor="middle" '
            f'x="{px(placed.middle)}" y="{px(placed.y + placed.height / 2 + 4)}">{box.mark}</text>'
        )
        return _linked(box, circle)
    parts = [_rect(placed, "box alone" if alone else "box", 5)]
    if box.kind is not None:
        strength = _FAINT + (_STRONG - _FAINT) * sqrt(min(1.0, box.work))
        tint = _rect(placed, "tint", 5, f' fill-opacity="{strength:.2f}"')
        parts.append(f'<g class="k{box.kind % COLOURS}">{tint}</g>')
    elif box.work > 0:
        strength = 0.4 * sqrt(min(1.0, box.work))
        parts.append(_rect(placed, "ink", 5, f' fill-opacity="{strength:.2f}"'))
    return _linked(box, "".join([*parts, *_texts(placed, heading), *_bar(placed, heavy)]))


def _texts(placed: Placed, heading: bool) -> Iterable[str]:
    box, x = placed.box, placed.x + BOX_PAD + 3
    y = placed.y + BOX_PAD + 10
    yield written(x, y, title_of(box), "title")
    if heading and box.kind is not None:
        at = f'x="{px(placed.x + placed.width - 6)}" y="{px(y)}" text-anchor="end"'
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
            f'<rect class="bar" x="{px(placed.x + BOX_PAD)}" y="{px(y)}" width="{px(wide)}" '
            'height="3" rx="1.5"/>'
        )


def _linked(box: Box, inside: str) -> str:
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
    told = [f"M{px(start[0])} {px(start[1])}"]
    before = start
    for corner, after in pairwise(rest):
        one, other = _towards(corner, before), _towards(corner, after)
        told.append(
            f"L{px(one[0])} {px(one[1])}Q{px(corner[0])} {px(corner[1])} "
            f"{px(other[0])} {px(other[1])}"
        )
        before = corner
    told.append(f"L{px(rest[-1][0])} {px(rest[-1][1])}")
    return f'<path class="edge" d="{"".join(told)}"/>'


def written(x: float, y: float, text: str, kind: str) -> str:
    """A line of text."""
    return f'<text class="{kind}" x="{px(x)}" y="{px(y)}">{_text(text)}</text>' if text else ""


def shade_text(estimated: bool) -> str:
    """What shade and bar of a box say, for a legend."""
    return f"shade: FLOPs{', estimated' * estimated}; bar: weights"


def kind_letter(number: int) -> str:
    """A letter for a kind of block, which tells it where colours do not."""
    return _LETTERS[number % len(_LETTERS)]


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
        f'<rect class="{kind}" x="{px(placed.x)}" y="{px(placed.y)}" width="{px(placed.width)}" '
        f'height="{px(placed.height)}" rx="{radius}"{more}/>'
    )


def px(number: float) -> str:
    """A number of pixels, to a tenth."""
    return f"{number:.1f}".removesuffix(".0")


def _text(text: str, *, keep: bool = False) -> str:
    return escape(text if keep else clean(text))
