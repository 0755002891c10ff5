"""Which index answers when none is named: the downloaded one, else the embedded one.

Nothing here asks the network: a query never waits for it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from nar_plugin.errors import IndexIncompatible, IndexUnavailable
from nar_plugin.hub.pointer import Pointer, age_text, read_pointers
from nar_plugin.hub.repository import short
from nar_plugin.index import EMBEDDED
from nar_plugin.index.manifest import MANIFEST, Manifest

logger = logging.getLogger("nar_plugin")
Opened = TypeVar("Opened")


def first_readable(opened: Callable[[Path], Opened]) -> Opened:
    """The active index, the one before it, or the embedded one: the first that can be read.

    When it is not the first of them, one line is logged as a warning: which could not be read and
    why, and which answers in its place.

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
        except (IndexUnavailable, IndexIncompatible) as error:
            if folder == EMBEDDED:
                raise
            problem = problem or error
        else:
            if problem is not None:
                logger.warning("%s %s", problem, line())
            return index
    raise AssertionError("the embedded index is the last candidate")


def answering() -> str:
    """One line: which index answers, its revision, its size and its age."""
    try:
        pointers = read_pointers()
    except IndexUnavailable:
        pointers = ()
    for folder, line in candidates(pointers):
        if (folder / MANIFEST).exists():
            return line()
    return "No index answers."


def candidates(pointers: tuple[Pointer, ...]) -> Iterator[tuple[Path, Callable[[], str]]]:
    """The folders that may answer, best first, each with what makes its line."""
    for pointer in pointers:
        source = short(pointer.repository, pointer.commit)
        yield pointer.folder, partial(_line, pointer.folder, source, pointer.age)
    yield EMBEDDED, partial(_line, EMBEDDED, "embedded", None)


def _line(folder: Path, source: str, age: str | None) -> str:
    manifest = Manifest.from_json((folder / MANIFEST).read_bytes())
    made = datetime.fromisoformat(manifest.created).replace(tzinfo=UTC)
    return (
        f"The index {source} answers: revision {manifest.revision}, {manifest.graphs:,} graphs, "
        f"{manifest.size / 1e6:.1f} MB, {age or age_text(made)}."
    )
