"""Loads TorchScript archives, after a look at what they would do.

TorchScript is a language of its own, which torch's C++ interprets. Its programs reach no Python,
and torch reads their pickles in C++, which makes tensors and the program's own classes alone. What
is left: the few operators that open files, operators and classes that somebody's C++ library has
registered, and loops without end. Before anything is loaded, the source in the archive is searched
for the first two, and refused. Loops end with the process that asks (`NAR_TRACE_SECONDS`).
"""

from __future__ import annotations

import re
import warnings
from io import BufferedReader
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile, is_zipfile

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from .lowered import is_weight, program

_NAMESPACES = frozenset(("aten", "prim", "prims", "quantized", "torchvision"))
_OPERATOR = re.compile(r"(?<![\w.])ops\s*\.\s*(\w+)\s*\.\s*(\w+)")
_FILES = re.compile(r"\b(?:torch|aten)\s*\.\s*(save|load|from_file|_load_\w+)\s*\(")
_CLASSES = re.compile(r"torch\s*\.\s*classes\s*\.\s*(\w+)")
_MOST_CODE = 64 << 20  # bytes
_MOST_FILES = 1_000_000


def has_code(file: BufferedReader) -> bool:
    """Whether this is a zip with TorchScript's source."""
    if not is_zipfile(file):
        return False
    try:
        with ZipFile(file) as archive:
            return any(map(_is_code, archive.namelist()))
    except (BadZipFile, ValueError, NotImplementedError):
        return False


def load(file: BufferedReader) -> nn.Module:
    """The program as a module.

    Raises:
        ValueError: The archive is damaged or too large, or its program would do more than compute.
    """
    try:
        with ZipFile(file) as archive:
            _check(archive)
    except (BadZipFile, NotImplementedError, EOFError, UnicodeDecodeError) as error:
        raise ValueError(f"the archive is damaged: {error}") from error
    without_weights: Any = _WithoutWeights()  # type: ignore[no-untyped-call]
    with without_weights, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that TorchScript is deprecated
        # By its number: of a file in hand torch makes three copies.
        number = Path(f"/dev/fd/{file.fileno()}")
        file.seek(0)
        opened = number if number.exists() else file
        script = torch.jit.load(opened, map_location="meta")  # type: ignore[no-untyped-call]
        return program(script)


class _WithoutWeights(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Lets torch load tensors to meta, but for those whose values are read.

    Torch looks for equal constants, to keep one of them. Those on meta are not compared.
    """

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is torch.ops.aten.equal.default and any(each.is_meta for each in args):
            return args[0] is args[1]
        if func is torch.ops.aten._to_copy.default and not is_weight(args[0]):
            return args[0]
        return func(*args, **kwargs)


def _check(archive: ZipFile) -> None:
    """Raise where the archive is too large, or its program would do more than compute."""
    entries = archive.filelist
    if len(entries) > _MOST_FILES:
        raise ValueError(f"the archive has {len(entries):,} files")
    total = sum(entry.file_size for entry in entries)
    if archive.fp is None or total > 2 * archive.fp.seek(0, 2) + _MOST_CODE:
        raise ValueError(f"the archive unpacks to {total:,} bytes, much more than it has")
    left = _MOST_CODE
    for entry in entries:
        if not (_is_code(entry.filename) or entry.filename.endswith(".pkl")):
            continue
        left -= entry.file_size
        if left < 0:
            raise ValueError(f"the archive has over {_MOST_CODE >> 20} MiB of source")
        text = archive.read(entry).decode("utf-8" if _is_code(entry.filename) else "latin-1")
        _refuse(text, is_code=_is_code(entry.filename))


def _is_code(name: str) -> bool:
    return "/code/" in f"/{name}" and name.endswith(".py")


def _refuse(text: str, *, is_code: bool) -> None:
    """Raise where a text names what does more than compute."""
    if found := next((name for name in _CLASSES.findall(text) if name != "quantized"), None):
        raise ValueError(f"it wants the C++ class torch.classes.{found[:60]}")
    if not is_code:
        return
    if match := _FILES.search(text):
        raise ValueError(f"it calls {match.group(1)}, which opens files")
    for namespace, name in _OPERATOR.findall(text):
        if namespace not in _NAMESPACES or name in ("save", "from_file"):
            raise ValueError(f"it calls {namespace[:60]}::{name[:60]}, which is not torch's own")
