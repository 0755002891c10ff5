"""`nar motifs`: the repeated blocks of a model."""

from __future__ import annotations

from dataclasses import asdict

from nar_plugin.cli.output import Json, Reference, only_results_on_stdout, show, show_json


@only_results_on_stdout()
def motifs(reference: Reference, as_json: Json = False) -> None:
    """List the blocks of a model, most operations covered first."""
    from nar_plugin import api
    from nar_plugin.report.motif_table import motif_table

    macro = api.motifs(reference)
    rows, graph = macro.table(), macro.graph
    if as_json:
        traced = {"method": graph.method, "reason": graph.reason}
        show_json({"name": reference, **traced, "motifs": [asdict(row) for row in rows]})
    else:
        show(motif_table(rows, graph))
