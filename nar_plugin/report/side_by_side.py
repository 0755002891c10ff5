"""The terminal tables of a comparison: sizes of both models, and the blocks they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from nar_plugin.report.explanation_table import explanation_table
from nar_plugin.report.table import add_numbers, open_table
from nar_plugin.report.wording import name_text, query_flops, source_text, trace_text
from nar_plugin.visible_text import clean, params_text, times

if TYPE_CHECKING:
    from nar_plugin.report.asked import Query
    from nar_plugin.report.compare import Comparison


def comparison_table(comparison: Comparison) -> RenderableType:
    """The verdict, the two models, and their shared blocks."""
    verdict = Text(f"likeness {comparison.likeness:.3f}: {_verdict(comparison)}", style="bold")
    warnings = [
        Text(f"{name_text(query)}: {warning}", style="yellow")
        for query in (comparison.a, comparison.b)
        if (warning := trace_text(query))
    ]
    sources = [
        Text(f"{name_text(query)}: {source}", style="dim")
        for query in (comparison.a, comparison.b)
        if (source := source_text(query))
    ]
    if comparison.explanation:
        told = explanation_table(comparison.explanation)
        return Group(_sizes(comparison), Text(), *warnings, *sources, told)
    shared = _shared(comparison) if comparison.shared_motifs else Text("no motifs in common")
    return Group(verdict, *warnings, *sources, _sizes(comparison), Text(), shared)


def _verdict(comparison: Comparison) -> str:
    if comparison.identical:
        return "the same architecture"
    if comparison.same_design:
        return "the same design; classifier or vocabulary differ in size"
    return "different designs; their graphs are not here to say how"


def _sizes(comparison: Comparison) -> Table:
    table = open_table()
    table.add_column("model", overflow="fold")
    add_numbers(table, "params", "FLOPs", "ops")
    table.add_column("fingerprint", overflow="fold")
    for query in (comparison.a, comparison.b):
        table.add_row(*_size_cells(query))
    return table


def _size_cells(query: Query) -> tuple[RenderableType, ...]:
    return (
        Text(name_text(query)),
        params_text(query.params),
        query_flops(query),
        f"{query.ops:,}",
        Text(clean(query.fingerprint)),
    )


def _shared(comparison: Comparison) -> Table:
    table = open_table()
    table.add_column("shared motif", overflow="fold")
    add_numbers(table, "in the first", "in the second", "ops each")
    for motif in comparison.shared_motifs:
        counts = times(motif.count_query), times(motif.count_hit), f"{motif.ops:,}"
        table.add_row(Text(clean(motif.label)), *counts)
    return table
