"""`nar dev bench checkpoints`: how often shapes alone tell what a checkpoint was saved from."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from nar_plugin.cli.output import Json, only_results_on_stdout, say, show, show_json

WORK = Path("runs/checkpoints")


@only_results_on_stdout()
def checkpoints(
    each: Annotated[int, typer.Option(min=1, help="Models of a library.")] = 25,
    held_out: Annotated[
        bool, typer.Option(help="Families that were not looked at; else those that were.")
    ] = True,
    work: Annotated[Path, typer.Option(help="Shapes that were built, for going on later.")] = WORK,
    missed: Annotated[bool, typer.Option(help="Name each model that was not found.")] = False,
    as_json: Json = False,
) -> None:
    """Build models of the installed libraries, change their state_dicts, and ask about them."""
    from rich.table import Table

    from nar_plugin import api
    from nar_plugin.bench.checkpoints import (
        CHANGES,
        looked_at,
        measure,
        names_to_build,
        save_shapes,
        saved_models,
    )

    index = api.load_index()
    file = work / "shapes.jsonl"
    save_shapes(index, file, names_to_build(index, each))
    known = looked_at()
    saved = [model for model in saved_models(index, file) if (model.family in known) != held_out]
    scores = {change: measure(index, saved, change) for change in CHANGES}
    libraries = len({model.name.partition(":")[0] for model in saved})
    if as_json:
        show_json(
            {
                "models": len(saved),
                "libraries": libraries,
                "scores": {change: asdict(score) for change, score in scores.items()},
            }
        )
        return
    table = Table(caption=f"{len(saved)} models of {libraries} libraries; ms of processor time")
    table.add_column("state_dict", no_wrap=True)
    for heading in ("own design first", "its own row", "class named", "median ms", "95% ms"):
        table.add_column(heading, justify="right", no_wrap=True)
    for change, score in scores.items():
        shares = (score.own, score.strictly, score.named)
        percents = (f"{count / max(score.asked, 1):.1%}" for count in shares)
        table.add_row(change, *percents, f"{score.middle:.0f}", f"{score.slow:.0f}")
    show(table)
    for change, score in scores.items() if missed else ():
        for name, first in score.missed.items():
            say(f"{change}: {name} -> {first}")
