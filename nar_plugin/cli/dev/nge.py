"""`nar dev nge`: neural graph embedding beside what its paper compares it with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nar_plugin.cli.output import Json, only_results_on_stdout, say, show_json

app = typer.Typer(help="Neural graph embedding for architecture search.", no_args_is_help=True)
Data = Annotated[Path, typer.Option(metavar="DIR", help="Folder of the tables and images.")]
Work = Annotated[Path, typer.Option(help="Finished cells, for going on later.")]
WORK = Path("runs/nge")


@app.callback()
def nge() -> None:
    """Neural graph embedding for architecture search (extra: train)."""


@app.command()
@only_results_on_stdout()
def compare(
    data: Data,
    work: Work = WORK,
    reward: Annotated[
        str,
        typer.Option(metavar="R", help="What searches see: test (200 epochs), validation (12)."),
    ] = "test",
    seeds: Annotated[int, typer.Option(metavar="N", help="Searches of each method.")] = 40,
    queries: Annotated[int, typer.Option(metavar="N", help="Cells that a search asks for.")] = 300,
    as_json: Json = False,
) -> None:
    """Search the table of NAS-Bench-201 by policy gradient, with each method; resumes."""
    from nar_plugin.cli.dev.extra import needs_train

    with needs_train():
        from nar_plugin.train.nge import comparison
    if reward not in comparison.REWARDS:
        raise typer.BadParameter(f"--reward is one of {', '.join(comparison.REWARDS)}.")
    rows = comparison.compare(data, work, reward, seeds, queries)
    if as_json:
        show_json(rows)
    else:
        say(comparison.table_text(rows))
