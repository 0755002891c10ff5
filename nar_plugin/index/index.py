"""The index of known architectures: exact search by cosine, filters, load and save."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nar_plugin.errors import IndexIncompatible, IndexUnavailable, NarError
from nar_plugin.index.folder import read_manifest, read_verified, replace_files, source_of
from nar_plugin.index.inventory import inventory
from nar_plugin.index.manifest import ROWS, VECTORS, FileEntry, Manifest
from nar_plugin.index.nearest import Candidates, nearest, open_backend
from nar_plugin.index.rows import (
    ArchitectureRow,
    from_parquet,
    merge_equal_graphs,
    row_at,
    to_parquet,
    to_table,
)
from nar_plugin.index.vectors import FloatArray, from_safetensors, to_safetensors, unit
from nar_plugin.index.where import allowed_rows

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Match:
    """One found row and its cosine similarity to the query; 1 is the most similar."""

    row: ArchitectureRow
    score: float


class ArchitectureIndex:
    """Known architectures, one row for each distinct graph.

    Example:
        ```python
        index = ArchitectureIndex.load(EMBEDDED)
        for match in index.search(vector, k=3, where={"library": "timm", "params": "<10M"}):
            print(f"{match.score:.3f}  {match.row.name}")
        ```

    Attributes:
        manifest: What the index holds and which encoder made it.
        source: `embedded`, the folder that it was loaded from, or `memory`.
    """

    def __init__(
        self, table: pa.Table, vectors: FloatArray, manifest: Manifest, source: str
    ) -> None:
        """Use `load` or `from_rows`; this takes parts that belong together.

        Shapes:
            table [n] rows, vectors [n, manifest.dim].
        """
        self.manifest = manifest
        self.source = source
        self._table = table
        self._vectors = vectors

    @classmethod
    def load(cls, path: str | Path) -> ArchitectureIndex:
        """Read the index in a folder and verify every byte of it.

        Raises:
            IndexUnavailable: A file is missing or damaged.
            IndexIncompatible: It is of a format that this version does not read.
        """
        folder = Path(path)
        manifest = Manifest.from_json(read_manifest(folder))
        content = {
            name: read_verified(folder, name, entry) for name, entry in manifest.files.items()
        }
        table = from_parquet(content[ROWS])
        vectors = from_safetensors(content[VECTORS])
        index = cls(table, vectors, manifest, source_of(folder))
        index._check_parts()
        return index

    @classmethod
    def from_rows(
        cls,
        rows: Sequence[ArchitectureRow],
        vectors: FloatArray,
        encoder_id: str,
        encoder_sha256: str,
        *,
        tracer: str,
        fingerprint: str,
        revision: str = "local",
        created: str | None = None,
    ) -> ArchitectureIndex:
        """Build an index in memory.

        Rows of one fingerprint become one: the first of them, with the names of all.

        Args:
            rows: In the order that breaks ties.
            vectors: The embedding of each row, of any length but zero.
            encoder_id: Id of the encoder that made the vectors.
            encoder_sha256: Hash of its weights.
            tracer: Version of the tracer that read the models.
            fingerprint: Version of the fingerprints.
            revision: Name of this state of the index, such as `2026.11.21`.
            created: ISO date; today's if None.

        Raises:
            NarError: There is not one vector for each row, or a vector has no direction.

        Shapes:
            vectors [len(rows), dim].
        """
        vectors = np.asarray(vectors)
        if vectors.ndim != 2 or len(vectors) != len(rows) or not vectors.shape[1]:
            raise NarError(f"Got vectors of shape {vectors.shape}, expected ({len(rows)}, dim).")
        distinct, positions = merge_equal_graphs(rows)
        manifest = Manifest(
            tracer=tracer,
            fingerprint=fingerprint,
            encoder=encoder_id,
            encoder_sha256=encoder_sha256,
            dim=vectors.shape[1],
            graphs=len(distinct),
            names=sum(len(row.names) for row in distinct),
            created=created or datetime.now(UTC).date().isoformat(),
            revision=revision,
        )
        return cls(to_table(distinct), unit(vectors[positions]), manifest, "memory")

    def save(self, path: str | Path, *, half: bool = False) -> None:
        """Write the index into a folder, replacing the one that it may hold, whole or not at all.

        Args:
            path: The folder; made if missing. Files of other names in it stay.
            half: Store the vectors as float16: half the size, scores off by up to 0.0005.
        """
        files = {
            VECTORS: to_safetensors(self._vectors, half=half),
            ROWS: to_parquet(self._table),
        }
        entries = {name: FileEntry.of(content) for name, content in files.items()}
        manifest = replace(self.manifest, files=entries)
        replace_files(Path(path), manifest.to_json(), files)

    def search(
        self,
        vector: FloatArray,
        k: int = 10,
        where: Mapping[str, Any] | None = None,
        *,
        identical: str | None = None,
    ) -> list[Match]:
        """The k most similar architectures, best first; equal scores in row order.

        Args:
            vector: An embedding, of any length but zero.
            k: At least 1; more than there are gives all.
            where: Conditions on the rows: see `nar_plugin.index.where.allowed_rows`.
            identical: Fingerprint of a row that comes first, whatever its score, if it is there
                and allowed. One graph traced in two orders has two vectors: ties between
                branches are mined as they come.

        Raises:
            NarError: `k`, `vector` or `where` is not valid.

        Shapes:
            vector [dim].
        """
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise NarError(f"Got k={k!r}, expected a whole number of at least 1.")
        vector = np.asarray(vector)
        if vector.shape != (self.manifest.dim,):
            raise NarError(
                f"Got a vector of shape {vector.shape}, expected ({self.manifest.dim},): embed "
                f"the model with {self.manifest.encoder}, which made this index."
            )
        (query,) = unit(vector[None])
        allowed = allowed_rows(self._table, where) if where else None
        scores, rows = nearest(self._backend, self._vectors, query, k, allowed)
        found = list(zip(rows.tolist(), scores.tolist(), strict=True))
        same = self._positions.get(identical) if identical else None
        if same is not None and (allowed is None or allowed[same]):
            others = [(row, score) for row, score in found if row != same]
            found = [(same, float(self._vectors[same] @ query)), *others][:k]
        return [Match(row_at(self._table, row), score) for row, score in found]

    def by_fingerprint(self, fingerprint: str) -> ArchitectureRow | None:
        """The row of the identical graph, or None."""
        position = self._positions.get(fingerprint)
        return None if position is None else row_at(self._table, position)

    def check_encoder(self, encoder_id: str, sha256: str) -> None:
        """Refuse an encoder whose vectors cannot be compared with the ones here.

        Raises:
            IndexIncompatible: Another encoder made the vectors.
        """
        if sha256 != self.manifest.encoder_sha256:
            raise IndexIncompatible(
                f"The vectors of the index {self.source} (revision {self.manifest.revision}) were "
                f"made by the encoder {self.manifest.encoder} (sha256 "
                f"{self.manifest.encoder_sha256[:12]}); got {encoder_id} ({sha256[:12]}). Their "
                "scores would mean nothing. `nar index update` fetches an index for today's "
                "encoder; `nar index reencode` computes the vectors of this one anew."
            )

    def info(self) -> dict[str, Any]:
        """Sizes, counts and origin, as `nar index info --json` prints them.

        A graph that several libraries have a name for counts in each of them. `composed` are the
        graphs that no library publishes: any decoder on any encoder.
        """
        manifest = self.manifest
        return {
            "source": self.source,
            "revision": manifest.revision,
            "created": manifest.created,
            "names": manifest.names,
            "graphs": manifest.graphs,
            "composed": sum(self._table["composed"].to_pylist()),
            **inventory(self._table),
            "encoder": manifest.encoder,
            "encoder_sha256": manifest.encoder_sha256,
            "tracer": manifest.tracer,
            "fingerprint": manifest.fingerprint,
            "bytes": self._bytes(),
        }

    def rows(self) -> list[ArchitectureRow]:
        """Every row, in order, as Python objects."""
        return [row_at(self._table, position) for position in range(len(self))]

    @property
    def vectors(self) -> FloatArray:
        """The unit vectors of the rows, read-only.

        Shapes:
            float32[n, dim].
        """
        view = self._vectors.view()
        view.flags.writeable = False
        return view

    def __len__(self) -> int:
        """The number of distinct graphs."""
        return len(self._table)

    def __repr__(self) -> str:
        """A line with sizes and origin."""
        return (
            f"ArchitectureIndex({self.manifest.graphs:,} graphs, {self.manifest.names:,} names, "
            f"{self.manifest.encoder}, {self.source}@{self.manifest.revision})"
        )

    @cached_property
    def _backend(self) -> Candidates:
        return open_backend(self._vectors)

    @cached_property
    def _positions(self) -> dict[str, int]:
        fingerprints = self._table["fingerprint"].to_pylist()
        return {fingerprint: position for position, fingerprint in enumerate(fingerprints)}

    def _bytes(self) -> int:
        if not self.manifest.files:
            return self._vectors.nbytes + int(self._table.nbytes)
        return sum(entry.size for entry in self.manifest.files.values())

    def _check_parts(self) -> None:
        expected = (self.manifest.graphs, self.manifest.dim)
        if self._vectors.shape != expected or len(self._table) != expected[0]:
            raise IndexUnavailable(
                f"The index {self.source} contradicts itself: {VECTORS} has the shape "
                f"{self._vectors.shape} and {ROWS} {len(self._table)} rows, the manifest says "
                f"{expected}. `nar index update` fetches a sound index."
            )
        if len(self._positions) != len(self._table):
            raise IndexUnavailable(
                f"{ROWS} of the index {self.source} holds a fingerprint twice. Write it with "
                "`ArchitectureIndex.from_rows(...).save(...)`, which merges such rows."
            )
