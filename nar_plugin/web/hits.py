"""Hits as HTML: score, facts, links to the next question. Every text in it is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from html import escape

from nar_plugin.report import SimilarArchitectures
from nar_plugin.report.hit import Hit
from nar_plugin.report.weights import SimilarWeights, WeightsHit
from nar_plugin.report.wording import (
    index_text,
    inputs_text,
    is_web,
    motif_text,
    other_names,
    query_text,
)
from nar_plugin.visible_text import clean, flops_text, params_text
from nar_plugin.web.address import State

_NAMES = 40  # names of one hit that are listed
_MOTIFS = 3


def hits_html(found: SimilarArchitectures | SimilarWeights, state: State) -> str:
    """What was asked, and an item for each hit."""
    weights = isinstance(found, SimilarWeights)
    query = str(found.query) if isinstance(found, SimilarWeights) else query_text(found.query)
    inputs = "" if isinstance(found, SimilarWeights) else _inputs(found)
    notes = "".join(f"<p>{_text(note)}</p>" for note in found.notes)
    items = "".join(_item(hit, state, explains=not weights) for hit in found.hits)
    none = "" if items else "<p>No known design meets these conditions.</p>"
    return (
        f'<section class="nw-hits" aria-label="Hits" data-model="{_text(state.model)}">'
        f"<h2>Similar to {_text(query)}</h2>{inputs}{notes}{none}<ol>{items}</ol>"
        f'<p class="nw-quiet">{_text(index_text(found.index))}</p></section>'
    )


def _inputs(found: SimilarArchitectures) -> str:
    """The inputs of a trace; a row needed none, and says how a shell would trace it."""
    if found.query.method == "index":
        return ""
    return f'<p class="nw-quiet">{_text(inputs_text(found.query))}</p>'


def _item(hit: Hit, state: State, *, explains: bool) -> str:
    alone = escape(replace(state, model=hit.name, against="").query())
    both = escape(replace(state, against=hit.name).query())
    marks = "<b class='nw-mark'>identical</b>" if hit.exact else ""
    marks += "<b class='nw-mark'>own</b>" if hit.overlay else ""
    links = f'<a href="{both}">compare</a>' if explains else ""
    if is_web(hit.url):
        links += f'<a href="{_text(hit.url)}" target="_blank" rel="noopener noreferrer">page</a>'
    why = (
        f'<details class="nw-why" data-against="{_text(hit.name)}"><summary>why</summary>'
        "<div></div></details>"
    )
    return (
        f'<li><div class="nw-head"><a class="nw-name" href="{alone}">{_text(hit.name)}</a>{marks}'
        f'<meter min="0" max="1" value="{hit.score:.3f}" aria-label="score"></meter>'
        f'<span class="nw-score">{hit.score:.3f}</span></div>'
        f'<div class="nw-facts">{"".join(f"<span>{fact}</span>" for fact in _facts(hit))}</div>'
        f'<div class="nw-links">{links}</div>{why if explains else ""}{_names(hit)}</li>'
    )


def _facts(hit: Hit) -> Iterator[str]:
    yield from (_text(fact) for fact in (hit.family, hit.task) if fact)
    yield f"{params_text(hit.params)} params"
    yield f"{flops_text(hit.flops)} FLOPs"
    if hit.year:
        yield str(hit.year)
    if hit.licence:
        yield f"code: {_text(hit.licence)}"
    if hit.shared_motifs:
        blocks = ", ".join(motif_text(motif, 40) for motif in hit.shared_motifs[:_MOTIFS])
        yield f"shares {_text(blocks)}"
    if isinstance(hit, WeightsHit):
        yield f"explains {hit.explained:,} of {hit.tensors:,} tensors"
        yield from (f"loads with <code>{_text(line)}</code>" for line in hit.loads[:_MOTIFS])
        yield from (f"left over: {_text(each)}" for each in hit.left_over[:_MOTIFS])
        yield from (f"missing: {_text(each)}" for each in hit.missing[:_MOTIFS])


def _names(hit: Hit) -> str:
    """The other names of the design, folded."""
    told = other_names(hit)
    if not told:
        return ""
    names = [*(name for name in hit.names if name != hit.name), *hit.variants]
    more = f"<p>and {len(names) - _NAMES:,} more</p>" if len(names) > _NAMES else ""
    items = "".join(f"<li>{_text(name)}</li>" for name in names[:_NAMES])
    return f"<details><summary>{_text(told[1:-1])}</summary><ul>{items}</ul>{more}</details>"


def _text(value: object) -> str:
    return escape(clean(value))
