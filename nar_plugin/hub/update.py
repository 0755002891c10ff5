"""Bring the newest index, or another revision, and make it the one that answers."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from nar_plugin.errors import IndexIncompatible, IndexUnavailable, NarError
from nar_plugin.hub.answering import answering, check_usable
from nar_plugin.hub.download import Release, fetch, find_release, lacking, missing
from nar_plugin.hub.pointer import Pointer, now, pointer_path, read_pointers, write_pointer
from nar_plugin.hub.repository import DEFAULT_REPOSITORY
from nar_plugin.index import ArchitectureIndex
from nar_plugin.index.store.manifest import FileEntry, Manifest
from nar_plugin.remote.cache import Place
from nar_plugin.remote.failures import explained


@dataclass(frozen=True)
class Update:
    """What an update did, or would do.

    Attributes:
        release: The release that was found.
        fetched: The files that the cache lacked.
        done: False of a dry run.
    """

    release: Release
    fetched: tuple[FileEntry, ...]
    done: bool

    @property
    def size(self) -> int:
        """Bytes of the files that the cache lacked."""
        return sum(entry.size for entry in self.fetched)


def update(
    repository: str | None = None, revision: str | None = None, *, dry_run: bool = False
) -> Update:
    """Fetch what is new of an index, verify it, and make it the one that answers.

    Nothing changes for a reader until every file is there and the whole index has been read.

    Example:
        ```python
        update().release.manifest.graphs
        update(revision="2026.11.21")  # back to an older one
        ```

    Args:
        repository: Such as `owner/name`; None for that of the active index, else the default.
        revision: A branch, a tag or a commit; None for `main`.
        dry_run: Only find out what would be fetched.

    Raises:
        IndexUnavailable: It could not be had; the text says why, what helps, and which index
            answers meanwhile.
        IndexIncompatible: It wants another version of nar-plugin.
    """
    place = Place(repository or active_repository())
    try:
        release = find_release(place, revision)
        absent = missing(release)
        fetched = lacking(release, absent)
        if not dry_run:
            fetch(release, absent)
            land(release)
    except (IndexUnavailable, IndexIncompatible) as error:
        raise type(error)(f"{error} {answering()}") from error
    return Update(release, fetched, not dry_run)


def land(release: Release) -> None:
    """Make a release that is all there the active one, once it has been read as a whole."""
    manifest = ArchitectureIndex.load(release.folder).manifest
    check_usable(manifest, release.folder)
    if manifest.of_kind("encoder"):
        check_encoder(manifest, release.folder)
    place = release.place
    with explained(place.repository, f"the pointer {pointer_path()}"):
        write_pointer(Pointer(place.repository, release.commit, release.revision, now()))
    with suppress(OSError):
        remember(release)


def check_encoder(manifest: Manifest, folder: Path) -> None:
    """Read the encoder that came with an index, as the first query would.

    Raises:
        IndexUnavailable: It is damaged, or another than the manifest says.
        IndexIncompatible: It is none that could have made the index's vectors.
    """
    from nar_plugin.encoder.checkpoint import read_encoder  # imports torch
    from nar_plugin.encoder.config import encoder_sha256

    encoder = read_encoder(folder)
    made = encoder_sha256(folder), encoder.dimensions
    if made != (manifest.encoder_sha256, manifest.dim):
        raise IndexIncompatible(
            f"The encoder in {folder} ({made[0][:12]}, {made[1]} dimensions) is not the one that "
            f"made the index ({manifest.encoder_sha256[:12]}, {manifest.dim}). Tell its "
            "maintainer; `nar index update --revision R` takes an older one."
        )


def remember(release: Release) -> None:
    """Have the cache note which commit a branch or a tag is, for the time without a network."""
    release.place.note(release.revision, release.commit)


def active_repository() -> str:
    """The repository of the active index, or the default one."""
    try:
        pointers = read_pointers()
    except NarError:
        pointers = ()
    return pointers[0].repository if pointers else DEFAULT_REPOSITORY
