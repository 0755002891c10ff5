"""Which downloaded index answers: one small file in HF_HOME, replaced in one step.

`HF_HOME/nar/active.json` names the repository and the commit. It is written after every file of
that commit has been downloaded and read, so a reader sees the old index or the new one. The one
before it is named too: it answers when files of the active one are lost or damaged.
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nar_plugin.errors import IndexUnavailable
from nar_plugin.hub.repository import hf_home, snapshot_folder
from nar_plugin.regular_files import read_regular
from nar_plugin.remote.proven_names import is_commit, is_repository

LARGEST = 1 << 14  # bytes; it has some hundred


@dataclass(frozen=True)
class Pointer:
    """A downloaded index.

    Attributes:
        repository: Such as `nar-plugin/architectures`.
        commit: The commit of it, 40 hexadecimal digits.
        revision: What was asked for: a branch, a tag or the commit.
        updated: When the Hub was last asked, an ISO time in UTC.
    """

    repository: str
    commit: str
    revision: str
    updated: str

    @property
    def folder(self) -> Path:
        """The folder of its files in the Hub's cache."""
        return snapshot_folder(self.repository, self.commit)


def pointer_path() -> Path:
    """The one stated place: `HF_HOME/nar/active.json`."""
    return hf_home() / "nar" / "active.json"


def read_pointers(*, unused: bool = False) -> tuple[Pointer, ...]:
    """The active index and the one before it; none where the embedded one is to answer.

    Args:
        unused: Also the one before it where the embedded one was put in its place.

    Raises:
        IndexUnavailable: The file is there and does not say which.
    """
    path = pointer_path()
    try:
        content = json.loads(read_regular(path, LARGEST))
        found = [_pointer(content[name]) for name in ("active", "previous") if content[name]]
        return tuple(found) if content["active"] or unused else ()
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise IndexUnavailable(
            f"{path} does not say which index is active ({error}). `nar index update` writes it."
        ) from error


def write_pointer(active: Pointer | None) -> None:
    """Make an index the active one, or with None the embedded; what was becomes the one before it.

    Raises:
        OSError: The place cannot be written to; the pointer is then what it was.
    """
    known: tuple[Pointer, ...] = ()
    with suppress(IndexUnavailable):  # unreadable: it is written anew
        known = read_pointers(unused=True)
    others = [one for one in known if active is None or _key(one) != _key(active)]
    content = {
        "active": asdict(active) if active else None,
        "previous": asdict(others[0]) if others else None,
    }
    path = pointer_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix="active.", suffix=".part")
    try:
        with os.fdopen(handle, "w") as file:
            json.dump(content, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def now() -> str:
    """The time for a pointer's `updated`."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _key(pointer: Pointer) -> tuple[str, str]:
    return pointer.repository, pointer.commit


def _pointer(fields: Any) -> Pointer:
    if not isinstance(fields, dict) or not all(isinstance(text, str) for text in fields.values()):
        raise ValueError("no object of texts")
    pointer = Pointer(**fields)
    if not is_repository(pointer.repository) or not is_commit(pointer.commit):
        raise ValueError(f"no repository and commit: {pointer.repository}@{pointer.commit}"[:80])
    if not pointer.revision.isprintable() or len(pointer.revision) > 200:
        raise ValueError(f"no revision: {pointer.revision[:80]!a}")
    if datetime.fromisoformat(pointer.updated).tzinfo is None:
        raise ValueError(f"no time zone: {pointer.updated}"[:80])
    return pointer
