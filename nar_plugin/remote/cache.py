"""Files of a repository in the Hub's cache: described by the server, proven, fetched, linked.

The cache is huggingface_hub's own: contents by their hash (`blobs`), a folder of links for each
commit (`snapshots`), and which commit a branch or a tag is (`refs`). huggingface_hub 2.4 itself
takes the name of a blob as the server's `ETag` has it, also one that leads out of the cache, and
waits as long as `Retry-After` says; so files are placed here.
https://huggingface.co/docs/huggingface_hub/guides/manage-cache
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import copyfile
from tempfile import mkdtemp
from typing import Any, Literal

from nar_plugin.errors import IndexUnavailable
from nar_plugin.regular_files import is_there, open_regular, read_regular
from nar_plugin.remote.failures import explained
from nar_plugin.remote.proven_names import (
    inside,
    is_commit,
    is_name,
    is_repository,
    proven_blob,
    proven_commit,
)
from nar_plugin.remote.resuming import resume
from nar_plugin.remote.waiting import patiently

MAIN = "main"
SMALL = 1 << 24  # bytes of a config or a manifest
LARGEST = 1 << 34  # bytes of a file that anybody may ask us to fetch


@dataclass(frozen=True)
class Held:
    """A file as the server describes it, each word of it proven.

    Attributes:
        path: In the repository.
        commit: Which commit the revision is.
        blob: The hash that names its content: 40 digits of git's, or 64 of a sha256.
        size: In bytes.
    """

    path: str
    commit: str
    blob: str
    size: int


@dataclass(frozen=True)
class Place:
    """From where, to where, and as whom: None is what the environment says."""

    repository: str
    cache_dir: str | Path | None = None
    token: str | bool | None = None
    kind: Literal["dataset", "model"] = "dataset"

    @property
    def folder(self) -> Path:
        """Where the cache keeps everything of the repository.

        Raises:
            IndexUnavailable: The repository's name is none.
        """
        from huggingface_hub import constants

        old = self.kind == "model" and is_name(self.repository)  # such as gpt2
        if not (old or is_repository(self.repository)):
            raise IndexUnavailable(f"{self.repository!r} is no repository: expected owner/name.")
        name = f"{self.kind}s--{self.repository.replace('/', '--')}"
        return Path(self.cache_dir or constants.HF_HUB_CACHE) / name

    def describe(self, path: str, revision: str, most: int = LARGEST) -> Held:
        """What the server says of a file.

        Args:
            path: In the repository.
            revision: A branch, a tag or a commit.
            most: Bytes that the file may have.

        Raises:
            IndexUnavailable: It has no such file, did not answer, or said what cannot be.
        """
        from huggingface_hub import constants, get_hf_file_metadata

        inside(self.folder, f"refs/{revision}")  # no question about what is no name
        source = f"{constants.ENDPOINT} for {path} of {self.repository}"
        with explained(self.repository, path, self.kind, revision):
            address = self.address(path, revision)
            found = patiently(lambda: get_hf_file_metadata(address, token=self.token))
        commit = proven_commit(found.commit_hash, source)
        if is_commit(revision) and commit != revision:
            raise IndexUnavailable(f"{source} says that commit {revision} is {commit}.")
        blob, size = proven_blob(found.etag, source), found.size
        if type(size) is not int or not 0 <= size <= most:
            raise IndexUnavailable(
                f"{source} says that it has {size} bytes, expected at most {most:,}. Take another "
                "--revision, or tell its maintainer."
            )
        return Held(path, commit, blob, size)

    def address(self, path: str, revision: str) -> str:
        """Where the Hub gives a file."""
        from huggingface_hub import hf_hub_url

        return hf_hub_url(self.repository, path, repo_type=self.kind, revision=revision)

    def blob(self, held: Held) -> Path:
        """The place of a file's content."""
        return inside(self.folder, f"blobs/{held.blob}")

    def snapshot(self, commit: str, path: str) -> Path:
        """The place of a file in the folder of a commit."""
        return inside(self.folder, f"snapshots/{commit}/{path}")

    def fetch(self, held: Held, check: Callable[[Path], object] | None = None) -> Path:
        """Have a file in the folder of its commit; nothing is fetched that is there and right.

        Args:
            held: Of `describe`.
            check: Raises an IndexUnavailable unless a file has the right content; None for size
                and, of a blob that is named by it, sha256.

        Raises:
            IndexUnavailable: It could not be had; what came is kept for the next attempt.
        """
        check = check or partial(_check, held)
        target = self.blob(held)
        link = self.snapshot(held.commit, held.path)
        with explained(self.repository, held.path, self.kind):
            if is_there(target):
                try:
                    check(target)
                except IndexUnavailable:
                    target.unlink()
            address = self.address(held.path, held.commit)
            resume(address, target, held.size, check, self.token)
            _link(link, target)
        return link

    def small(self, path: str, revision: str = MAIN) -> Path:
        """Have a small file as the Hub has it now, such as a config.

        Raises:
            IndexUnavailable: It could not be had, or has more than `SMALL` bytes.
        """
        held = self.describe(path, revision, SMALL)
        place = self.fetch(held)
        with explained(self.repository, path, self.kind):
            self.note(revision, held.commit)
        return place

    def note(self, revision: str, commit: str) -> None:
        """Remember which commit a branch or a tag is, for the time without a network.

        Raises:
            OSError: The place cannot be written to.
        """
        if not is_commit(revision):
            place = inside(self.folder, f"refs/{revision}")
            place.parent.mkdir(parents=True, exist_ok=True)
            _replace(place, lambda new: new.write_text(commit))

    def cached(self, path: str, revision: str) -> Path | None:
        """A file as the cache has it, or None; asks nobody.

        Raises:
            IndexUnavailable: The repository or the revision is no such name.
        """
        commit = revision
        if not is_commit(revision):
            try:
                commit = read_regular(inside(self.folder, f"refs/{revision}"), 64).decode().strip()
            except (OSError, ValueError):
                return None
            if not is_commit(commit):
                return None
        place = self.snapshot(commit, path)
        return place if is_there(place) else None


def _check(held: Held, path: Path) -> None:
    """Refuse a file that is not the one that the server described."""
    with open_regular(path) as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        size = file.tell()
    if size != held.size or (len(held.blob) == 64 and sha256 != held.blob):
        raise IndexUnavailable(
            f"{held.path} has {size:,} bytes with sha256 {sha256[:12]}, the Hub announced "
            f"{held.size:,} bytes of {held.blob[:12]}. Run the command again."
        )


def _link(place: Path, target: Path) -> None:
    """Have a link in the folder of a commit, or a copy where there can be no links."""
    with suppress(OSError):
        if place.samefile(target):
            return
    place.parent.mkdir(parents=True, exist_ok=True)

    def make(new: Path) -> None:
        try:
            new.symlink_to(os.path.relpath(target, place.parent))
        except OSError:
            copyfile(target, new)

    _replace(place, make)


def _replace(place: Path, make: Callable[[Path], Any]) -> None:
    """Make a file beside its place and move it there in one step."""
    stage = Path(mkdtemp(dir=place.parent, prefix="."))
    try:
        make(stage / place.name)
        (stage / place.name).replace(place)
    finally:
        (stage / place.name).unlink(missing_ok=True)
        stage.rmdir()
