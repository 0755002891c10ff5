"""An ONNX file without its weights.

A file is one protobuf message. Weights are most of it, and no answer needs them. The message is
walked field by field, and the content of large tensors is left out, so that a file of gigabytes
takes the memory of its graph alone.

Source: https://protobuf.dev/programming-guides/encoding and onnx/onnx.proto for the numbers.
"""

from __future__ import annotations

import os
from io import BufferedReader
from typing import NamedTuple

MOST_KEPT = 1 << 19  # bytes of a tensor's values
_MOST_GRAPH = 128 << 20  # bytes of all that is kept
_MOST_DEPTH = 40
_CONTENT = (4, 5, 6, 7, 9, 10, 11)  # fields of a tensor's values
# Field numbers of messages that may hold tensors, by the message's name.
_INSIDE = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
}


class _Field(NamedTuple):
    number: int
    kind: int  # 0 a number, 1 eight bytes, 2 bytes of a length, 5 four bytes
    start: int  # of the whole field
    body: int
    end: int


def without_weights(file: BufferedReader) -> bytes:
    """The message, with no values in tensors of more than `MOST_KEPT` bytes.

    Raises:
        ValueError: It is no protobuf message, is truncated, or is too large without weights.
    """
    file.seek(0, os.SEEK_END)
    size = file.tell()
    if size == 0:
        raise ValueError("the file is empty")
    return _Walk(file).message("model", 0, size, 0)


class _Walk:
    def __init__(self, file: BufferedReader) -> None:
        self._file = file
        self._kept = 0

    def message(self, name: str, start: int, end: int, depth: int) -> bytes:
        if depth > _MOST_DEPTH:
            raise ValueError(f"graphs are nested more than {_MOST_DEPTH // 3} deep")
        parts = []
        inside = _INSIDE.get(name, {})
        while start < end:
            field = self._field(start, end)
            start = field.end
            size = field.end - field.body
            large = size > MOST_KEPT
            if name == "tensor" and field.kind == 2 and field.number in _CONTENT and large:
                continue
            if field.kind == 2 and field.number in inside and large:
                made = self.message(inside[field.number], field.body, field.end, depth + 1)
                parts.append(_number(field.number << 3 | 2) + _number(len(made)) + made)
            else:
                parts.append(self._bytes(field.start, field.end))
        return b"".join(parts)

    def _bytes(self, start: int, end: int) -> bytes:
        self._kept += end - start
        if self._kept > _MOST_GRAPH:
            raise ValueError(f"without weights it has over {_MOST_GRAPH >> 20} MiB")
        self._file.seek(start)
        return self._file.read(end - start)

    def _field(self, start: int, end: int) -> _Field:
        self._file.seek(start)
        head = self._file.read(20)
        key, used = _read_number(head, 0)
        kind = key & 7
        if kind == 0:
            _, used = _read_number(head, used)
            body = used
        elif kind == 2:
            size, used = _read_number(head, used)
            body, used = used, used + size
        elif kind in (1, 5):
            body, used = used, used + (8 if kind == 1 else 4)
        else:
            raise ValueError(f"it is no protobuf message: byte {start:,}")
        if start + used > end or key >> 3 == 0:
            raise ValueError(f"it is truncated or damaged: byte {start:,}")
        return _Field(key >> 3, kind, start, start + body, start + used)


def _read_number(head: bytes, place: int) -> tuple[int, int]:
    """A number of variable length, and the place after it."""
    value = 0
    for shift in range(0, 70, 7):
        if place >= len(head):
            break
        byte = head[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
    raise ValueError("it is no protobuf message: a number does not end")


def _number(value: int) -> bytes:
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    made.append(value)
    return bytes(made)
