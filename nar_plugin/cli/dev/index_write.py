"""`nar dev index write`: the index that ships with the package, from a corpus and an encoder."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from nar_plugin.cli.dev.corpus import CORPUS
from nar_plugin.cli.dev.extra import needs_train
from nar_plugin.cli.dev.train import ENCODER
from nar_plugin.cli.output import only_results_on_stdout, say

DEFAULT = Path("nar_plugin/data")


@only_results_on_stdout()
def write(
    target: Annotated[
        Path | None,
        typer.Argument(metavar="FOLDER", help="The same as --folder.", show_default=False),
    ] = None,
    folder: Annotated[Path, typer.Option(help="Receives index and encoder.")] = DEFAULT,
    corpus: Annotated[Path, typer.Option(help="Folder of a corpus.")] = CORPUS,
    encoder: Annotated[Path, typer.Option(help="Folder of a trained encoder.")] = ENCODER,
    revision: Annotated[
        str | None, typer.Option(metavar="R", help="Name of this state; today's date.")
    ] = None,
) -> None:
    """Encode a corpus and write the index that ships (extra: train)."""
    today = datetime.now(UTC).strftime("%Y.%m.%d")
    with needs_train():
        from nar_plugin.train.fit.default import write_index

        index = write_index(corpus, encoder, target or folder, revision or today)
    say(repr(index))
