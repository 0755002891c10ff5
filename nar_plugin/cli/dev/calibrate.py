"""`nar dev calibrate`: how novel held-out designs are, which `nar novelty` is read against."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nar_plugin.cli.dev.corpus import CORPUS
from nar_plugin.cli.dev.extra import needs_train
from nar_plugin.cli.output import only_results_on_stdout, say

CALIBRATION = Path("nar_plugin/likeness/novelty.toml")
DATA = Path("nar_plugin/data")


@only_results_on_stdout()
def calibrate(
    corpus: Annotated[Path, typer.Option(help="Folder of a corpus.")] = CORPUS,
    encoder: Annotated[Path, typer.Option(help="The encoder that ships.")] = DATA,
    output: Annotated[Path, typer.Option(help="The file to write.")] = CALIBRATION,
) -> None:
    """Hold families and sizes out, train on the rest, and write how novel they are (extra: train).

    Prints the AUC of unseen families against new sizes of known ones.
    """
    with needs_train():
        from nar_plugin.train.measure.calibration import calibrated
    text = calibrated(corpus, encoder)
    output.write_text(text, encoding="utf-8")
    say(text.rstrip())
