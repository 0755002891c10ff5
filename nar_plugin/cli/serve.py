"""`nar serve`: the page to find, filter, draw and compare."""

from __future__ import annotations

from typing import Annotated

import typer

from nar_plugin.cli.output import only_results_on_stdout


@only_results_on_stdout()
def serve(
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 for every network.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 7860,
    hub: Annotated[
        bool, typer.Option("--hub", help="Let visitors name models of the Hugging Face Hub.")
    ] = False,
    largest: Annotated[int, typer.Option(min=1, metavar="MIB", help="Largest upload.")] = 200,
) -> None:
    """Serve a page to find, filter, draw and compare architectures."""
    from nar_plugin import web

    typer.echo("Imports and reads what the first visitor would wait for.", err=True)
    web.serve(host=host, port=port, hub=hub, largest=largest)
