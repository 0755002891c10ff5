"""A file that `torch.save` wrote: a zip with a pickle and storages, or the older row of pickles.

Neither is unpickled (`pickled_shapes.py`), and no storage is read.
"""

from __future__ import annotations

import struct
import zipfile
from collections import deque
from collections.abc import Iterator
from io import BytesIO
from typing import IO, Any

from nar_plugin.checkpoints.pickled_shapes import Made, Shaped, read_pickle
from nar_plugin.checkpoints.sources import LocalFile, refused
from nar_plugin.checkpoints.tensors import LONGEST_NAME, MOST, Tensor

FORM = "a file of torch.save"
LONGEST = 64 << 20  # bytes of a pickle
DIRECTORY = 16 << 20  # bytes of a zip's list of files; 50 to 100 for each storage
MAGIC = 0x1950A86A20F9469CFC6C  # torch.serialization.MAGIC_NUMBER
_END = 22  # bytes of a zip's last record
_COMMENT = 1 << 16
_DEEPEST = 64  # objects in objects


def is_zip(file: LocalFile) -> bool:
    """Whether a file begins as a zip does."""
    return file.read(0, 4) == b"PK\x03\x04"


def is_program(file: LocalFile) -> bool:
    """Whether it is a zip of TorchScript or torch.export, which has a forward."""
    if not is_zip(file):
        return False
    try:
        names = _zip(file).namelist()
    except (zipfile.BadZipFile, NotImplementedError, struct.error, ValueError, OSError) as error:
        raise refused(file, FORM, str(error)) from error
    return any(name.endswith(("/constants.pkl", "/archive_format")) for name in names) or any(
        "/code/" in name for name in names
    )


def read_torch(file: LocalFile) -> list[Tensor]:
    """The tensors of a state_dict, of a checkpoint that holds one, or of a pickled module.

    Raises:
        NarError: It is no such file, not whole, too large, or holds no tensor.
    """
    try:
        value = _from_zip(file) if is_zip(file) else _from_row(file)
        found = _state(value)
    except (ValueError, RecursionError, struct.error, zipfile.BadZipFile, EOFError) as error:
        raise refused(file, FORM, str(error) or type(error).__name__) from error
    except (NotImplementedError, RuntimeError, OSError) as error:  # an encrypted or unknown zip
        raise refused(file, FORM, str(error)) from error
    if not found:
        raise refused(file, FORM, "it holds no tensor")
    return found


def _zip(file: LocalFile) -> zipfile.ZipFile:
    """The zip, once its list of files is known to be short enough to be read."""
    tail = file.read(max(file.size - _END - _COMMENT, 0), _END + _COMMENT)
    place = tail.rfind(b"PK\x05\x06")
    if place < 0 or len(tail) - place < _END:
        raise zipfile.BadZipFile("it lacks the end of a zip: is it whole?")
    size: int = struct.unpack("<I", tail[place + 12 : place + 16])[0]
    locator = tail[max(place - 20, 0) : place]
    if locator[:4] == b"PK\x06\x07":
        at = struct.unpack("<Q", locator[8:16])[0]
        record = file.read(at, 56)
        if record[:4] == b"PK\x06\x06" and len(record) == 56:
            size = max(size if size != 0xFFFFFFFF else 0, struct.unpack("<Q", record[40:48])[0])
    if size > DIRECTORY:
        raise zipfile.BadZipFile(f"its list of files takes {size:,} bytes, at most {DIRECTORY:,}")
    return zipfile.ZipFile(file.file)


def _from_zip(file: LocalFile) -> Any:
    with _zip(file) as archive:
        names = [name for name in archive.namelist() if name.endswith("data.pkl")]
        if not names:
            raise ValueError("the zip has no data.pkl")
        with archive.open(min(names, key=len)) as entry:
            content = entry.read(LONGEST + 1)
    if len(content) > LONGEST:
        raise ValueError(f"its pickle has more than {LONGEST:,} bytes")
    return read_pickle(BytesIO(content))


