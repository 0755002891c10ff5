"""`nar train`: the two-stage pre-training of the encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nar_plugin.cli.corpus import CORPUS

ENCODER = Path("runs/encoder")


def train(
    corpus: Annotated[Path, typer.Option(help="Folder of a corpus.")] = CORPUS,
    folder: Annotated[Path, typer.Option(help="Receives the encoder.")] = ENCODER,
    seed: Annotated[int, typer.Option(help="Of all random choices.")] = 0,
    device: Annotated[
        str | None, typer.Option(help="cpu or cuda; CUDA where there is one.")
    ] = None,
) -> None:
    """Train the encoder on a corpus (extra: train); goes on where it was interrupted."""
    from nar_plugin.cli.extra import needs_train

    with needs_train():
        from nar_plugin.train.pretrain import Recipe, pretrain
    pretrain(corpus, folder, Recipe(seed=seed), device=device)
    typer.echo(f"wrote {folder}")
