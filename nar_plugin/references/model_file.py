"""A file that holds a model, or such an object in hand, to the module that computes the same.

Plugins read the formats (`nar_file_formats`). A reader gets an open file and works behind the wall
of `guard.py`, so it opens no other file and unpickles nothing. In a forked child its memory is
limited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from nar_plugin import isolation, manager
from nar_plugin.errors import NarError
from nar_plugin.hookspecs import FileFormat
from nar_plugin.references.configuration import from_file
from nar_plugin.references.guard import DataOnly
from nar_plugin.regular_files import is_there, open_regular

if TYPE_CHECKING:
    from torch import nn

Result = TypeVar("Result")
_MOST_MEMORY = 1 << 30  # bytes beyond what the process already has


def formats() -> Iterator[FileFormat]:
    """Every format that a plugin reads."""
    for _, found in manager.call_each("nar_file_formats"):
        yield from found


def is_model_file(path: Path) -> bool:
    """Whether a plugin reads files with this ending."""
    return bool(path.suffix) and any(path.name.lower().endswith(each.endings) for each in formats())


def from_path(path: Path) -> nn.Module:
    """The model of a file that a plugin reads, else of a `config.json` or its folder.

    Raises:
        NarError: It cannot be read; the text has the file, the format and the reason.
    """
    model = _from_model_file(path)
    return from_file(path) if model is None else model


def _from_model_file(path: Path) -> nn.Module | None:
    """The module of a file; None if no format has its ending, or it is of none of them."""
    try:
        path = path.expanduser().absolute()
    except (RuntimeError, ValueError):  # no such user, or no path; a config's reader says so
        return None
    candidates = [each for each in formats() if path.name.lower().endswith(each.endings)]
    if not candidates or not is_there(path):
        return None
    isolation.limit_memory(_MOST_MEMORY)
    try:
        with open_regular(path) as file:
            for each in candidates:
                if each.holds is None or _read(path, each, each.holds, file):
                    return _read(path, each, each.read, file)
    except OSError as error:
        raise NarError(f"{path} cannot be read: {error.strerror or error}") from error
    return None


def from_object(candidate: object) -> nn.Module | None:
    """The module that an object in hand is converted to; None if no plugin knows it."""
    converters = (each.converts for each in formats() if each.converts is not None)
    models = (convert(candidate) for convert in converters)
    return next((model for model in models if model is not None), None)


def _read(
    path: Path, format: FileFormat, read: Callable[[BufferedReader], Result], file: BufferedReader
) -> Result:
    """What the reader returns for the file, behind the wall."""
    file.seek(0)
    try:
        with DataOnly(str(path)):
            return read(file)
    except (Exception, SystemExit) as error:
        problem = str(error).strip() or type(error).__name__
        raise NarError(f"{path} cannot be read as {format.name}: {problem[:500]}") from error
