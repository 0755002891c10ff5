"""What a notebook folds below a table: why the first hits are alike, and a thumbnail.

Nothing here runs, loads or builds a model: a hit is explained by graphs that are at hand. A picture
is an image, which notebooks that are not trusted show too.
"""

from __future__ import annotations

from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING

from nar_plugin.drawing import Picture
from nar_plugin.report.explanation import explain
from nar_plugin.report.explanation_html import explanation_body
from nar_plugin.report.wording import name_text
from nar_plugin.visible_text import clean

if TYPE_CHECKING:
    from nar_plugin.mining import MacroGraph
    from nar_plugin.report.similar import SimilarArchitectures

EXPLAINED = 3  # hits; each costs some hundredths of a second
LARGEST = 3_000  # operations of a design that is explained while a notebook waits


def explanations_html(similar: SimilarArchitectures) -> str:
    """A line for each of the first hits, its verdict, which opens to the explanation."""
    own = _design(similar)
    if own is None or len(own.graph) > LARGEST:
        return ""
    lines = []
    for hit in similar.hits[:EXPLAINED]:
        known = similar.designs(hit.fingerprint)
        if known is None or len(known.graph) > LARGEST:
            continue
        told = explain(own, known, hit.score, (name_text(similar.query), clean(hit.name)))
        summary = f"{hit.rank}: {clean(told.verdict.text)}"
        body = explanation_body(told)
        lines.append(f"<details><summary>{escape(summary)}</summary>{body}</details>")
    return "".join(lines)


def thumbnail_html(similar: SimilarArchitectures) -> str:
    """The model asked about, folded, where its graph is at hand."""
    macro = _design(similar)
    if macro is None:
        return ""
    svg = Picture(macro, name_text(similar.query)).thumbnail()
    return f"<details><summary>picture</summary>{image(svg, name_text(similar.query))}</details>"


def image(svg: str, name: str) -> str:
    """An SVG as an image, whose styles and links stay inside of it."""
    data = b64encode(svg.encode()).decode()
    return f'<img alt="{escape(clean(name))}" src="data:image/svg+xml;base64,{data}">'


def _design(similar: SimilarArchitectures) -> MacroGraph | None:
    return similar.macro or similar.designs(similar.query.fingerprint)
