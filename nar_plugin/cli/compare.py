"""`nar compare`: how alike two models are, and why."""

from __future__ import annotations

from nar_plugin.cli.output import Json, Reference, Trace, only_results_on_stdout, show, show_json


@only_results_on_stdout()
def compare(
    first: Reference, second: Reference, as_json: Json = False, trace: Trace = False
) -> None:
    """Compare two models block by block: what is alike, what differs."""
    from nar_plugin import api

    comparison = api.compare(first, second, trace=trace)
    if as_json:
        show_json(comparison.to_dict())
    else:
        show(comparison)
