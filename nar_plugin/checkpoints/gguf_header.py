"""The header of a GGUF file: keys with values, then name, shape and type of each tensor.

https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. Quantized blocks do not matter: a header
has the sides of a tensor as it was before.
"""

from __future__ import annotations

import struct

from nar_plugin.checkpoints.sources import Source, refused
from nar_plugin.checkpoints.tensors import LONGEST_NAME, MOST, Tensor

FORM = "GGUF"
MAGIC = b"GGUF"
LONGEST = 64 << 20  # bytes of a header; the words of a large vocabulary take about ten million
_TYPES = {0: "float32", 1: "float16", 24: "int8", 25: "int16", 26: "int32", 27: "int64",
          28: "float64", 30: "bfloat16"}  # fmt: skip
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # bytes of a value
_STRING, _ARRAY = 8, 9
_SIDES = 4
_PIECE = 1 << 20
_DEEPEST = 4  # arrays in arrays


class _Reader:
    """Goes through the header from its beginning."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.place = 0
        self.start = 0
        self.piece = b""

    def bytes(self, count: int) -> bytes:
        if count < 0 or self.place + count > min(LONGEST, self.source.size):
            raise refused(self.source, FORM, f"its header does not end within {self.place:,} bytes")
        offset = self.place - self.start
        if offset + count > len(self.piece):
            self.start, offset = self.place, 0
            self.piece = self.source.read(self.place, max(count, _PIECE))
        self.place += count
        return self.piece[offset : offset + count]

    def skip(self, count: int) -> None:
        if count < 0 or self.place + count > min(LONGEST, self.source.size):
            raise refused(self.source, FORM, f"its header does not end within {self.place:,} bytes")
        self.place += count
        if self.place - self.start > len(self.piece):
            self.start, self.piece = self.place, b""

    def u32(self) -> int:
        return int(struct.unpack("<I", self.bytes(4))[0])

    def u64(self) -> int:
        return int(struct.unpack("<Q", self.bytes(8))[0])

    def text(self) -> str:
        return self.bytes(self.u64()).decode("utf-8", "replace")

    def skip_value(self, kind: int, depth: int = 0) -> None:
        if kind == _STRING:
            self.skip(self.u64())
        elif kind == _ARRAY and depth < _DEEPEST:
            inner, count = self.u32(), self.u64()
            if inner in _SIZES:
                self.skip(_SIZES[inner] * count)
            else:
                for _ in range(min(count, LONGEST)):  # each takes eight bytes at least
                    self.skip_value(inner, depth + 1)
        elif kind in _SIZES:
            self.skip(_SIZES[kind])
        else:
            raise refused(self.source, FORM, f"a value has the unknown type {kind}")


def read_gguf(source: Source) -> tuple[list[Tensor], str]:
    """The tensors, and what the file calls its architecture.

    Raises:
        NarError: It is no GGUF file of version 2 or 3, or not whole.
    """
    reader = _Reader(source)
    magic, version = reader.bytes(4), reader.u32()
    if magic != MAGIC or version not in (2, 3):
        raise refused(source, FORM, f"expected version 2 or 3, got {magic!r} {version}")
    tensors, keys = reader.u64(), reader.u64()
    if tensors > MOST or keys > MOST:
        raise refused(source, FORM, f"it would have {tensors:,} tensors and {keys:,} keys")
    said = ""
    for _ in range(keys):
        key, kind = reader.text(), reader.u32()
        if key == "general.architecture" and kind == _STRING:
            said = reader.text()[:80]
        else:
            reader.skip_value(kind)
    return [_tensor(reader) for _ in range(tensors)], said


def _tensor(reader: _Reader) -> Tensor:
    name, count = reader.text(), reader.u32()
    if count > _SIDES:
        raise refused(reader.source, FORM, f"{name[:80]!r} has {count:,} sides")
    sides = [reader.u64() for _ in range(count)]
    kind = reader.u32()
    reader.skip(8)
    return Tensor(name[:LONGEST_NAME], tuple(reversed(sides)), _TYPES.get(kind, "quantized"))
