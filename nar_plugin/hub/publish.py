"""Publish an index: one commit on top of what is there, then perhaps a tag.

What is published already is never lost: the new index must hold every shard and tombstone of the
published one, and the commit names the one that it was compared with, so the Hub refuses it when
somebody was faster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nar_plugin.errors import NarError
from nar_plugin.hub.download import Release, check_content, read_manifest_at
from nar_plugin.hub.repository import KIND, short
from nar_plugin.hub.repository_cards import index_card
from nar_plugin.index import ArchitectureIndex
from nar_plugin.index.store.folder import present, read_verified
from nar_plugin.index.store.manifest import LARGEST_MANIFEST, MANIFEST, Manifest
from nar_plugin.index.store.shards import read_tombstones
from nar_plugin.remote.cache import MAIN, Place
from nar_plugin.remote.failures import Absent, explained, status_of
from nar_plugin.remote.proven_names import is_repository, proven_commit
from nar_plugin.remote.waiting import within

if TYPE_CHECKING:
    from huggingface_hub import HfApi

CARD = "README.md"


@dataclass(frozen=True)
class Published:
    """What a publication did.

    Attributes:
        repository: Such as `owner/name`.
        commit: The commit that holds the index.
        tag: The tag that was set on it, or None.
        sent: The files that the repository did not hold, by path.
        size: Their bytes.
    """

    repository: str
    commit: str
    tag: str | None
    sent: tuple[str, ...]
    size: int


@dataclass(frozen=True)
class Head:
    """What a repository holds before a publication: its commit and, if there is an index, that."""

    commit: str
    manifest: Manifest | None
    tombstones: frozenset[str]
    tags: dict[str, str]


def publish(
    folder: str | Path,
    repository: str,
    *,
    tag: str | None = None,
    replace: bool = False,
    private: bool | None = None,
    token: str | bool | None = None,
) -> Published:
    """Publish the index in a folder as one commit; the folder is only read.

    Publishing the same index again sends nothing, so an interrupted publication is simply repeated.

    Example:
        ```python
        publish("my-index", "owner/architectures", tag="2026.11.21")
        ```

    Args:
        folder: What `ArchitectureIndex.save` wrote; all of it is verified first.
        repository: Created as a dataset repository when it does not exist.
        tag: Name of the release.
        replace: Also when the published index has shards that this one lacks, as after a new
            encoder. Old commits and tags keep them.
        private: Whether a repository that is created is private; None for the account's default.
        token: A token with write access; None for the one of `hf auth login` or HF_TOKEN.

    Raises:
        NarError: Somebody published meanwhile, or the tag exists; nothing was changed.
        IndexUnavailable: The folder is no sound index, or the Hub did not answer.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

    if not is_repository(repository):
        raise NarError(f"{repository!r} is no repository: expected owner/name.")
    folder = Path(folder)
    index = ArchitectureIndex.load(folder)
    for entry in present(folder, index.manifest):  # also what no search reads
        read_verified(folder, entry)
    card = index_card(index, repository).encode()
    api = HfApi(token=token)
    with explained(repository, "a new repository"):
        api.create_repo(repository, repo_type=KIND, private=private, exist_ok=True)
    head = _head(api, Place(repository, token=token))
    there = {entry.path: entry.sha256 for entry in head.manifest.files} if head.manifest else {}
    manifest = to_be_held(index.manifest, folder, there)
    check_tag(head, repository, tag, manifest)
    if head.manifest is not None and not replace:
        check_descent(head, manifest, frozenset(index.contents.tombstones), repository)
    new = [entry for entry in manifest.files if there.get(entry.path) != entry.sha256]
    gone = sorted(set(there) - {entry.path for entry in manifest.files})
    commit = head.commit
    if head.manifest != manifest:
        adds = [CommitOperationAdd(entry.path, folder / entry.path) for entry in new]
        adds.append(CommitOperationAdd(MANIFEST, manifest.to_json()))
        adds.append(CommitOperationAdd(CARD, card))
        deletes = [CommitOperationDelete(path) for path in gone]
        with explained(repository, "the commit"), unless_moved(repository, folder):
            commit = api.create_commit(
                repository,
                [*adds, *deletes],
                repo_type=KIND,
                revision=MAIN,
                parent_commit=head.commit,
                commit_message=f"Index {manifest.revision}: {manifest.graphs:,} graphs",
            ).oid
    if tag is not None and tag not in head.tags:
        with explained(repository, f"tag {tag}"):
            api.create_tag(repository, tag=tag, revision=commit, repo_type=KIND)
    sent = tuple(entry.path for entry in new)
    return Published(repository, commit, tag, sent, sum(entry.size for entry in new))


