"""A figure as a page: the picture, and below it every box to unfold. No script runs in it."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from nar_plugin.drawing.elements import letter_of
from nar_plugin.drawing.figure import Box, Figure, Level
from nar_plugin.drawing.inside import Drawn, inside
from nar_plugin.drawing.measures import title_of
from nar_plugin.drawing.svg import figure_svg, level_svg
from nar_plugin.visible_text import clean, counted, params_text

MOST_UNFOLDED = 60  # pictures inside of boxes; a large design would make a page of megabytes
_STYLE = """
body { max-width: 860px; margin: 1em auto; padding: 0 1em; color: #1b1f24; background: #fff;
  font: 14px/1.5 system-ui, sans-serif; }
details { margin: 0.2em 0 0.2em 1em; } summary { cursor: pointer; }
summary code { font-size: 0.9em; opacity: 0.8; user-select: all; }
svg { height: auto; }
@media (prefers-color-scheme: dark) { body { color: #f0f3f6; background: #14181d; } }
"""


def figure_page(figure: Figure, drawn: Drawn) -> str:
    """A whole page of a design. Blocks of one kind are unfolded once."""
    shown: set[int] = set()
    room = [MOST_UNFOLDED]
    inner = "".join(_unfolded(figure.spine, drawn, shown, room))
    return page(figure.title, f"{figure_svg(figure)}<h2>Inside</h2>{inner}")


def page(title: str, body: str) -> str:
    """A page with its colours for light and dark."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(clean(title))}</title><style>{_STYLE}</style></head>"
        f"<body>{body}</body></html>\n"
    )


def _unfolded(
    level: Level, drawn: Drawn, shown: set[int], room: list[int], depth: int = 0
) -> Iterator[str]:
    """A line for each box, which opens where there is something in it and room for it."""
    for box in level.boxes:
        if box.mark:
            continue
        told = _summary(box)
        if box.inside is not None:
            within = "".join(_unfolded(box.inside, drawn, shown, room, depth))
            yield f"<details><summary>{told}</summary>{within}</details>"
        elif box.kind is not None and box.kind in shown and not depth:
            yield f"<details><summary>{told}</summary>The same kind as above.</details>"
        elif len(box.places) > 1 and room[0] > 0:
            room[0] -= 1
            if box.kind is not None and not box.variant:
                shown.add(box.kind)
            within = _opened(box, drawn, shown, room, depth)
            yield f"<details><summary>{told}</summary>{within}</details>"
        else:
            yield f"<details><summary>{told}</summary>{_operations(box, drawn)}</details>"


def _opened(box: Box, drawn: Drawn, shown: set[int], room: list[int], depth: int) -> str:
    level = inside(drawn, box.places, box.kind)
    smaller = [each for each in level.boxes if 1 < len(each.places) < len(box.places)]
    deep = Level(tuple(each for each in smaller if len(each.places) > _LEAST), ())
    return level_svg(level, box.title) + "".join(_unfolded(deep, drawn, shown, room, depth + 1))


_LEAST = 4  # operations of a box inside of a block that is opened in turn


def _summary(box: Box) -> str:
    path = f" <code>{escape(clean(box.path))}</code>" if box.path else ""
    facts = [counted(box.ops, "operation"), box.note]
    facts += [f"{params_text(box.weights)} weights"] if box.weights else []
    told = " \N{MIDDLE DOT} ".join(filter(None, facts))
    return f"<b>{escape(title_of(box))}</b> {letter_of(box)}{path} {escape(told)}"


def _operations(box: Box, drawn: Drawn) -> str:
    """The operations of a small box, with all of their attributes."""
    first = box.places[: 2 * _LEAST]
    lines = "".join(f"<li>{escape(clean(drawn.graph.ops[place]))}</li>" for place in first)
    more = len(box.places) - len(first)
    return f"<ul>{lines}</ul>" + (f"and {more:,} more" if more > 0 else "")
