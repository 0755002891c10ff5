"""`nar dev train`: the encoder that ships."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nar_plugin.cli.dev.corpus import CORPUS
from nar_plugin.cli.output import only_results_on_stdout, say

ENCODER = Path("runs/encoder")


@only_results_on_stdout()
def train(
    corpus: Annotated[Path, typer.Option(help="Folder of a corpus.")] = CORPUS,
    folder: Annotated[Path, typer.Option(help="Receives the encoder.")] = ENCODER,
    device: Annotated[
        str | None, typer.Option(help="cpu or cuda; CUDA where there is one.")
    ] = None,
) -> None:
    """Fit the encoder to a corpus (extra: train)."""
    from nar_plugin.cli.dev.extra import needs_train

    with needs_train():
        from nar_plugin.train.fit.recipe import train_encoder
    train_encoder(corpus, folder, device=device)
    say(f"wrote {folder}")
