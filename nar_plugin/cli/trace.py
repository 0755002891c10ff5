"""`nar trace`: what a model's forward pass computes."""

from __future__ import annotations

from nar_plugin.cli.output import Json, Reference, only_results_on_stdout, show, show_json


@only_results_on_stdout()
def trace(reference: Reference, as_json: Json = False) -> None:
    """Trace a model: its operations, sizes and fingerprint."""
    from nar_plugin import api
    from nar_plugin.report.graph_summary import graph_summary

    graph = api.trace(reference)
    if as_json:
        show_json({"name": reference, **graph.to_dict()})
    else:
        show(graph_summary(graph, reference))
