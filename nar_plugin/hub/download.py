"""One commit of an index into the Hub's cache: only what is missing, every byte verified.

The cache is huggingface_hub's own: contents by their hash, a folder of links for each commit. A
file that two commits share is there once, so an update fetches the new shards and the small files.
What came stays when something fails; the next try goes on at that byte.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from nar_plugin.errors import IndexUnavailable
from nar_plugin.hub.failures import explained
from nar_plugin.hub.repository import KIND, MAIN, short
from nar_plugin.hub.resuming import resume
from nar_plugin.index.manifest import LARGEST_MANIFEST, MANIFEST, FileEntry, Manifest

Read = TypeVar("Read")
LEFT_OUT = ("graphs",)  # more than all the rest together; no query reads them


@dataclass(frozen=True)
class Place:
    """From where, to where, and as whom: None is what the environment says."""

    repository: str
    cache_dir: str | Path | None = None
    token: str | bool | None = None

    def download(self, path: str, revision: str, **fields: Any) -> Path:
        """A file of the repository in the cache; asks the Hub when it is not there.

        Raises:
            IndexUnavailable: It could not be had; the text says why, and what helps.
        """
        from huggingface_hub import hf_hub_download

        with explained(self.repository, path):
            found = hf_hub_download(
                self.repository,
                path,
                repo_type=KIND,
                revision=revision,
                cache_dir=self.cache_dir,
                token=self.token,
                **fields,
            )
        return Path(found)

    def address(self, path: str, revision: str) -> str:
        """Where the Hub gives a file."""
        from huggingface_hub import hf_hub_url

        return hf_hub_url(self.repository, path, repo_type=KIND, revision=revision)


@dataclass(frozen=True)
class Release:
    """A commit of a repository: its manifest is here, what it lists may not be.

    Attributes:
        place: Where it comes from and goes to.
        revision: What was asked for.
        commit: Which commit that is.
        manifest: What the commit holds.
        folder: The commit's folder in the cache.
        graphs: Whether its graphs are wanted too.
    """

    place: Place
    revision: str
    commit: str
    manifest: Manifest
    folder: Path
    graphs: bool = False

    @property
    def files(self) -> tuple[FileEntry, ...]:
        """What a query needs, and the graphs where they are wanted."""
        left_out = () if self.graphs else LEFT_OUT
        return tuple(entry for entry in self.manifest.files if entry.kind not in left_out)

    def __str__(self) -> str:
        """Such as `owner/name@1a2b3c4d`."""
        return short(self.place.repository, self.commit)


def find_release(place: Place, revision: str | None = None) -> Release:
    """Ask the Hub which commit a revision is, and fetch that commit's manifest.

    Raises:
        IndexUnavailable: The Hub did not answer, or has no such thing.
        IndexIncompatible: The index there wants another version of nar-plugin.
    """
    from huggingface_hub import HfApi, constants

    name = revision or MAIN
    with explained(place.repository, f"revision {name}"):
        info = HfApi(token=place.token).repo_info(
            place.repository,
            repo_type=KIND,
            revision=name,
            timeout=constants.HF_HUB_ETAG_TIMEOUT,
        )
    commit = str(info.sha)
    path, manifest = sound(place, MANIFEST, commit, read_manifest_at)
    return Release(place, name, commit, manifest, path.parent)


def missing(release: Release) -> dict[FileEntry, Path]:
    """The files that the cache lacks, after a look at what the repository really holds.

    Returns:
        Of each the place of its content in the cache.

    Raises:
        IndexUnavailable: It lacks a file that its manifest lists, or holds another.
    """
    from huggingface_hub.hf_api import HfApi, RepoFile

    place = release.place
    with explained(place.repository, "list of files"):
        tree = HfApi(token=place.token).list_repo_tree(
            place.repository, recursive=True, revision=release.commit, repo_type=KIND
        )
        held = {file.path: file for file in tree if isinstance(file, RepoFile)}
    blobs = release.folder.parents[1] / "blobs"
    absent = {}
    for entry in release.files:
        file = held.get(entry.path)
        sha256 = file.lfs.sha256 if file is not None and file.lfs else None
        if file is None or file.size != entry.size or sha256 not in (None, entry.sha256):
            raise unlike(release, entry, "it is missing" if file is None else "it is another file")
        blob = blobs / (sha256 or file.blob_id)
        if not blob.exists():
            absent[entry] = blob
    return absent


def fetch(release: Release, absent: Mapping[FileEntry, Path]) -> Path:
    """Have every file of a release in the cache, each with the sha256 of the manifest.

    Args:
        release: Of `find_release`.
        absent: Of `missing`.

    Returns:
        The folder, which `ArchitectureIndex.load` reads.

    Raises:
        IndexUnavailable: A file could not be had; what came whole is kept.
    """
    place, commit = release.place, release.commit
    for entry in release.files:
        check = partial(check_content, release, entry)
        if entry in absent:
            with explained(place.repository, entry.path):
                address = place.address(entry.path, commit)
                resume(address, absent[entry], entry.size, check, place.token)
        sound(place, entry.path, commit, check)
    return release.folder


def sound(place: Place, path: str, commit: str, read: Callable[[Path], Read]) -> tuple[Path, Read]:
    """Download a file and read it; once more from the Hub if the cached one is damaged.

    Raises:
        IndexUnavailable: The second one is damaged too.
    """
    found = place.download(path, commit)
    try:
        return found, read(found)
    except IndexUnavailable:
        found = place.download(path, commit, force_download=True)
        return found, read(found)


def read_manifest_at(path: Path) -> Manifest:
    """The manifest in a file of the cache."""
    with path.open("rb") as file:
        return Manifest.from_json(file.read(LARGEST_MANIFEST + 1))


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
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return file.tell(), digest


def unlike(release: Release, entry: FileEntry, got: str) -> IndexUnavailable:
    """The error for a file that is not the one that the manifest describes."""
    return IndexUnavailable(
        f"{entry.path} of {release} is not what its manifest lists: {got}, expected "
        f"{entry.size:,} bytes with sha256 {entry.sha256[:12]}. Run `nar index update` again; if "
        "that does not help, tell the maintainer, and take an older --revision meanwhile."
    )
