"""`nar index verify`: whether every byte of an index is the published one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nar_plugin.cli.output import Json, only_results_on_stdout, say, show_json


@only_results_on_stdout()
def verify(
    folder: Annotated[
        Path | None,
        typer.Argument(help="An index folder; the one that answers.", show_default=False),
    ] = None,
    index_folder: Annotated[
        Path | None, typer.Option("--index", metavar="PATH", help="The same as FOLDER.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare every file of an index with its manifest."""
    from nar_plugin.hub import ArchitectureIndex
    from nar_plugin.hub.answering import active_folder
    from nar_plugin.index.store.folder import present
    from nar_plugin.visible_text import clean, counted

    place = folder or index_folder or active_folder()  # not the one that would answer in its stead
    index = ArchitectureIndex.verify(place)
    manifest = index.manifest
    files = present(place, manifest)
    size = sum(entry.size for entry in files)
    absent = sorted({entry.path for entry in manifest.files} - {entry.path for entry in files})
    facts = {
        "source": index.source,
        "revision": manifest.revision,
        "files": len(files),
        "absent": absent,
        "bytes": size,
        "graphs": manifest.graphs,
        "sound": True,
    }
    if as_json:
        show_json(facts)
    else:
        left_out = f" Not here, and not needed to search: {' '.join(absent)}." if absent else ""
        say(
            f"{clean(index.source)} at {clean(manifest.revision)}: {counted(len(files), 'file')}, "
            f"{size:,} bytes, {manifest.graphs:,} graphs; all as the manifest says.{left_out}"
        )
