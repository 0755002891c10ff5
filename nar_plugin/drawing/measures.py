"""Sizes of a picture in pixels. Text is measured by its characters: no font is at hand."""

from __future__ import annotations

from nar_plugin.drawing.figure import Box

WIDEST = 800  # of a picture, at which it is legible as it is
WIDE, CHAR_TITLE, CHAR_NOTE, CHAR_SHAPE = 232, 7.9, 5.7, 5.9
LINE_TITLE, LINE_NOTE = 16, 13
BOX_PAD, BAR = 6, 4  # around the text; of the bar of weights
NARROWEST = 84
CHAR_PATH, MOST_CHARS = 5.6, 32  # of a second line, which may be cut short
LETTER = 20  # of the kind, right of the title
JOIN = 20  # diameter of a join
STUB = 18  # height of what comes in or goes out
FRAME_PAD, FRAME_HEAD = 10, 30
BETWEEN = 18  # boxes of one row
ROW_GAP = 20
LANE = 11  # between two edges that run side by side


def size_of(box: Box) -> tuple[float, float]:
    """Width and height of a box; of a frame those of its heading."""
    if box.mark in ("in", "out"):
        return max(30.0, 14 + CHAR_NOTE * len(shortened(box.title, CHAR_NOTE))), STUB
    if box.mark:
        return JOIN, JOIN
    texts = [
        CHAR_TITLE * len(title_of(box)) + (LETTER if box.kind is not None else 0),
        CHAR_NOTE * min(len(box.note), MOST_CHARS),
        CHAR_PATH * min(len(box.place), MOST_CHARS),
    ]
    width = min(WIDE, max(NARROWEST, *texts) + 2 * BOX_PAD + 6)
    lines = LINE_TITLE + LINE_NOTE * (bool(box.note) + bool(box.place))
    return width, lines + 2 * BOX_PAD + BAR


def title_of(box: Box) -> str:
    """Its title with its count, such as `Bottleneck x3`."""
    count = f" \N{MULTIPLICATION SIGN}{box.count:,}" if box.count > 1 else ""
    room = int((WIDE - 2 * BOX_PAD - 6 - LETTER) / CHAR_TITLE) - len(count)
    title = (
        box.title if len(box.title) <= room else f"{box.title[: room - 1]}\N{HORIZONTAL ELLIPSIS}"
    )
    return title + count


def shortened(text: str, char: float, width: float = WIDE) -> str:
    """Text as it fits a box; the end of a path tells more than its beginning."""
    room = max(4, int((width - 2 * BOX_PAD - 4) / char))
    if len(text) <= room:
        return text
    if " " in text:
        return f"{text[: room - 1]}\N{HORIZONTAL ELLIPSIS}"
    return f"\N{HORIZONTAL ELLIPSIS}{text[-(room - 1) :]}"
