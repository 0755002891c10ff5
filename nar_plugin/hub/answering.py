"""Which index answers when none is named: the downloaded one, else the embedded one.

Nothing here asks the network: a query never waits for it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import TypeVar

from nar_plugin.encoder.config import check_versions
from nar_plugin.errors import IndexIncompatible, IndexUnavailable, NarError
from nar_plugin.hub.pointer import Pointer, pointer_path, read_pointers, write_pointer
from nar_plugin.hub.repository import name_in_cache, short
from nar_plugin.index import EMBEDDED, ArchitectureIndex
from nar_plugin.index.store.folder import present, read_manifest, read_verified, reencoding
from nar_plugin.index.store.manifest import MANIFEST, Manifest
from nar_plugin.regular_files import is_there

logger = logging.getLogger("nar_plugin")
Opened = TypeVar("Opened", bound=ArchitectureIndex)


def first_readable(opened: Callable[[Path], Opened]) -> Opened:
    """The active index, the one before it, or the embedded one: the first that can answer.

    When it is not the first of them, one line is logged as a warning, once in a process: which
    could not be read and why, and which answers in its place.

    Args:
        opened: Reads the index in a folder.

    Raises:
        IndexUnavailable: Not even the embedded one can be read.
        IndexIncompatible: Likewise.
    """
    problem: IndexUnavailable | IndexIncompatible | None = None
    try:
        pointers = read_pointers()
    except IndexUnavailable as error:
        pointers, problem = (), error
    for folder, line in candidates(pointers):
        try:
            index = opened(folder)
            check_usable(index.manifest, folder)
        except (IndexUnavailable, IndexIncompatible) as error:
            if folder == EMBEDDED:
                raise
            problem = problem or error
        else:
            if problem is not None:
                _warn_once(f"{problem} {line()}")
            elif logger.isEnabledFor(logging.INFO):
                logger.info(line())
            return index
    raise AssertionError("the embedded index is the last candidate")


def check_usable(manifest: Manifest, folder: Path) -> None:
    """Refuse an index that this version of nar-plugin cannot embed queries for.

    Args:
        manifest: Of the index.
        folder: Where it lies, for the message.

    Raises:
        IndexIncompatible: Its fingerprints are of another version, or its encoder is another than
            the embedded one and did not come with it, or is made for other labels.
        IndexUnavailable: The encoder that came with it is damaged.
    """
    ours = _embedded_manifest()
    if manifest.fingerprint != ours.fingerprint:
        raise IndexIncompatible(
            f"The index in {folder} has fingerprints of version {manifest.fingerprint}, this "
            f"nar-plugin computes {ours.fingerprint}: run `pip install --upgrade nar-plugin`, then "
            "`nar index update`."
        )
    if manifest.encoder_sha256 != ours.encoder_sha256 and not manifest.of_kind("encoder"):
        raise IndexIncompatible(
            f"The index in {folder} wants the encoder {manifest.encoder}, which did not come with "
            f"it; this nar-plugin has {ours.encoder}. `nar index update` fetches an index for "
            f"that; {reencoding(name_in_cache(folder) or str(folder))} makes the vectors anew, "
            "where the index has graphs."
        )
    if folder != EMBEDDED:
        for entry in manifest.of_kind("encoder"):
            read_verified(folder, entry)
    if manifest.of_kind("encoder"):
        check_versions(folder)


@lru_cache(maxsize=100)
def _warn_once(text: str) -> None:
    logger.warning(text)


@lru_cache(maxsize=1)
def _embedded_manifest() -> Manifest:
    return Manifest.from_json(read_manifest(EMBEDDED))


def active_folder() -> Path:
    """The folder of the index that should answer, whether or not it can.

    Raises:
        IndexUnavailable: It is not known which.
    """
    folder, _ = next(candidates(read_pointers()))
    return folder


def use(source: str) -> None:
    """Let another index that is here answer from now on.

    Args:
        source: `embedded`, or the repository of an index that was downloaded before.

    Raises:
        NarError: No index of that repository was downloaded, or the choice cannot be kept.
        IndexUnavailable: It is not whole any more.
        IndexIncompatible: It is of another version.
    """
    chosen = None
    if source != "embedded":
        with suppress(IndexUnavailable):
            here = [one for one in read_pointers(unused=True) if one.repository == source]
            chosen = here[0] if here else None
        if chosen is None:
            raise NarError(
                f"No index {source} is here: `nar index update {source}` fetches it. `nar index "
                "use embedded` lets the one that came with nar-plugin answer."
            )
        check_usable(Manifest.from_json(read_manifest(chosen.folder)), chosen.folder)
    try:
        write_pointer(chosen)
    except OSError as error:
        raise NarError(
            f"{pointer_path()} cannot be written: {error.strerror or error}. Set HF_HOME to a "
            "folder that you may write to."
        ) from error


def answering() -> str:
    """One line: which index answers, its revision, its size and its age."""
    try:
        pointers = read_pointers()
    except IndexUnavailable:
        pointers = ()
    for folder, line in candidates(pointers):
        if is_there(folder / MANIFEST):
            return line()
    return "No index answers."


def candidates(pointers: tuple[Pointer, ...]) -> Iterator[tuple[Path, Callable[[], str]]]:
    """The folders that may answer, best first, each with what makes its line."""
    for pointer in pointers:
        source = short(pointer.repository, pointer.commit)
        yield pointer.folder, partial(_line, pointer.folder, source)
    yield EMBEDDED, partial(_line, EMBEDDED, "embedded")


def _line(folder: Path, source: str) -> str:
    manifest = Manifest.from_json(read_manifest(folder))
    size = sum(entry.size for entry in present(folder, manifest))
    return (
        f"The index {source} answers: revision {manifest.revision}, {manifest.graphs:,} graphs, "
        f"{size / 1e6:.1f} MB, {manifest.age}."
    )
