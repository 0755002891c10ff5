"""One commit of an index into the Hub's cache: only what is missing, every byte verified.

A file that two commits share is there once, so an update fetches the new shards and the small
files. What came stays when something fails; the next try goes on at that byte.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from nar_plugin.errors import IndexUnavailable
from nar_plugin.hub.repository import short
from nar_plugin.index.store.manifest import LARGEST_MANIFEST, MANIFEST, FileEntry, Manifest
from nar_plugin.regular_files import is_there, open_regular, read_regular
from nar_plugin.remote.cache import MAIN, Held, Place
from nar_plugin.remote.failures import Absent


@dataclass(frozen=True)
class Release:
    """A commit of a repository: its manifest is here, what it lists may not be.

    Attributes:
        place: Where it comes from and goes to.
        revision: What was asked for.
        commit: Which commit that is.
        manifest: What the commit holds.
        folder: The commit's folder in the cache.
    """

    place: Place
    revision: str
    commit: str
    manifest: Manifest
    folder: Path

    @property
    def files(self) -> tuple[FileEntry, ...]:
        """All that the manifest lists."""
        return self.manifest.files

    def __str__(self) -> str:
        """Such as `owner/name@1a2b3c4d`."""
        return short(self.place.repository, self.commit)


def find_release(place: Place, revision: str | None = None) -> Release:
    """Ask the Hub which commit a revision is, and fetch that commit's manifest.

    Raises:
        IndexUnavailable: The Hub did not answer, or has no such thing.
        IndexIncompatible: The index there wants another version of nar-plugin.
    """
    name = revision or MAIN
    held = place.describe(MANIFEST, name, LARGEST_MANIFEST)
    path = place.fetch(held, read_manifest_at)
    return Release(place, name, held.commit, read_manifest_at(path), path.parent)


def missing(release: Release) -> dict[FileEntry, Held]:
    """The files of a release that its folder in the cache lacks, as the Hub describes them.

    Nothing is fetched: a repository that lacks a file is noticed before the first byte.

    Raises:
        IndexUnavailable: It lacks a file that its manifest lists, or holds another.
    """
    place, absent = release.place, {}
    for entry in release.files:
        link = place.snapshot(release.commit, entry.path)
        if is_there(link) and described(link) == (entry.size, entry.sha256):
            continue
        try:
            held = place.describe(entry.path, release.commit)
        except Absent as error:
            raise unlike(release, entry, "it is missing") from error
        if held.size != entry.size or held.blob not in (held.blob[:40], entry.sha256):
            raise unlike(release, entry, "it is another file")
        absent[entry] = held
    return absent


def lacking(release: Release, absent: Mapping[FileEntry, Held]) -> tuple[FileEntry, ...]:
    """Those of the files whose content must come; of the others a link is all that is missing."""
    place = release.place
    return tuple(entry for entry, held in absent.items() if not is_there(place.blob(held)))


def fetch(release: Release, absent: Mapping[FileEntry, Held]) -> Path:
    """Have every file of a release in the cache, each with the sha256 of the manifest.

    Args:
        release: Of `find_release`.
        absent: Of `missing`.

    Returns:
        The folder, which `ArchitectureIndex.load` reads.

    Raises:
        IndexUnavailable: A file could not be had; what came whole is kept.
    """
    for entry, held in absent.items():
        release.place.fetch(held, partial(check_content, release, entry))
    return release.folder


def read_manifest_at(path: Path) -> Manifest:
    """The manifest in a file of the cache."""
    return Manifest.from_json(read_regular(path, LARGEST_MANIFEST))


def check_content(release: Release, entry: FileEntry, path: Path) -> None:
    """Refuse a file that is not the one that the manifest lists.

    Raises:
        IndexUnavailable: It has another size or sha256.
    """
    found = described(path)
    if found != (entry.size, entry.sha256):
        raise unlike(release, entry, f"it has {found[0]:,} bytes with sha256 {found[1][:12]}")


def described(path: Path) -> tuple[int, str]:
    """A file's bytes, counted, and their sha256."""
    with open_regular(path) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return file.tell(), digest


def unlike(release: Release, entry: FileEntry, got: str) -> IndexUnavailable:
    """The error for a file that is not the one that the manifest describes."""
    return IndexUnavailable(
        f"{entry.path} of {release} is not what its manifest lists: {got}, expected "
        f"{entry.size:,} bytes with sha256 {entry.sha256[:12]}. Run `nar index update` again; if "
        "that does not help, tell the maintainer, and take an older --revision meanwhile."
    )
