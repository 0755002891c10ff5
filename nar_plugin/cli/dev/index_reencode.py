"""`nar dev index reencode`: the vectors of an index anew, by another encoder."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from nar_plugin.cli.output import Json, only_results_on_stdout, say, show_json


@only_results_on_stdout()
def reencode(
    index: Annotated[
        str | None,
        typer.Argument(
            metavar="INDEX",
            help="An index folder or repository that came with graphs; your own models.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Receives the index; INDEX if a folder.")
    ] = None,
    encoder: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Of the encoder; the one that ships with the package."),
    ] = None,
    revision: Annotated[
        str | None, typer.Option(metavar="R", help="Commit, tag or branch of INDEX.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make the vectors of an index anew, for another encoder.

    Without INDEX, those of your own models, for the encoder of the index that answers.
    """
    from nar_plugin import api
    from nar_plugin.index import EMBEDDED, embedding, overlay
    from nar_plugin.visible_text import counted

    if index is None:
        if output or encoder or revision:
            raise typer.BadParameter("--output, --encoder and --revision want an INDEX.")
        answers = api.load_index()
        anew = overlay.reencode_overlay(answers, partial(embedding.embed_graphs, answers))
        folder = overlay.overlay_folder()
    else:
        from nar_plugin import hub

        if output is None and not Path(index).exists():
            raise typer.BadParameter(f"{index} is no folder: --output names the one to write to.")
        folder = output or Path(index)
        old = hub.open_with_graphs(index, revision)
        source = encoder or EMBEDDED
        today = datetime.now(UTC).strftime("%Y.%m.%d")
        anew = embedding.reencoded(old, source, today)
        anew.save(folder, half=True, encoder=source)
    facts = {
        "folder": str(folder),
        "graphs": len(anew),
        "names": anew.manifest.names,
        "encoder": anew.manifest.encoder,
        "revision": anew.manifest.revision,
    }
    if as_json:
        show_json(facts)
    else:
        say(f"{counted(len(anew), 'graph')} encoded by {anew.manifest.encoder}, in {folder}")
