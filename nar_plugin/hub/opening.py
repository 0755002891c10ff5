"""An index by name: none, a folder, or a repository of the Hub."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nar_plugin.errors import IndexUnavailable, NarError
from nar_plugin.hub.answering import first_readable
from nar_plugin.hub.download import fetch, find_release, missing, read_manifest_at
from nar_plugin.hub.pointer import read_pointers
from nar_plugin.hub.update import active_repository, remember
from nar_plugin.index import EMBEDDED, ArchitectureIndex
from nar_plugin.index.store.manifest import MANIFEST
from nar_plugin.regular_files import is_there
from nar_plugin.remote.cache import MAIN, Place
from nar_plugin.remote.failures import explained
from nar_plugin.remote.proven_names import is_repository

Read = Callable[[Path], ArchitectureIndex]


def open_index(place: str | Path | None, revision: str | None, read: Read) -> ArchitectureIndex:
    """The index that a caller means; the network is asked only for what the cache lacks.

    Args:
        place: None for the one that answers queries, a folder, or a repository `owner/name`.
        revision: A branch, tag or commit of a repository; of a folder the revision that it must
            have. Without a place, that of the active or the embedded index, else of the repository
            that updates come from.
        read: Reads the index in a folder.

    Raises:
        IndexUnavailable: There is no such index, or it could not be had.
        IndexIncompatible: It is of another format.
        NarError: The folder holds another revision, or `place` is something else.
    """
    if place is None and revision is None:
        return first_readable(read)
    if place is None:
        folder = _local(str(revision))
        return read(folder) if folder else published(Place(active_repository()), revision, read)
    if not isinstance(place, str | Path):
        raise NarError(
            f"Got an index of type {type(place).__name__}, expected an ArchitectureIndex, a "
            "folder, or a repository owner/name."
        )
    folder = Path(place)
    if not is_there(folder) and is_repository(str(place)):
        return published(Place(str(place)), revision, read)
    return _of_revision(read(folder), revision)


def published(place: Place, revision: str | None, read: Read) -> ArchitectureIndex:
    """A repository's index: what the cache has of it, else, or where that is damaged, from the Hub.

    Raises:
        IndexUnavailable: The cache has none that is sound, and the Hub gave none.
        IndexIncompatible: It is of another format.
    """
    folder = cached(place, revision)
    if folder is None:
        return read(fetched(place, revision))
    try:
        return read(folder)
    except IndexUnavailable as damaged:
        try:
            folder = fetched(place, revision)
        except IndexUnavailable as error:
            raise IndexUnavailable(f"{damaged} {error}") from error
    return read(folder)


def fetched(place: Place, revision: str | None) -> Path:
    """The folder of what the Hub has now."""
    release = find_release(place, revision)
    folder = fetch(release, missing(release))
    with explained(place.repository, f"revision {release.revision}"):
        remember(release)
    return folder


def open_with_graphs(place: str | Path, revision: str | None) -> ArchitectureIndex:
    """The index in a folder, or that of a repository with the graphs that a cache may lack.

    Raises:
        IndexUnavailable: There is no such index, or it could not be had.
        IndexIncompatible: It is of another format.
        NarError: The folder holds another revision.
    """
    if is_there(Path(place)) or not is_repository(str(place)):
        return _of_revision(ArchitectureIndex.load(place), revision)
    release = find_release(Place(str(place)), revision)
    return ArchitectureIndex.load(fetch(release, missing(release)))


def cached(place: Place, revision: str | None) -> Path | None:
    """The folder of what the cache has, when every file that a query needs is there."""
    found = place.cached(MANIFEST, revision or MAIN)
    if found is None:
        return None
    try:
        manifest = read_manifest_at(found)
    except (NarError, OSError):
        return None
    folder = found.parent
    needed = (entry for entry in manifest.files if entry.kind != "graphs")  # they only explain
    whole = all(_has_size(folder / entry.path, entry.size) for entry in needed)
    return folder if whole else None


def _local(revision: str) -> Path | None:
    """The folder of the active, the previous or the embedded index that has this revision."""
    try:
        pointers = read_pointers()
    except IndexUnavailable:
        pointers = ()
    for folder, commit in [(one.folder, one.commit) for one in pointers] + [(EMBEDDED, "")]:
        try:
            manifest = read_manifest_at(folder / MANIFEST)
        except (NarError, OSError):
            continue
        if revision in (manifest.revision, commit):
            return folder
    return None


def _of_revision(index: ArchitectureIndex, revision: str | None) -> ArchitectureIndex:
    if revision is not None and revision != index.manifest.revision:
        raise NarError(
            f"The index {index.source} is of revision {index.manifest.revision}; got "
            f"revision={revision!r}. Leave it out to take what is there."
        )
    return index


def _has_size(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except OSError:
        return False
