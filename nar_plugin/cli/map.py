"""`nar map`: all designs on one page, and models among them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nar_plugin.cli.output import only_results_on_stdout, say


@only_results_on_stdout()
def map(
    references: Annotated[
        list[str] | None,
        typer.Argument(metavar="[REF...]", help="Models, as for find.", show_default=False),
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="A .html file.")] = Path(
        "map.html"
    ),
) -> None:
    """Show all known designs on one page, and where models stand there."""
    from nar_plugin import api

    say(str(api.design_map(references or []).save(output)))
