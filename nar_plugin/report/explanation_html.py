"""The notebook form of an explanation. Names are untrusted: every one is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from nar_plugin.report.explanation_table import (
    NOTHING,
    alone_texts,
    common_text,
    differences_text,
    number_headings,
    number_texts,
)
from nar_plugin.report.html import stylesheet
from nar_plugin.report.wording import name_text
from nar_plugin.visible_text import clean

if TYPE_CHECKING:
    from nar_plugin.report.compare import Comparison
    from nar_plugin.report.explanation import ExplainedRow, Explanation


def explanation_html(explanation: Explanation) -> str:
    """Verdict, the parts side by side, what differs, and what this does not say."""
    return (
        f'<div class="nar-report"><style>{stylesheet()}</style>'
        f"<div><b>likeness {explanation.likeness:.3f}: {_text(explanation.verdict.text)}</b></div>"
        f"{explanation_body(explanation)}</div>"
    )


def explanation_body(explanation: Explanation) -> str:
    """All of it but the verdict, to stand in a report."""
    headings = explanation.a, explanation.b, *number_headings(explanation)
    head = "".join(f"<th>{_text(heading)}</th>" for heading in headings)
    rows = "".join(_row(row, explanation) for row in explanation.rows)
    alone = zip(("first", "second"), alone_texts(explanation), strict=True)
    return (
        f"<div>{_text(common_text(explanation))}</div>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        f"{_list('From the first to the second', differences_text(explanation))}"
        f"{''.join(_list(f'Only in the {side}', told) for side, told in alone)}"
        f'<div class="nar-quiet">{_text(explanation.limits)}</div>'
    )


def comparison_html(comparison: Comparison, *, picture: bool = True) -> str:
    """The explanation of two models; their tables as text where there is none.

    Args:
        comparison: Of the two.
        picture: Whether their picture unfolds below it.
    """
    if comparison.explanation:
        below = _picture(comparison) if picture else ""
        return explanation_html(comparison.explanation) + below
    return f"<pre>{escape(repr(comparison))}</pre>"


def _picture(comparison: Comparison) -> str:
    from nar_plugin.report.fold_outs import image

    if comparison.macros is None:
        return ""
    names = f"{name_text(comparison.a)} and {name_text(comparison.b)}"
    return f"<details><summary>picture</summary>{image(comparison.draw().svg(), names)}</details>"


def _row(row: ExplainedRow, explanation: Explanation) -> str:
    names = (_text(part.name if part else NOTHING) for part in (row.a, row.b))
    cells = (
        *(("name", name) for name in names),
        *(("number", text) for text in number_texts(row, explanation)),
    )
    inside = "".join(f'<td class="nar-{kind}">{text}</td>' for kind, text in cells)
    return f"<tr>{inside}</tr>"


def _list(heading: str, told: Iterable[str]) -> str:
    items = "".join(f"<li>{_text(text)}</li>" for text in told)
    return f"<div>{heading}:</div><ul>{items}</ul>" if items else ""


def _text(text: str) -> str:
    return escape(clean(text))
