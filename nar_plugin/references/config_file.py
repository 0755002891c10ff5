"""Reads a JSON file that somebody else wrote: whatever is wrong with it, one NarError says so."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

from nar_plugin.errors import NarError

CONFIG = "config.json"
_LARGEST = 32 << 20  # bytes; the names of 21,000 classes take about one million
_WEIGHTS = (
    "it holds weights, and no forward: find_similar and `nar find` say which designs have its "
    "tensors; for anything else, build the model and ask it"
)
_KINDS = {  # of files that are taken for a model
    ".py": "write the module, a colon and what makes the model: my_module:MyModel",
    **dict.fromkeys((".pt", ".pth", ".bin", ".ckpt", ".safetensors", ".gguf"), _WEIGHTS),
}
FILES = frozenset((*_KINDS, ".json"))  # endings of what is a path and no name


def config_file(path: Path) -> Path:
    """The absolute path of a `config.json` that is named, or whose folder is.

    Raises:
        NarError: There is no such file, or it is another kind of file.
    """
    try:
        path = path.expanduser().absolute()
        file = path / CONFIG if path.is_dir() else path
        hint = _KINDS.get(file.suffix)
        if not os.path.lexists(file):
            hint = hint or f"give a folder with a {CONFIG}, or such a file"
            hint = "check the path" if hint is _WEIGHTS else hint
            raise NarError(f"{file} does not exist: {hint}")
        if hint:
            raise NarError(f"{file} is no {CONFIG}: {hint}")
    except (OSError, RuntimeError, ValueError) as error:  # no such user, a loop of links
        raise NarError(
            f"{str(path)!r} cannot be read as a path: {error}. Give a folder with a {CONFIG}, or "
            "such a file"
        ) from error
    return file


def read_object(file: Path) -> dict[str, Any]:
    """The JSON object in a file. Only a regular file is opened, so nothing is waited for.

    Raises:
        NarError: It cannot be read, is too large, or holds no JSON object.
    """
    try:
        content = json.loads(_bytes(file))
    except OSError as error:
        problem = error.strerror or error
        raise NarError(f"{file} cannot be read: {problem}. Check its permissions") from error
    except RecursionError as error:
        raise NarError(f"{file} is not a config: it is nested too deeply") from error
    except ValueError as error:  # no JSON, not UTF-8, or an integer of thousands of digits
        raise NarError(f"{file} is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise NarError(f"{file} is not a config: it holds no object")
    return content


def _bytes(file: Path) -> bytes:
    if not stat.S_ISREG(file.stat().st_mode):
        raise NarError(
            f"{file} is not a config: it is no regular file but a folder, pipe or device"
        )
    # Somebody may have put a pipe in its place since: to open that would wait for a writer.
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NarError(f"{file} is not a config: it is no regular file any more")
        content = opened.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise NarError(
            f"{file} is larger than {_LARGEST >> 20} MiB, which no config is: is it a file of "
            "weights? Build the model and call find_similar(model)"
        )
    return content
