"""The terminal table of a model's motifs: its blocks, how often, and how much they cover."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from nar_plugin.report.table import add_numbers, open_table
from nar_plugin.report.wording import module_tree_text
from nar_plugin.visible_text import clean, times

if TYPE_CHECKING:
    from nar_plugin.mining.macro import MotifCount
    from nar_plugin.tracing.graph import ArchitectureGraph


def motif_table(motifs: Sequence[MotifCount], graph: ArchitectureGraph) -> Group:
    """A row for each block shape of a graph, with its share of all operations.

    Above it stands what was not followed of the graph, if anything.
    """
    total = sum(motif.count * motif.ops for motif in motifs) or 1
    table = open_table()
    table.add_column("motif", overflow="fold")
    add_numbers(table, "count", "ops each", "of all ops")
    for motif in motifs:
        share = f"{motif.count * motif.ops / total:.1%}"
        table.add_row(Text(clean(motif.label)), times(motif.count), f"{motif.ops:,}", share)
    if graph.method != "modules":
        return Group(table)
    return Group(Text(module_tree_text(graph.reason, "cut"), style="yellow"), Text(), table)
