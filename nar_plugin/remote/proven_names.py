"""Names that come from outside, proven before they become a path.

A server, a manifest or a file of the cache says how a blob, a commit or a file is called. Whoever
joins such a name to a folder lets them choose the place: an absolute path replaces the folder, and
`..` leaves it. So every such name passes through here.
"""

from __future__ import annotations

import re
from pathlib import Path

from nar_plugin.errors import IndexUnavailable

LONGEST_NAME = 255  # bytes of one part of a path, as file systems have it

_NAME = re.compile(r"[A-Za-z0-9_][\w.-]{0,95}", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_BLOB = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def is_repository(text: str) -> bool:
    """Whether a text has the form `owner/name`; says nothing about whether there is such a one."""
    owner, slash, name = text.partition("/")
    return bool(slash) and is_name(owner) and is_name(name)


def is_name(text: str) -> bool:
    """Whether a text has the form of an owner, of a repository, or of an old model, `gpt2`."""
    # The Hub has no `--` and no `..` in names: in its cache `a/b--c` and `a--b/c` were one folder.
    return _NAME.fullmatch(text) is not None and "--" not in text and ".." not in text


def is_commit(text: object) -> bool:
    """Whether it is a commit: 40 hexadecimal digits."""
    return isinstance(text, str) and _COMMIT.fullmatch(text) is not None


def proven_commit(text: object, source: str) -> str:
    """The text, which is a commit.

    Args:
        text: What a server says.
        source: Who says so, for the message.

    Raises:
        IndexUnavailable: It is none.
    """
    if not is_commit(text):
        raise _strange("a commit of 40 hexadecimal digits", text, source)
    return str(text)


def proven_blob(text: object, source: str) -> str:
    """The text, which is the hash of a content: git's of 40 digits, or a sha256 of 64.

    Args:
        text: What a server says.
        source: Who says so, for the message.

    Raises:
        IndexUnavailable: It is none.
    """
    if not isinstance(text, str) or not _BLOB.fullmatch(text):
        raise _strange("a hash of 40 or 64 hexadecimal digits", text, source)
    return text


def inside(folder: Path, name: str) -> Path:
    """The place in a folder that a name means.

    Args:
        folder: May itself be a link, or lie behind one.
        name: One part or several with slashes between them, such as `shards/00000.rows.parquet`.

    Raises:
        IndexUnavailable: The name means no place in the folder, or a link leads out of it.
    """
    if not all(_is_plain(part) for part in name.split("/")):
        raise IndexUnavailable(
            f"{name[:80]!a} is no name of a file or folder inside {folder}: nothing was read or "
            "written there. Check the repository and the revision; if they are right, tell the "
            "maintainer."
        )
    path = folder / name
    try:
        held = path.parent.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # a loop of links
        held = False
    if not held:
        raise IndexUnavailable(
            f"A link leads from {path.parent} out of {folder}: nothing was read or written there. "
            "Remove the link and run the command again."
        )
    return path


def _is_plain(part: str) -> bool:
    """Whether it is one name, on any system: no drive, no stream, no way up."""
    return (
        part not in ("", ".", "..")
        and part.isprintable()
        and not set(part) & set('\\:<>"|?*')
        and len(part.encode(errors="replace")) <= LONGEST_NAME
    )


def _strange(expected: str, got: object, source: str) -> IndexUnavailable:
    return IndexUnavailable(
        f"{source} says {str(got)[:80]!a} where {expected} was expected. It is no Hub, or one that "
        "must not be trusted; a login page of your network can answer in its place. Check the "
        "network and HF_ENDPOINT, then run the command again."
    )
