"""`nar dev bench gpu`: every open question about a GPU, in one command that can be resumed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from nar_plugin.cli.output import only_results_on_stdout, say
from nar_plugin.errors import NarError

FILE = Path("runs/bench/gpu.json")


@only_results_on_stdout()
def gpu(
    file: Annotated[Path, typer.Option(help="Receives the figures after every step.")] = FILE,
    table: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Print the table of such a file; measure nothing."),
    ] = None,
) -> None:
    """Measure searches, encoding, training and memory on a GPU, in 8 minutes at most."""
    from nar_plugin.bench.gpu_table import gpu_table

    if table is None:
        from nar_plugin.bench.gpu import measure

        say(gpu_table(measure(file, tell=lambda line: typer.echo(line, err=True))))
        return
    try:
        found = json.loads(table.read_text())
    except (OSError, ValueError) as error:
        raise NarError(f"{table} holds no figures of `nar dev bench gpu`: {error}") from error
    say(gpu_table(found))
