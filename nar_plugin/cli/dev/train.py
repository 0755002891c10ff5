"""`nar dev train`: the encoder that ships, or the paper's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nar_plugin.cli.dev.corpus import CORPUS
from nar_plugin.cli.dev.extra import needs_train
from nar_plugin.cli.output import only_results_on_stdout, say

ENCODER = Path("runs/encoder")


@only_results_on_stdout()
def train(
    corpus: Annotated[Path, typer.Option(help="Folder of a corpus.")] = CORPUS,
    folder: Annotated[Path, typer.Option(help="Receives the encoder.")] = ENCODER,
    recipe: Annotated[
        str, typer.Option(metavar="R", help="default, paper or paper-tuned.")
    ] = "default",
    device: Annotated[
        str | None, typer.Option(help="cpu or cuda; CUDA where there is one.")
    ] = None,
) -> None:
    """Fit the encoder to a corpus (extra: train)."""
    with needs_train():
        from nar_plugin.train.fit.recipe import train_encoder
        from nar_plugin.train.paper.ablations import RECIPES
        from nar_plugin.train.paper.encoder import train_paper_encoder
    if recipe == "default":
        train_encoder(corpus, folder, device=device)
    elif recipe in RECIPES:
        train_paper_encoder(corpus, folder, recipe, RECIPES[recipe], device=device)
    else:
        known = ", ".join(("default", *RECIPES))
        raise typer.BadParameter(f"There is no recipe {recipe!r}: {known}.")
    say(f"wrote {folder}")
