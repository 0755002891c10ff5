"""The shards of an index: rows that were added together, and the tombstones that bury some."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nar_plugin.errors import IndexUnavailable
from nar_plugin.index.store.folder import read_verified, remedy
from nar_plugin.index.store.manifest import TOMBSTONES, FileEntry, Manifest, shard_path
from nar_plugin.index.store.parquet import from_parquet, to_parquet
from nar_plugin.index.store.rows import YOUNGER, completed, schema, taken, to_table
from nar_plugin.index.store.vectors import Rows, from_safetensors, to_safetensors

if TYPE_CHECKING:
    import pyarrow as pa

Tombstones = Mapping[str, int]


@dataclass(frozen=True)
class Shard:
    """n rows in order, with their vectors and perhaps their graphs.

    Attributes:
        table: Of the schema of `nar_plugin.index.store.rows`.
        vectors: float16 or float32[n, dim], rows of length 1 as far as their type can say.
        graphs: Of the schema of `nar_plugin.index.store.graphs`, or None.
        labels: Of the schema of `nar_plugin.index.store.label_counts`, or None.
        blocks: Of the schema of `nar_plugin.index.store.blocks`, or None; its rows are blocks.
    """

    table: pa.Table
    vectors: Rows
    graphs: pa.Table | None = None
    labels: pa.Table | None = None
    blocks: pa.Table | None = None

    def files(self, number: int, *, half: bool) -> dict[FileEntry, bytes]:
        """The shard's files under its number in the folder."""
        vectors = to_safetensors(self.vectors, half=half)
        contents = {"vectors": (vectors, len(self.table))}
        tables = {
            "rows": self.table,
            "graphs": self.graphs,
            "labels": self.labels,
            "blocks": self.blocks,
        }
        for kind, table in tables.items():
            if table is not None:
                contents[kind] = to_parquet(table, kind), len(table)
        return {
            FileEntry.of(content, shard_path(number, kind), kind, rows): content
            for kind, (content, rows) in contents.items()
        }


def read_shards(folder: Path, manifest: Manifest) -> list[Shard]:
    """Every shard that the manifest lists, verified, without graphs, labels and blocks.

    Raises:
        IndexUnavailable: A file is missing or damaged, or does not hold what the manifest says.
        IndexIncompatible: A file is of a format that this version does not read.
    """
    pairs = zip(manifest.of_kind("rows"), manifest.of_kind("vectors"), strict=True)
    shards = []
    for rows, vectors in pairs:
        table = read_rows(read_verified(folder, rows), rows)
        shards.append(
            Shard(table, from_safetensors(read_verified(folder, vectors), vectors, manifest.dim))
        )
    return shards


def read_rows(content: bytes, entry: FileEntry) -> pa.Table:
    """The table of a shard; columns that are younger than it are empty.

    Raises:
        IndexIncompatible: It is no such table.
    """
    return completed(from_parquet(content, entry, schema(), younger=YOUNGER))


def read_tombstones(folder: Path, manifest: Manifest) -> dict[str, int]:
    """The tombstones of a folder: by fingerprint the first shard in which it may live again.

    Raises:
        IndexUnavailable: The file is missing, damaged or no such table.
    """
    for entry in manifest.of_kind("tombstones"):
        content = read_verified(folder, entry)
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or len(found) != entry.rows:
            raise IndexUnavailable(
                f"{folder / entry.path} is no object of {entry.rows:,} tombstones. {remedy(folder)}"
            )
        if any(type(number) is not int or number < 0 for number in found.values()):
            raise IndexUnavailable(
                f"{folder / TOMBSTONES} holds a tombstone without a shard number. {remedy(folder)}"
            )
        return found
    return {}


def tombstones_to_json(tombstones: Tombstones) -> bytes:
    """The content of `tombstones.json`: a line for each, in order."""
    return json.dumps(tombstones, sort_keys=True, indent=0).encode() + b"\n"


def alive(shard: Shard, number: int, tombstones: Tombstones) -> NDArray[np.int64]:
    """The positions in a shard of the rows that are not buried."""
    if not tombstones:
        return np.arange(len(shard.table))
    fingerprints = shard.table["fingerprint"].to_pylist()
    return np.array(
        [i for i, name in enumerate(fingerprints) if tombstones.get(name, 0) <= number],
        dtype=np.int64,
    )


def living(
    shards: Sequence[Shard], tombstones: Tombstones, dim: int, first: int = 0
) -> tuple[pa.Table, Rows, NDArray[np.int64]]:
    """The rows of all shards that are not buried.

    Args:
        shards: In order of their numbers.
        tombstones: See `read_tombstones`.
        dim: Length of a vector, for an index without shards.
        first: The number of the first of the shards.

    Returns:
        Their table, their vectors, and the number of each row over all rows of the shards.

    Shapes:
        [n], [n, dim], int64[n].
    """
    import pyarrow as pa

    kept = [alive(shard, number, tombstones) for number, shard in enumerate(shards, start=first)]
    if len(shards) == 1 and len(kept[0]) == len(shards[0].table):
        return shards[0].table, shards[0].vectors, kept[0]
    tables = [
        shard.table if len(rows) == len(shard.table) else taken(shard.table, rows)
        for shard, rows in zip(shards, kept, strict=True)
    ]
    kinds = {shard.vectors.dtype for shard in shards}
    dtype = kinds.pop() if len(kinds) == 1 else np.dtype(np.float32)
    vectors = np.empty((sum(map(len, kept)), dim), dtype)
    numbers = []
    stop = offset = 0
    for shard, rows in zip(shards, kept, strict=True):
        vectors[stop : stop + len(rows)] = shard.vectors[rows]
        numbers.append(rows + offset)
        stop, offset = stop + len(rows), offset + len(shard.table)
    table = pa.concat_tables([to_table([]), *tables]).combine_chunks()
    return table, vectors, np.concatenate([np.empty(0, np.int64), *numbers])


def names_in(table: pa.Table) -> int:
    """The number of names over all rows."""
    return sum(map(len, table["names"].to_pylist()))