def _from_row(file: LocalFile) -> Any:
    """The value of the fourth pickle; before it are a number, a version, and sizes of types."""
    rest = _Bounded(file.file)
    if read_pickle(rest) != MAGIC:
        raise ValueError("it is neither a zip nor a row of pickles that begins with torch's number")
    read_pickle(rest)
    read_pickle(rest)
    return read_pickle(rest)


class _Bounded:
    """A file of which no more than `LONGEST` bytes are read."""

    def __init__(self, file: IO[bytes]) -> None:
        file.seek(0)
        self.file = file
        self.left = LONGEST

    def read(self, count: int) -> bytes:
        return self._counted(self.file.read(min(count, self.left)))

    def readline(self) -> bytes:
        return self._counted(self.file.readline(self.left))

    def tell(self) -> int:
        return self.file.tell()

    def _counted(self, content: bytes) -> bytes:
        self.left -= len(content)
        if self.left <= 0:
            raise ValueError(f"its pickle has more than {LONGEST:,} bytes")
        return content


def _state(value: Any) -> list[Tensor]:
    """The state_dict of the most tensors in a value, the first of several.

    An optimizer keeps its tensors in a dict for each parameter, so the model's has more.
    """
    best: list[tuple[str, Shaped]] = []
    seen: set[int] = set()
    waiting = deque([(value, 0)])
    while waiting:
        each, depth = waiting.popleft()
        if id(each) in seen or depth > _DEEPEST:
            continue
        seen.add(id(each))
        found = _tensors(each)
        if len(found) > len(best):
            best = found
        if not (isinstance(each, Made) and found):  # the parts of a module are in it
            waiting += [(inner, depth + 1) for inner in _inside(each)]
    return _told(best)


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list | tuple):
        yield from value
    elif isinstance(value, Made):
        yield from (value.given, value.state, value.items)


def _tensors(value: Any) -> list[tuple[str, Shaped]]:
    """The tensors of a dict of tensors, or of a pickled module and its parts."""
    if isinstance(value, dict):
        return [(str(k)[:LONGEST_NAME], v) for k, v in value.items() if isinstance(v, Shaped)][
            :MOST
        ]
    found: list[tuple[str, Shaped]] = []
    if isinstance(value, Made):
        _module(value, "", found, [MOST], 0)
    return found


def _module(
    value: Made, path: str, found: list[tuple[str, Shaped]], visits: list[int], depth: int
) -> None:
    """Collect what a pickled torch.nn.Module holds, as its state_dict would list it.

    A module that several others share is listed for each, up to a number of visits.
    """
    state = value.state
    if isinstance(state, tuple):
        state = next((part for part in state if isinstance(part, dict)), None)
    visits[0] -= 1
    if not isinstance(state, dict) or depth > _DEEPEST or visits[0] < 0 or len(found) > MOST:
        return
    for group in ("_parameters", "_buffers"):
        held = state.get(group)
        if isinstance(held, dict):
            found += [
                (f"{path}{k}"[:LONGEST_NAME], v) for k, v in held.items() if isinstance(v, Shaped)
            ]
    parts = state.get("_modules")
    if isinstance(parts, dict):
        for name, part in parts.items():
            if isinstance(part, Made):
                _module(part, f"{path}{name}."[:LONGEST_NAME], found, visits, depth + 1)


def _told(found: list[tuple[str, Shaped]]) -> list[Tensor]:
    """The tensors, of which those that share all their numbers are tied."""
    seen: set[tuple[str, int, tuple[int, ...]]] = set()
    tensors = []
    for name, shaped in found:
        key = shaped.storage.key, shaped.place, tuple(sorted(shaped.shape))
        tensors.append(Tensor(name, shaped.shape, shaped.storage.dtype, key in seen))
        seen.add(key)
    return tensors
