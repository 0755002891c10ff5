"""Writes an index into a folder: new shards only, the manifest last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nar_plugin.errors import NarError
from nar_plugin.index.search.backends import faiss_works
from nar_plugin.index.store.folder import present, prune, read_verified, replace_files
from nar_plugin.index.store.manifest import (
    LARGEST_FILE,
    MINIMUM_CLIENT,
    OPTIONAL,
    TOMBSTONES,
    FileEntry,
)
from nar_plugin.index.store.manifest_reading import unfit_text
from nar_plugin.index.store.shards import tombstones_to_json
from nar_plugin.regular_files import read_regular, resolved

if TYPE_CHECKING:
    from nar_plugin.index.store.contents import Contents

ENCODER = ("encoder.json", "encoder.safetensors")
KEPT = (
    "vectors",
    "rows",
    "graphs",
    "labels",
    "blocks",
    "derived",
)  # kinds that a new revision takes over


def save(
    contents: Contents,
    folder: Path,
    *,
    half: bool,
    revision: str | None,
    encoder: Path | None,
) -> None:
    """See `ArchitectureIndex.save`."""
    files = kept_files(contents, folder, with_encoder=encoder is None)
    first = len(contents.manifest.of_kind("rows"))
    for number, shard in enumerate(contents.added, start=first):
        files |= shard.files(number, half=half)
    if contents.tombstones:
        content = tombstones_to_json(contents.tombstones)
        entry = FileEntry.of(content, TOMBSTONES, "tombstones", len(contents.tombstones))
        files[entry] = content
    if derived := derived_files(contents, files):
        files = {entry: content for entry, content in files.items() if entry.kind != "derived"}
        files |= derived
    if encoder is not None:
        files |= encoder_files(encoder)
    manifest = replace(
        contents.manifest,
        files=tuple(sorted(files)),
        revision=revision or contents.manifest.revision,
        minimum_client=MINIMUM_CLIENT,
    )
    if problem := unfit_text(manifest):
        raise NarError(f"Nothing was written to {folder}: {problem}.")
    written = {entry.path: content for entry, content in files.items() if content is not None}
    try:
        replace_files(folder, manifest.to_json(), written)
        prune(folder, manifest)
    except OSError as error:
        raise NarError(
            f"The index could not be written to {folder}: {error.strerror or error}. What is "
            "there is whole, the old one or the new one. Make room, or name another folder."
        ) from error


def kept_files(
    contents: Contents, folder: Path, *, with_encoder: bool
) -> dict[FileEntry, bytes | None]:
    """The files of the index's own folder: with content where they must be copied, else None.

    Graphs that an update has left out stay listed: where they were published, they still are.
    """
    kinds = (*KEPT, "encoder") if with_encoder else KEPT
    entries = [entry for entry in contents.manifest.files if entry.kind in kinds]
    if contents.folder is None:
        return {}
    here = present(contents.folder, contents.manifest)
    absent = [entry for entry in entries if entry.kind in OPTIONAL and entry not in here]
    files: dict[FileEntry, bytes | None] = dict.fromkeys(
        entry for entry in absent if entry.kind in ("graphs", "labels", "blocks")
    )
    same = resolved(folder) == resolved(contents.folder)
    for entry in entries:
        if entry not in absent:
            content = read_verified(contents.folder, entry)  # another process may have replaced it
            files[entry] = None if same else content
    return files


def derived_files(
    contents: Contents, files: Mapping[FileEntry, bytes | None]
) -> dict[FileEntry, bytes]:
    """An approximate index, where a search of all rows would be slow and none is kept.

    One that is kept still serves while it holds most of the rows: the others are searched exactly.
    """
    from nar_plugin.index.search import approximate

    held = sum(entry.rows for entry in files if entry.kind == "derived")
    if contents.manifest.rows - held < approximate.APPROXIMATE_FROM or not faiss_works():
        return {}
    content = approximate.built(contents.vectors, contents.numbers)
    entry = FileEntry.of(content, approximate.PATH, "derived", contents.manifest.rows)
    return {entry: content}


def encoder_files(encoder: Path) -> dict[FileEntry, bytes]:
    """The encoder's files as they are in its folder."""
    files = {name: read_regular(encoder / name, LARGEST_FILE) for name in ENCODER}
    return {FileEntry.of(content, name, "encoder"): content for name, content in files.items()}
