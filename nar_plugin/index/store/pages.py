"""What reading a Parquet file would take, found before it is read.

Arrow allocates what the pages of a file ask for, and a few hundred bytes can ask for gigabytes: a
page that unpacks to zeros, a run of one value two billion times, or one long text that every row
points to. The sizes that the footer states need not be true. So the page headers themselves are
read here, in Thrift's compact protocol, and the longest text of each dictionary is looked up.
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow.parquet as pq

WRITER = "parquet-cpp-arrow"  # others make Arrow read past the end of a column
CODECS = (6, 0)  # ZSTD and none
DEEPEST = 8
DICTIONARY = 2  # type of a page
_HEADS = {0: 5, 2: 7, 3: 8}  # where each type of page states its number of values


class Oversized(ValueError):
    """The file asks for more memory than it may, or is not what Arrow writes."""


def check_pages(content: bytes, metadata: pq.FileMetaData, room: int) -> None:
    """Refuse a file whose table would take more than so many bytes.

    Args:
        content: The file.
        metadata: Its footer.
        room: Bytes that the table, and each of its columns unpacked, may take.

    Raises:
        Oversized: It would take more, or a page header cannot be read.
    """
    if not metadata.created_by.startswith(WRITER):
        raise Oversized(f"it was written by {metadata.created_by[:40]!r}, expected {WRITER}")
    # Arrow's own property ends the process where the codec is one that it does not know.
    groups = _columns(content)
    if unknown := {_number(column, 4) for group in groups for column in group}.difference(CODECS):
        raise Oversized(f"it is compressed by codec {min(unknown)}, expected {CODECS[0]}, zstd")
    for columns in groups:
        _check_histograms(columns, metadata.schema)
    needed = 0
    for group in range(metadata.num_row_groups):
        for column in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(column)
            needed += _needed(content, chunk, room)
            if needed > room:
                raise Oversized(f"its columns unpack to more than {room:,} bytes")


def _needed(content: bytes, chunk: pq.ColumnChunkMetaData, room: int) -> int:
    """Bytes that one column would take at most."""
    position = chunk.dictionary_page_offset or chunk.data_page_offset
    end = position + chunk.total_compressed_size
    if position == end:  # a column of no rows
        return 0
    if not 0 < position <= end <= len(content):
        raise Oversized("a column lies outside the file")
    unpacked = values = longest = 0
    while position < end:
        header, position = _struct(content, position, end)
        kind = _number(header, 1)
        size, packed = _number(header, 2), _number(header, 3)
        details = header.get(_HEADS.get(kind, 0))
        count = _number(details, 1) if isinstance(details, dict) else -1
        if min(size, packed, count) < 0 or position + packed > end:
            raise Oversized("a page states sizes that cannot be")
        unpacked += size
        if unpacked > room:
            raise Oversized(f"a column unpacks to more than {room:,} bytes")
        if kind == DICTIONARY:
            page = content[position : position + packed]
            longest = max(longest, _longest(page, size, chunk))
        else:
            values += count
        position += packed
    return unpacked + values * (longest + 16)  # 16: two levels, an index, an offset


def _check_histograms(columns: list[dict[int, Any]], schema: pq.ParquetSchema) -> None:
    """Refuse size statistics that do not fit their column: Arrow ends the process at such ones."""
    for number, column in enumerate(columns[: len(schema)]):
        statistics, of = _fields(column, 16), schema.column(number)
        levels = ((2, of.max_repetition_level), (3, of.max_definition_level))
        if any(len(_items(statistics, field)) not in (0, most + 1) for field, most in levels):
            raise Oversized("a histogram of levels has another length than its column's levels")
        if 1 in statistics and of.physical_type != "BYTE_ARRAY":
            raise Oversized("a column of no texts states how long its texts are")


def _columns(content: bytes) -> list[list[dict[int, Any]]]:
    """What the footer states of the columns of each group of rows."""
    stop = len(content) - 8
    footer, _ = _struct(content, stop - int.from_bytes(content[stop : stop + 4], "little"), stop)
    return [[_fields(column, 3) for column in _items(group, 1)] for group in _items(footer, 4)]


def _fields(fields: Any, field: int) -> dict[int, Any]:
    """The struct in a field, or an empty one."""
    value = fields.get(field) if isinstance(fields, dict) else None
    return value if isinstance(value, dict) else {}


def _items(fields: Any, field: int) -> list[Any]:
    """The list in a field, or an empty one."""
    value = fields.get(field) if isinstance(fields, dict) else None
    return value if isinstance(value, list) else []


def _number(fields: dict[int, Any], field: int) -> int:
    """The number in a field, or -1."""
    value = fields.get(field)
    return value if isinstance(value, int) else -1


def _longest(page: bytes, size: int, chunk: pq.ColumnChunkMetaData) -> int:
    """The longest value of a dictionary, whose page unpacks to `size` bytes."""
    if chunk.physical_type != "BYTE_ARRAY":
        return 8
    if chunk.compression == "ZSTD":
        import pyarrow as pa

        page = pa.Codec("zstd").decompress(page, decompressed_size=size, asbytes=True)
    return _short(page) or _walked(page)


def _short(page: bytes) -> int:
    """The longest text of a dictionary whose texts all have 1 to 255 bytes, else 0.

    There each text begins with its length and three zeros. Where every place that looks so is as
    far from the next as its length says, the places are those that `_walked` would visit.
    """
    zero = np.frombuffer(page, np.uint8) == 0
    starts = np.flatnonzero(zero[1:-2] & zero[2:-1] & zero[3:])
    lengths = np.frombuffer(page, np.uint8)[starts].astype(np.int64)
    stops = starts + 4 + lengths
    chained = len(starts) and starts[0] == 0 and stops[-1] == len(page)
    return int(lengths.max()) if chained and (stops[:-1] == starts[1:]).all() else 0


def _walked(page: bytes) -> int:
    """The longest text of a dictionary: each is its length, four bytes, and its bytes."""
    position = longest = 0
    unpack = struct.Struct("<I").unpack_from
    while position + 4 <= len(page):
        (length,) = unpack(page, position)
        longest = max(longest, length)
        position += 4 + length
    return longest


def _struct(content: bytes, position: int, end: int, depth: int = 0) -> tuple[dict[int, Any], int]:
    """The numbers, structs and lists of a Thrift struct by field, and where it ends."""
    found: dict[int, Any] = {}
    field = 0
    while True:
        head, position = _byte(content, position, end)
        if not head:
            return found, position
        kind, step = head & 15, head >> 4
        if step:
            field += step
        else:
            field, position = _zigzag(content, position, end)
        found[field], position = _value(content, position, end, kind, depth)


def _value(content: bytes, position: int, end: int, kind: int, depth: int) -> tuple[Any, int]:
    if depth > DEEPEST:
        raise Oversized("a page header is nested too deeply")
    if kind in (1, 2):  # true and false are in the type
        return None, position
    if kind == 3:
        return None, position + 1
    if kind in (4, 5, 6):
        return _zigzag(content, position, end)
    if kind == 7:
        return None, position + 8
    if kind == 8:
        length, position = _varint(content, position, end)
        return None, position + length
    if kind == 9:
        return _list(content, position, end, depth + 1)
    if kind == 12:
        return _struct(content, position, end, depth + 1)
    raise Oversized("a page header holds what none has")


def _list(content: bytes, position: int, end: int, depth: int) -> tuple[list[Any], int]:
    head, position = _byte(content, position, end)
    kind, count = head & 15, head >> 4
    if count == 15:
        count, position = _varint(content, position, end)
    if count > end - position:
        raise Oversized("a list in a header is longer than its column")
    found = []
    for _ in range(count):
        if kind in (1, 2):  # a byte each, other than in a struct
            value, position = _byte(content, position, end)
        else:
            value, position = _value(content, position, end, kind, depth)
        found.append(value)
    return found, position


def _byte(content: bytes, position: int, end: int) -> tuple[int, int]:
    if not 0 <= position < end:
        raise Oversized("a page header leads out of its column")
    return content[position], position + 1


def _varint(content: bytes, position: int, end: int) -> tuple[int, int]:
    number = 0
    for shift in range(0, 70, 7):
        byte, position = _byte(content, position, end)
        number |= (byte & 127) << shift
        if byte < 128:
            return number, position
    raise Oversized("a page header holds a number without end")


def _zigzag(content: bytes, position: int, end: int) -> tuple[int, int]:
    number, position = _varint(content, position, end)
    return number >> 1 ^ -(number & 1), position
