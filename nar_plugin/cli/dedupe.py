"""`nar dedupe`: which of many models are one design."""

from __future__ import annotations

from typing import Annotated

import typer

from nar_plugin.cli.output import Json, Trace, only_results_on_stdout, show, show_json


@only_results_on_stdout()
def dedupe(
    references: Annotated[
        list[str], typer.Argument(metavar="REF...", help="Models, as for find.", show_default=False)
    ],
    as_json: Json = False,
    trace: Trace = False,
) -> None:
    """Group models that are one design, or one backbone."""
    from nar_plugin import api

    found = api.dedupe(references, trace=trace)
    if as_json:
        show_json(found.to_dict())
    else:
        show(found)
    if not found.designs:
        raise typer.Exit(1)
