"""A small table for a notebook. Every text is untrusted and escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_LEFT = ' style="text-align: left; vertical-align: top"'  # notebooks align to the right


def html_table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A title, a row of headings, and rows of texts, all aligned to the left.

    Args:
        title: Stands above the table.
        headings: Of the columns; empty for a table of facts without headings.
        rows: As many texts each as there are columns; a line break is kept.
    """
    head = f"<thead>{_row('th', headings)}</thead>" if headings else ""
    body = "".join(_row("td", row) for row in rows)
    return f"<div><b>{escape(title)}</b></div><table>{head}<tbody>{body}</tbody></table>"


def _row(tag: str, texts: Sequence[str]) -> str:
    cells = (escape(text).replace("\n", "<br>") for text in texts)
    return f"<tr>{''.join(f'<{tag}{_LEFT}>{cell}</{tag}>' for cell in cells)}</tr>"
