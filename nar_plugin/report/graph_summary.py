"""The terminal summary of an ArchitectureGraph: sizes, hashes, kinds, how it was traced."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.table import Table

from nar_plugin.report.table import fact_table
from nar_plugin.visible_text import flops_text, params_text, times

if TYPE_CHECKING:
    from nar_plugin.tracing.graph import ArchitectureGraph


def graph_summary(graph: ArchitectureGraph, name: str) -> Table:
    """One line for each fact about the graph; `name` is what the model was called."""
    kinds = Counter(op.kind for op in graph.ops).most_common()
    flops = f"{flops_text(graph.flops)} ({graph.flops:,})"
    return fact_table(
        {
            "model": name,
            "params": f"{params_text(graph.params)} ({graph.params:,})",
            "FLOPs": "unknown" if graph.method == "modules" else flops,
            "graph": f"{len(graph):,} ops, {len(graph.edges):,} edges",
            "ops": ", ".join(f"{kind} {times(count)}" for kind, count in kinds),
            "inputs": graph.inputs,
            "traced by": ": ".join(filter(None, (graph.method, graph.reason))),
            "fingerprint": graph.fingerprint,
            "design": graph.design,
        }
    )