def to_be_held(manifest: Manifest, folder: Path, there: Mapping[str, str]) -> Manifest:
    """The manifest without graphs that neither the folder nor the repository has.

    An update leaves graphs out, so the folder may lack those that are published already.

    Args:
        manifest: Of the folder.
        folder: Is to be published.
        there: The sha256 of what the repository holds, by path.
    """
    here = present(folder, manifest)
    held = [one for one in manifest.files if one in here or there.get(one.path) == one.sha256]
    return replace(manifest, files=tuple(held))


def check_tag(head: Head, repository: str, tag: str | None, manifest: Manifest) -> None:
    """Refuse a tag that is another release's."""
    if tag in head.tags and (head.tags[tag] != head.commit or head.manifest != manifest):
        raise NarError(
            f"{repository} has the tag {tag} already, at {head.tags[tag][:8]}: a release never "
            "changes. Nothing was published; take another --tag."
        )


def check_descent(
    head: Head, manifest: Manifest, tombstones: frozenset[str], repository: str
) -> None:
    """Refuse an index that would lose shards or tombstones of the published one."""
    assert head.manifest is not None
    mine = {(entry.path, entry.sha256) for entry in manifest.files}
    kinds = ("vectors", "rows")
    theirs = [entry for kind in kinds for entry in head.manifest.of_kind(kind)]
    lost = sorted(entry.path for entry in theirs if (entry.path, entry.sha256) not in mine)
    lost += [f"the tombstone of {name}" for name in sorted(head.tombstones - tombstones)]
    if lost:
        raise NarError(
            f"{short(repository, head.commit)} (revision {head.manifest.revision}) holds what this "
            f"index lacks: {', '.join(lost[:3])}{' and more' if lost[3:] else ''}. Nothing was "
            "published. Somebody published after you had begun: `nar index update` fetches theirs, "
            "add your rows to that and publish again. --replace puts yours in its place."
        )


@contextmanager
def unless_moved(repository: str, folder: Path) -> Iterator[None]:
    """Say what to do when the branch has moved since it was looked at: the Hub's status 412."""
    try:
        yield
    except Exception as error:
        if status_of(error) not in (409, 412):
            raise
        raise NarError(
            f"Somebody published to {repository} at this moment; nothing of {folder} was "
            "published and nothing of it is lost. Run `nar index update`, add your rows to what "
            "came, and publish again."
        ) from error


def _head(api: HfApi, place: Place) -> Head:
    """What the branch `main` holds now."""
    name = place.repository
    with explained(name, f"revision {MAIN}"):
        refs = within(lambda: api.list_repo_refs(name, repo_type=KIND))
        tags = {tag.name: tag.target_commit for tag in refs.tags}
        info = within(lambda: api.repo_info(name, repo_type=KIND, revision=MAIN))
    commit = proven_commit(info.sha, f"{api.endpoint} for {name}")
    try:
        held = place.describe(MANIFEST, commit, LARGEST_MANIFEST)
    except Absent:
        return Head(commit, None, frozenset(), tags)
    path = place.fetch(held, read_manifest_at)
    manifest = read_manifest_at(path)
    for entry in manifest.of_kind("tombstones"):
        release = Release(place, MAIN, commit, manifest, path.parent)
        place.fetch(place.describe(entry.path, commit), partial(check_content, release, entry))
    return Head(commit, manifest, frozenset(read_tombstones(path.parent, manifest)), tags)
