"""`nar index verify`: whether every byte of an index is the published one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nar_plugin.cli.output import Json, only_results_on_stdout, show_json


def verify(
    folder: Annotated[
        Path | None,
        typer.Argument(help="An index folder; the one that answers.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Read every file of an index, compare it with the manifest, and name what is wrong."""
    from nar_plugin import api
    from nar_plugin.index import ArchitectureIndex
    from nar_plugin.report.wording import clean

    with only_results_on_stdout():
        place = folder or api.load_index().folder
        assert place is not None, "a loaded index lies in a folder"
        index = ArchitectureIndex.verify(place)
    manifest = index.manifest
    facts = {
        "source": index.source,
        "revision": manifest.revision,
        "files": len(manifest.files),
        "bytes": manifest.size,
        "graphs": manifest.graphs,
        "sound": True,
    }
    if as_json:
        show_json(facts)
    else:
        typer.echo(
            f"{clean(index.source)} at {clean(manifest.revision)}: {len(manifest.files)} files, "
            f"{manifest.size:,} bytes, {manifest.graphs:,} graphs; all as the manifest says."
        )
