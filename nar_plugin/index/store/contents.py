"""What an index holds: its rows and vectors, and the shards that they come from."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from nar_plugin.errors import IndexIncompatible, IndexUnavailable, NarError
from nar_plugin.index.store import blocks as block_tables
from nar_plugin.index.store import graphs as stored_graphs
from nar_plugin.index.store import label_counts
from nar_plugin.index.store.blocks import Blocks
from nar_plugin.index.store.folder import present, read_verified, source_of
from nar_plugin.index.store.manifest import Manifest, shard_path
from nar_plugin.index.store.parquet import from_parquet
from nar_plugin.index.store.prefixes import distributions, licences
from nar_plugin.index.store.rows import (
    ArchitectureRow,
    RowReader,
    merge_equal_graphs,
    taken,
    to_table,
)
from nar_plugin.index.store.shards import Shard, living, names_in, read_shards, read_tombstones
from nar_plugin.index.store.vectors import FloatArray, Rows, as_float32, unit
from nar_plugin.likeness import LabelTable, Postings

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Contents:
    """The n rows that can be found, and where they come from. They never change.

    Attributes:
        table: The rows, of the schema of `nar_plugin.index.store.rows`.
        vectors: float16 or float32[n, manifest.dim], of length 1 as far as their type can say.
        numbers: int64[n], the number of each over all rows of the shards.
        manifest: What the index holds and which encoder made it.
        source: `embedded`, the folder that it was loaded from, or `memory`.
        folder: Where its shards lie, or None.
        added: Shards that no folder holds yet.
        tombstones: By fingerprint, the first shard in which it may live again.
    """

    table: pa.Table
    vectors: Rows
    numbers: NDArray[np.int64]
    manifest: Manifest
    source: str = "memory"
    folder: Path | None = None
    added: tuple[Shard, ...] = ()
    tombstones: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def none(cls, manifest: Manifest) -> Self:
        """No rows yet, in memory."""
        return cls(*living([], {}, manifest.dim), manifest)

    @classmethod
    def read(cls, folder: Path, manifest: Manifest) -> Self:
        """The rows of a folder, every byte verified.

        Raises:
            IndexUnavailable: A file is missing or damaged.
            IndexIncompatible: It is of a format that this version does not read.
        """
        tombstones = read_tombstones(folder, manifest)
        rows = living(read_shards(folder, manifest), tombstones, manifest.dim)
        source = source_of(folder)
        found = cls(*rows, manifest, source, folder, tombstones=tombstones)
        counted = len(found), names_in(found.table)
        if counted != (manifest.graphs, manifest.names) or len(found.positions) != len(found):
            raise IndexUnavailable(
                f"The index {source} contradicts itself: its shards hold {counted[0]:,} rows of "
                f"{len(found.positions):,} fingerprints with {counted[1]:,} names, the manifest "
                f"says {manifest.graphs:,} and {manifest.names:,}. `nar index update` fetches a "
                "sound index; `ArchitectureIndex.save` writes one."
            )
        return found

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.table)

    @cached_property
    def positions(self) -> dict[str, int]:
        """Where the row of each fingerprint stands."""
        return {name: i for i, name in enumerate(self.table["fingerprint"].to_pylist())}

    @cached_property
    def names(self) -> dict[str, int]:
        """Where the row of each name stands."""
        return {
            name: i for i, names in enumerate(self.table["names"].to_pylist()) for name in names
        }

    @cached_property
    def distributions(self) -> dict[str, str]:
        """The distribution of each prefix of names (`prefixes.distributions`)."""
        return distributions(self.table)

    @cached_property
    def licences(self) -> dict[str, str]:
        """The licence of each distribution (`prefixes.licences`)."""
        return licences(self.table)

    @cached_property
    def _reader(self) -> RowReader:
        return RowReader(self.table)

    def row(self, position: int) -> ArchitectureRow:
        """The row at a position."""
        return self._reader.at(position)

    def rows(self, positions: NDArray[np.int64]) -> list[ArchitectureRow]:
        """The rows at positions."""
        return list(map(self._reader.at, positions.tolist()))

    def adding(
        self,
        rows: Sequence[ArchitectureRow],
        vectors: NDArray[np.floating],
        graphs: pa.Table | None,
        labels: pa.Table | None = None,
        blocks: pa.Table | None = None,
    ) -> Self:
        """With more rows, which become the next shard: see `ArchitectureIndex.add`."""
        shape = np.shape(vectors)
        if (
            len(shape) != 2
            or shape[0] != len(rows)
            or not shape[1]
            or shape[1] != self.manifest.dim
        ):
            wanted = self.manifest.dim or "dim"
            raise NarError(f"Got vectors of shape {shape}, expected ({len(rows)}, {wanted}).")
        fingerprints = [row.fingerprint for row in rows]
        for kind, stored in (("graphs", graphs), ("labels", labels)):
            if stored is not None and stored["fingerprint"].to_pylist() != fingerprints:
                raise NarError(f"Got {kind} that are not those of the rows: expected one for each.")
        units = unit(vectors)
        kept: list[tuple[ArchitectureRow, FloatArray, int]] = []
        buried = []
        merged_rows, positions = merge_equal_graphs(rows)
        for row, position in zip(merged_rows, positions, strict=True):
            at = self.positions.get(row.fingerprint)
            if at is None:
                kept.append((row, units[position], position))
                continue
            known = self.row(at)
            (merged,) = merge_equal_graphs([known, row])[0]
            if merged != known:
                kept.append((merged, as_float32(self.vectors[at]), position))
                buried.append(row.fingerprint)
        if not kept:
            return self
        places = np.array([position for _, _, position in kept])
        shard = Shard(
            to_table([row for row, _, _ in kept]),
            unit(np.stack([vector for _, vector, _ in kept])),
            None if graphs is None else taken(graphs, places),
            None if labels is None else taken(labels, places),
            blocks,
        )
        return self._revised(buried, shard)

    def without(self, fingerprints: Collection[str]) -> Self:
        """Without the rows of these fingerprints: see `ArchitectureIndex.remove`."""
        unknown = [name for name in fingerprints if name not in self.positions]
        if unknown:
            raise NarError(
                f"The index {self.source} holds no fingerprint {unknown[0]!r}"
                f"{f' and {len(unknown) - 1} others' if unknown[1:] else ''}; nothing was removed."
            )
        return self._revised(fingerprints, None) if fingerprints else self

    def stating(self, **fields: Any) -> Self:
        """The same rows under a manifest with other values of these fields."""
        return replace(self, manifest=replace(self.manifest, **fields))

    def _revised(self, buried: Collection[str], shard: Shard | None) -> Self:
        """Without some rows and with a shard more."""
        gone = set(buried)
        kept = np.array(
            [i for name, i in self.positions.items() if name not in gone], dtype=np.int64
        )
        rest = taken(self.table, kept) if gone else self.table
        parts = [Shard(rest, self.vectors[kept] if gone else self.vectors)]
        numbers = self.numbers[kept]
        count = self.manifest.rows
        if shard is not None:
            parts.append(shard)
            numbers = np.concatenate([numbers, count + np.arange(len(shard.table))])
            count += len(shard.table)
        parts = [part for part in parts if len(part.table)]
        table, vectors, _ = living(parts, {}, self.manifest.dim)
        next_shard = len(self.manifest.of_kind("rows")) + len(self.added)
        tombstones = {**self.tombstones, **dict.fromkeys(gone, next_shard)}
        manifest = replace(
            self.manifest,
            graphs=len(table),
            names=names_in(table),
            rows=count,
            tombstones=len(tombstones),
            created=today(),
        )
        return replace(
            self,
            table=table,
            vectors=vectors,
            numbers=numbers,
            manifest=manifest,
            added=(*self.added, shard) if shard is not None else self.added,
            tombstones=tombstones,
        )

    @property
    def has_graphs(self) -> bool:
        """Whether every shard came with its graphs, and they are here."""
        return self._has("graphs")

    def graphs(self) -> pa.Table:
        """The stored graphs of the rows: see `ArchitectureIndex.graphs`."""
        if not self.has_graphs:
            raise NarError(
                f"The index {self.source} does not hold the graphs of all its rows, from which "
                "vectors could be made. `nar index update` fetches an index for today's encoder; "
                "`nar dev index write` makes one from a corpus."
            )
        return self._stored("graphs", stored_graphs.schema())

    def graph(self, position: int) -> pa.Table | None:
        """The stored graph of one row, as a table of one row; None where it came without."""
        number = int(self.numbers[position])
        here = {entry.path: entry for entry in present(self.folder or Path(), self.manifest)}
        for shard_number, rows in enumerate(self.manifest.of_kind("rows")):
            if number < rows.rows:
                graphs = here.get(shard_path(shard_number, "graphs"))
                if graphs is None:
                    return None
                content = read_verified(self.folder or Path(), graphs)
                return from_parquet(content, graphs, stored_graphs.schema(), row=number)
            number -= rows.rows
        for shard in self.added:
            if number < len(shard.table):
                return None if shard.graphs is None else shard.graphs.slice(number, 1)
            number -= len(shard.table)
        return None

    def stored_labels(self) -> pa.Table | None:
        """The table of the rows' labels; None where a shard came without."""
        return self._stored("labels", label_counts.schema()) if self._has("labels") else None

    @cached_property
    def labels(self) -> LabelTable | None:
        """The labels of the rows, by which they are compared; None where a shard has none.

        Where they are not stored, they are counted from the graphs, as far as these are.
        """
        if (stored := self.stored_labels()) is not None:
            return label_counts.from_table(stored)
        if not self.has_graphs:
            return None
        parts = [
            LabelTable.of(list(stored_graphs.bare_graphs(batch))).compared()
            for batch in stored_graphs.batches(self.graphs())
        ]
        return LabelTable.joined(parts)

    @cached_property
    def postings(self) -> Postings | None:
        """The rows by label, so that all are compared at once; None without labels."""
        return None if self.labels is None else Postings(self.labels)

    def stored_blocks(self) -> pa.Table | None:
        """The blocks of all shards that came with some; None where none did."""
        import pyarrow as pa

        here = set(present(self.folder or Path(), self.manifest))
        tables = [
            from_parquet(read_verified(self.folder or Path(), entry), entry, block_tables.schema())
            for entry in self.manifest.of_kind("blocks")
            if entry in here
        ]
        tables += [shard.blocks for shard in self.added if shard.blocks is not None]
        return pa.concat_tables(tables) if tables else None

    @cached_property
    def blocks(self) -> Blocks | None:
        """The blocks of the rows, as far as they came with some; None where none did."""
        stored = self.stored_blocks()
        return None if stored is None else Blocks.of(stored, self.positions)

    def _has(self, kind: Literal["graphs", "labels"]) -> bool:
        """Whether every shard came with a table of this kind, and they are here."""
        here = present(self.folder or Path(), self.manifest)
        shards = len(self.manifest.of_kind("rows"))
        return sum(entry.kind == kind for entry in here) == shards and all(
            getattr(shard, kind) is not None for shard in self.added
        )

    def _stored(self, kind: Literal["graphs", "labels"], schema: pa.Schema) -> pa.Table:
        """The tables of this kind of all shards, without the rows that are buried."""
        import pyarrow as pa

        tables = [
            from_parquet(read_verified(self.folder or Path(), entry), entry, schema)
            for entry in self.manifest.of_kind(kind)
        ]
        tables += [getattr(shard, kind) for shard in self.added]
        # Arrow imports pandas to put tables together.
        whole = tables[0] if len(tables) == 1 else pa.concat_tables([schema.empty_table(), *tables])
        if not np.array_equal(self.numbers, np.arange(len(whole))):
            whole = taken(whole, self.numbers)
        if whole["fingerprint"].to_pylist() != list(self.positions):
            raise IndexIncompatible(
                f"The stored {kind} of the index {self.source} are not those of its rows. "
                "`nar index update` fetches a sound index."
            )
        return whole

    @property
    def bytes(self) -> int:
        """Of its files, or in memory where no folder holds all of it."""
        if self.added or not self.manifest.files:
            return self.vectors.nbytes + int(self.table.nbytes)
        return sum(entry.size for entry in present(self.folder or Path(), self.manifest))


def today() -> str:
    """The date in UTC, such as `2026-11-21`."""
    return datetime.now(UTC).date().isoformat()
