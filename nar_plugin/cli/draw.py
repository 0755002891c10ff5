"""`nar draw`: a picture of a model, or of two side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nar_plugin.cli.output import Reference, only_results_on_stdout, say


@only_results_on_stdout()
def draw(
    reference: Reference,
    other: Annotated[
        str, typer.Argument(metavar="[REF]", help="Draw both, side by side.", show_default=False)
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="A .svg, .html, .mmd (Mermaid) or .dot file, instead of stdout."
        ),
    ] = None,
) -> None:
    """Draw a model, folded to its blocks; two side by side."""
    from nar_plugin import api

    if other:
        picture = api.compare(reference, other).draw()
    else:
        picture = api.motifs(reference).draw(reference)
    say(picture.svg() if output is None else str(picture.save(output)))
