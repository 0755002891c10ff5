"""Whether a folder holds a whole, sound index: every listed file, also those no query reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from nar_plugin.errors import IndexUnavailable, NarError
from nar_plugin.index.store import graphs
from nar_plugin.index.store.folder import read_manifest, read_verified, remedy
from nar_plugin.index.store.manifest import OPTIONAL, Manifest

if TYPE_CHECKING:
    from nar_plugin.index.index import ArchitectureIndex

Kind = TypeVar("Kind", bound="ArchitectureIndex")


def verify(folder: Path, kind: type[Kind]) -> Kind:
    """Read every file of an index, and what it means.

    An optional file (graphs, derived) may be missing: an update leaves graphs out.

    Args:
        folder: Of the index.
        kind: The class that reads it.

    Raises:
        IndexUnavailable: Something is missing or damaged; the text names every such file.
        IndexIncompatible: The index is of another format.
    """
    manifest = Manifest.from_json(read_manifest(folder))
    problems = []
    for entry in manifest.files:
        if entry.kind in OPTIONAL and not (folder / entry.path).exists():
            continue
        try:
            read_verified(folder, entry)
        except NarError as error:
            problems.append(str(error))
    if problems:
        raise IndexUnavailable("\n".join(problems))
    index = kind.load(folder)
    check_encoder_files(folder, manifest)
    if index.has_graphs:
        for _ in graphs.macro_graphs(index.graphs()):
            pass
    index.check_derived()
    return index


def check_encoder_files(folder: Path, manifest: Manifest) -> None:
    """Refuse an encoder beside the vectors that did not make them.

    Raises:
        IndexUnavailable: Its config states another sha256, or none.
    """
    for entry in manifest.of_kind("encoder"):
        if not entry.path.endswith(".json"):
            continue
        try:
            stated = json.loads(read_verified(folder, entry))["sha256"]
        except (ValueError, KeyError, TypeError, RecursionError):
            stated = None
        if stated != manifest.encoder_sha256:
            raise IndexUnavailable(
                f"{folder / entry.path} is of another encoder than the vectors: it states the "
                f"sha256 {str(stated)[:12]}, the manifest {manifest.encoder_sha256[:12]}. "
                f"{remedy(folder)}"
            )
