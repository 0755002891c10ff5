"""Where the bytes of a checkpoint are: a local file, or one of the Hub. Few are read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Protocol

from nar_plugin.errors import NarError
from nar_plugin.regular_files import open_regular


class Source(Protocol):
    """Bytes of which any part can be read."""

    @property
    def name(self) -> str:
        """What an error calls it."""

    @property
    def size(self) -> int:
        """How many bytes there are."""

    def read(self, start: int, count: int) -> bytes:
        """So many bytes from a place on; fewer where it ends before."""


@dataclass(frozen=True)
class LocalFile:
    """A regular file that is open."""

    name: str
    size: int
    file: BufferedReader

    def read(self, start: int, count: int) -> bytes:
        """So many bytes from a place on; fewer where the file ends before."""
        self.file.seek(start)
        return self.file.read(max(min(count, self.size - start), 0))


@contextmanager
def opened(path: Path) -> Iterator[LocalFile]:
    """The file at a path.

    Raises:
        NarError: It cannot be read, or it is a folder, a pipe or a device.
    """
    try:
        with open_regular(path) as file:
            yield LocalFile(str(path), os.fstat(file.fileno()).st_size, file)
    except OSError as error:
        raise NarError(f"{path} cannot be read: {error.strerror or error}") from error


def refused(source: Source | str, form: str, reason: str) -> NarError:
    """The error for a file that is not what it says."""
    name = source if isinstance(source, str) else source.name
    return NarError(f"{name} cannot be read as {form}: {reason[:300]}")
