"""The look of every terminal table: one rule below the headings, nothing else drawn."""

from __future__ import annotations

from collections.abc import Mapping

from rich import box
from rich.table import Table
from rich.text import Text

from nar_plugin.visible_text import clean


def open_table(gap: int = 2, *, ruled: bool = False) -> Table:
    """A table with headings, to which the caller adds columns and rows.

    Args:
        gap: Columns between two columns.
        ruled: Whether a rule stands between two rows, as rows of several lines want it.
    """
    return Table(
        box=box.HORIZONTALS if ruled else box.SIMPLE_HEAD,
        show_lines=ruled,
        border_style="dim",
        padding=(0, gap, 0, 0),
        pad_edge=False,
        show_edge=False,
        header_style="bold",
    )


def add_numbers(table: Table, *headings: str) -> None:
    """Right-aligned columns that never wrap."""
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)


def fact_table(facts: Mapping[str, str]) -> Table:
    """Two columns without headings: what, and its value, in its own lines. No empty values."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for what, value in facts.items():
        if value:
            lines = map(clean, value.splitlines())
            table.add_row(Text(clean(what)), Text("\n".join(lines)))
    return table
