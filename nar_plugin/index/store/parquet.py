"""Parquet files of an index: written in one way, read with bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nar_plugin.errors import IndexIncompatible
from nar_plugin.index.store.manifest import FileEntry
from nar_plugin.index.store.pages import Oversized, check_pages

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_LEVEL = 9  # of zstd
_LONG = ("paths", "classes")  # columns of long texts
_GROUP = 512  # graphs that are read at once to get one of them
_DICTIONARY = 16 << 20  # bytes: labels repeat over graphs, and there are a hundred thousand
ROOM = 64 << 20  # bytes that a table may take in memory, and more for each of its rows
ROOM_FOR_A_BYTE = 500  # of the file; the embedded rows need 18
ROOM_FOR_A_ROW = {"rows": 16 << 10, "graphs": 256 << 10, "labels": 64 << 10, "blocks": 64 << 10}


def to_parquet(table: pa.Table, kind: str) -> bytes:
    """The content of a file of one kind, compressed with zstd.

    Graphs are in groups, of which one can be read alone. They have long texts that occur once: in a
    dictionary these would look as if each row could unpack to the longest (`pages.py`).
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    of_graphs = kind == "graphs"
    leaves = [
        f"{field.name}.list.element" if pa.types.is_list(field.type) else field.name
        for field in table.schema
        if field.name not in _LONG
    ]
    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        row_group_size=_GROUP if of_graphs else None,
        use_dictionary=leaves if of_graphs else True,
        compression="zstd",
        compression_level=_LEVEL,
        dictionary_pagesize_limit=_DICTIONARY,
    )
    content: bytes = sink.getvalue().to_pybytes()
    return content


def from_parquet(
    content: bytes,
    entry: FileEntry,
    schema: pa.Schema,
    *,
    younger: tuple[str, ...] = (),
    row: int | None = None,
) -> pa.Table:
    """The table in the content of a file, or one row of it.

    Args:
        content: Of the file.
        entry: What the manifest says of it.
        schema: What it must hold.
        younger: Those of its columns that an older file may lack.
        row: The number of the one row that is wanted; None for all.

    Raises:
        IndexIncompatible: It is no Parquet file of so many rows with these columns.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # ParquetFile, because pq.read_table imports pyarrow.dataset first (70 ms).
        file = pq.ParquetFile(pa.BufferReader(_copied(content)))
        if file.metadata.num_rows != entry.rows:
            raise unreadable(entry, f"it has {file.metadata.num_rows:,} rows")
        lacking = set(younger) - set(file.schema_arrow.names)
        known = pa.schema([field for field in schema if field.name not in lacking])
        if not file.schema_arrow.equals(known):
            raise unreadable(
                entry,
                f"it has the columns {describe(file.schema_arrow)}; this version of nar-plugin "
                f"reads {describe(schema)}",
            )
        most = min(entry.rows * ROOM_FOR_A_ROW[entry.kind], len(content) * ROOM_FOR_A_BYTE)
        check_pages(content, file.metadata, ROOM + most)
        table = (file.read() if row is None else _group_of(file, row)).combine_chunks()
        table.validate(full=True)
        if any(has_nulls(chunk) for column in table.columns for chunk in column.chunks):
            raise unreadable(entry, "a list in it lacks a value")
        return table
    except Oversized as error:
        raise unreadable(entry, str(error)) from error
    except (pa.ArrowException, OSError, ValueError) as error:
        raise unreadable(entry, f"it cannot be read as Parquet: {str(error)[:200]}") from error


def _copied(content: bytes) -> pa.Buffer:
    """The content in memory of Arrow's own.

    A reader thread may be the last to let go of it, when Python has ended already: memory of
    Python's would then abort the process (https://github.com/apache/arrow/issues/34314).
    """
    import pyarrow as pa

    buffer = pa.allocate_buffer(len(content))
    np.frombuffer(buffer, np.uint8)[:] = np.frombuffer(content, np.uint8)
    return buffer


def _group_of(file: pq.ParquetFile, row: int) -> pa.Table:
    """One row, read with the group that it is in."""
    for group in range(file.num_row_groups):
        held: int = file.metadata.row_group(group).num_rows
        if row < held:
            return file.read_row_group(group).slice(row, 1)
        row -= held
    raise ValueError(f"it has no row {row}")


def has_nulls(array: pa.Array) -> bool:
    """Whether a value inside a list is missing; of plain columns the schema says it."""
    import pyarrow as pa

    if isinstance(array, pa.ListArray):
        return array.values.null_count > 0 or has_nulls(array.values)
    if isinstance(array, pa.StructArray):
        fields = [array.field(number) for number in range(array.type.num_fields)]
        return any(field.null_count > 0 or has_nulls(field) for field in fields)
    return False


def describe(columns: pa.Schema) -> str:
    """Such as `name: string, params: int64`."""
    return ", ".join(f"{field.name}: {field.type}" for field in columns)[:1000]


def unreadable(entry: FileEntry, reason: str) -> IndexIncompatible:
    """The error for a file that is whole but does not hold what it should."""
    return IndexIncompatible(
        f"{entry.path} is not what the manifest says, {entry.rows:,} rows of this version's "
        f"format: {reason}. Run `nar index update`, or write it with `ArchitectureIndex.save`."
    )
