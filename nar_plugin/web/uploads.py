"""What visitors uploaded: kept for a while under a digest, so that each has an address."""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
import threading
from collections import OrderedDict
from pathlib import Path

from nar_plugin.errors import NarError

PREFIX = "upload:"
ENDINGS = (".json", ".onnx", ".pt2", ".safetensors")
LARGEST_CONFIG = 1 << 20  # bytes; the names of 21,000 classes take about one million
_PIECE = 1 << 20
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class Uploads:
    """A folder of its own, with the newest uploads. The oldest go when it is full.

    A file's name is only shown. It is reduced to letters, digits, dots and dashes, and a config is
    always `config.json`.

    Args:
        largest: Bytes of one file.
        room: Bytes of all of them.
    """

    def __init__(self, largest: int, room: int) -> None:
        self._largest = largest
        self._room = max(room, largest)
        self._files: OrderedDict[str, tuple[Path, int]] = OrderedDict()
        self._lock = threading.Lock()
        self._temporary = tempfile.TemporaryDirectory(prefix="nar-serve-")
        self.folder = Path(self._temporary.name).resolve()

    def keep(self, file: Path, name: str) -> str:
        """Copy a file, and return the reference under which visitors find it again.

        Args:
            file: Where it is.
            name: What the visitor called it.

        Raises:
            NarError: It has another ending, or is too large.
        """
        ending = Path(name).suffix.lower()
        if ending not in ENDINGS:
            raise NarError(f"An upload is one of {', '.join(ENDINGS)}; got another kind of file.")
        size = file.stat().st_size
        largest = min(self._largest, LARGEST_CONFIG) if ending == ".json" else self._largest
        if size > largest:
            raise NarError(f"The file has {size:,} bytes, and at most {largest:,} are read here.")
        digest = _digest(file, ending)
        with self._lock:
            if digest not in self._files:
                self._make_room(size)
                own = self.folder / digest / _shown(name, ending)
                own.parent.mkdir()
                shutil.copyfile(file, own)
                self._files[digest] = own, size
            self._files.move_to_end(digest)
        return PREFIX + digest

    def keep_config(self, text: str) -> str:
        """Keep a config that a visitor pasted.

        Raises:
            NarError: It is too long.
        """
        with tempfile.NamedTemporaryFile(suffix=".json", dir=self.folder) as file:
            file.write(text.encode("utf-8", "replace"))
            file.flush()
            return self.keep(Path(file.name), "config.json")

    def find(self, reference: str) -> Path:
        """The file of a reference.

        Raises:
            NarError: It was never here, or is gone.
        """
        with self._lock:
            found = self._files.get(reference.removeprefix(PREFIX))
            if found is None:
                raise NarError("That upload is not here any more: upload the file again.")
            self._files.move_to_end(reference.removeprefix(PREFIX))
            return found[0]

    def without_folders(self, text: str) -> str:
        """A text about uploads, with their names in the place of their paths."""
        return re.sub(re.escape(f"{self.folder}/") + r"(?:[0-9a-f]{32}/)?", "", text)

    def close(self) -> None:
        """Remove them all."""
        self._temporary.cleanup()

    def _make_room(self, size: int) -> None:
        while self._files and sum(each for _, each in self._files.values()) + size > self._room:
            _, (oldest, _) = self._files.popitem(last=False)
            shutil.rmtree(oldest.parent, ignore_errors=True)


def _digest(file: Path, ending: str) -> str:
    """128 bits of its content: nobody guesses the address of another visitor's upload."""
    digest = hashlib.sha256(ending.encode())
    with file.open("rb") as opened:
        while piece := opened.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()[:32]


def _shown(name: str, ending: str) -> str:
    stem = _UNSAFE.sub("-", Path(name).stem).strip("-.")[:80]
    return "config.json" if ending == ".json" else f"{stem or 'model'}{ending}"
