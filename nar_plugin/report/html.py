"""The notebook table. Names and urls are untrusted: every one is escaped, few become links."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from nar_plugin.report.similar_blocks import occurrence_text
from nar_plugin.report.wording import (
    index_text,
    inputs_text,
    is_web,
    motif_legend,
    motif_text,
    other_names,
    query_text,
)
from nar_plugin.visible_text import clean, counted, flops_text, params_text

if TYPE_CHECKING:
    from nar_plugin.report.hit import Hit
    from nar_plugin.report.similar import SimilarArchitectures
    from nar_plugin.report.similar_blocks import SimilarBlocks

SHOWN_MOTIFS = 3
SHOWN_DESIGNS = 50  # that have a block
SHOWN_HITS = 10  # rows; the others fold

_NUMBERS = frozenset(("#", "score", "params", "FLOPs", "designs"))
_HEADINGS = (
    "#",
    "name",
    "score",
    "family",
    "task",
    "params",
    "FLOPs",
    "code license",
    "shared motifs",
)


def similar_html(similar: SimilarArchitectures) -> str:
    """The query, a row for each hit, why they are alike, and the index that answered."""
    from nar_plugin.report.fold_outs import explanations_html, thumbnail_html

    notes = "".join(f"<div>{escape(note)}</div>" for note in similar.notes)
    return (
        f'<div class="nar-report"><style>{stylesheet()}</style>'
        f"<div>similar to <b>{escape(query_text(similar.query))}</b></div>"
        f'<div class="nar-quiet">{escape(inputs_text(similar.query))}</div>'
        f"{notes}"
        f"{_table(similar[:SHOWN_HITS])}"
        f'<div class="nar-quiet">{escape(motif_legend(similar))}</div>'
        f"{_more(similar[SHOWN_HITS:])}{explanations_html(similar)}{thumbnail_html(similar)}"
        f'<div class="nar-quiet">{escape(index_text(similar.index))}</div></div>'
    )


def hit_html(hit: Hit) -> str:
    """The row of one hit, with its headings."""
    return f'<div class="nar-report"><style>{stylesheet()}</style>{_table((hit,))}</div>'


def _table(hits: Sequence[Hit]) -> str:
    headings = "".join(_cell("th", heading, escape(heading)) for heading in _HEADINGS)
    rows = "".join(_row(hit) for hit in hits)
    return f"<table><thead><tr>{headings}</tr></thead><tbody>{rows}</tbody></table>"


def blocks_html(found: SimilarBlocks) -> str:
    """The block asked about, a row for each known one, and the designs that have it, folded."""
    notes = "".join(f"<div>{escape(note)}</div>" for note in found.notes)
    names = ("#", "score", "block", "designs", "in")
    headings = "".join(_cell("th", heading, heading) for heading in names)
    rows = ""
    for rank, hit in enumerate(found.hits, start=1):
        texts = [_text(occurrence_text(each)) for each in hit.occurrences[:SHOWN_DESIGNS]]
        first = texts[0] if texts else ""
        if (more := len(hit.occurrences) - 1) > 0:
            others = "<br>".join(texts[1:])
            first += f"<details><summary>{more:,} more</summary>{others}</details>"
        label = f'{_text(hit.label)} <span class="nar-quiet">{counted(hit.ops, "op")}</span>'
        cells = (str(rank), _score(hit.score), label, f"{hit.designs:,}", first)
        inside = zip(names, cells, strict=True)
        rows += f"<tr>{''.join(_cell('td', heading, cell) for heading, cell in inside)}</tr>"
    return (
        f'<div class="nar-report"><style>{stylesheet()}</style>'
        f"<div><b>blocks like {escape(str(found.query))}</b></div>{notes}"
        f"<table><thead><tr>{headings}</tr></thead><tbody>{rows}</tbody></table>"
        f'<div class="nar-quiet">{escape(index_text(found.index))}</div></div>'
    )


def _more(hits: Sequence[Hit]) -> str:
    """The hits beyond the first screen, folded."""
    if not hits:
        return ""
    return f"<details><summary>{len(hits):,} more</summary>{_table(hits)}</details>"


def _score(score: float) -> str:
    """A number, and below it a bar of that length."""
    full = max(0.0, min(1.0, score))
    bar = f'<div class="nar-score" style="width:{full:.0%}"></div>'
    return f"{score:.3f}{bar}"


def _row(hit: Hit) -> str:
    cells = (
        str(hit.rank),
        _name(hit),
        _score(hit.score),
        _text(hit.family),
        _text(hit.task),
        params_text(hit.params),
        flops_text(hit.flops),
        _text(hit.code_license),
        escape(", ".join(motif_text(motif) for motif in hit.shared_motifs[:SHOWN_MOTIFS])),
    )
    inside = zip(_HEADINGS, cells, strict=True)
    return f"<tr>{''.join(_cell('td', heading, cell) for heading, cell in inside)}</tr>"


def _cell(tag: str, heading: str, inside: str) -> str:
    kind = "name" if heading == "name" else "number" if heading in _NUMBERS else "text"
    return f'<{tag} class="nar-{kind}">{inside}</{tag}>'


def _name(hit: Hit) -> str:
    name = _text(hit.name)
    if is_web(hit.url):
        name = f'<a href="{_text(hit.url)}" target="_blank" rel="noopener noreferrer">{name}</a>'
    if others := other_names(hit):
        title = escape("\n".join(clean(other) for other in hit.names))
        name += f' <span class="nar-quiet" title="{title}">{others}</span>'
    return f'{name} <span class="nar-same">identical</span>' if hit.exact else name


def _text(value: str | None) -> str:
    return escape(clean(value or ""))


@cache
def stylesheet() -> str:
    """The look of every table in a notebook."""
    return files("nar_plugin.report").joinpath("table.css").read_text("utf-8")
