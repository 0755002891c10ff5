"""Reads files that may be anything: a pipe, a device, a folder, a file without end.

`open` on a pipe waits until somebody writes into it, and a device may never end. Each function here
looks at what a path is before it reads, and reads no more than it was told to.
"""

from __future__ import annotations

import errno
import os
from io import BufferedReader
from pathlib import Path
from stat import S_ISREG


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file for reading; links are followed.

    Raises:
        OSError: It cannot be opened, or it is a folder, a pipe, a device or a socket.
    """
    try:
        _check(path, path.stat().st_mode)  # first: opening a device can already do something
        # A pipe that takes its place meanwhile must not block either.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY)
    except ValueError as error:  # a null character
        raise OSError(errno.EINVAL, str(error), str(path)) from error
    try:
        _check(path, os.fstat(handle).st_mode)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_regular(path: Path, most: int) -> bytes:
    """The content of a regular file, of a larger one the first `most + 1` bytes.

    Raises:
        OSError: See `open_regular`.
    """
    with open_regular(path) as file:
        return file.read(most + 1)


def is_regular(path: Path) -> bool:
    """Whether a path leads to a regular file; False where that cannot be known."""
    try:
        return S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def is_there(path: Path) -> bool:
    """Whether a path leads to something; False where that cannot be known."""
    try:
        path.stat()
    except (OSError, ValueError):
        return False
    return True


def resolved(path: Path) -> Path:
    """The path without links; as it is where that cannot be known, so that opening it says why."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a null character
        return path.absolute()


_BINARY = getattr(os, "O_BINARY", 0)


def _check(path: Path, mode: int) -> None:
    if not S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
