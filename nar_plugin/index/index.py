"""The index of known architectures: loaded, saved, asked, and made into another one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from nar_plugin.errors import IndexIncompatible, IndexUnavailable, NarError
from nar_plugin.index.inventory import inventory
from nar_plugin.index.known import agreeing
from nar_plugin.index.search.searcher import Match, Searcher
from nar_plugin.index.search.where import name_filter, unknown_texts
from nar_plugin.index.store import graphs as stored_graphs
from nar_plugin.index.store.contents import Contents, today
from nar_plugin.index.store.folder import read_manifest, reencoding
from nar_plugin.index.store.manifest import Manifest
from nar_plugin.index.store.rows import (
    ArchitectureRow,
    merge_equal_graphs,
    rows_of,
    without_places,
)
from nar_plugin.index.store.vectors import FloatArray, unit

if TYPE_CHECKING:
    import pyarrow as pa

    from nar_plugin.tracing.graph import ArchitectureGraph

logger = logging.getLogger("nar_plugin")
LOADS = 50  # attempts while another process replaces the folder


class ArchitectureIndex:
    """Known architectures, one row for each distinct graph. It never changes once it is made.

    `add`, `remove` and `merge` return another index, which shares nothing that either changes; so
    one index serves any number of threads.

    Example:
        ```python
        index = ArchitectureIndex.load(EMBEDDED)
        for match in index.search(vector, k=3, where={"library": "timm", "params": "<10M"}):
            print(f"{match.score:.3f}  {match.row.name}")
        ```

    Attributes:
        contents: Its rows and vectors, and where they come from.
        overlay: The user's own models, searched together with it, or None.
        searcher: Answers queries from its own rows.
    """

    def __init__(
        self,
        contents: Contents,
        overlay: ArchitectureIndex | None = None,
        searcher: Searcher | None = None,
    ) -> None:
        """Use `load` or `from_rows`.

        Args:
            contents: See the class.
            overlay: See the class.
            searcher: Of these contents, where there is one already.
        """
        self.contents = contents
        self.overlay = overlay
        self.searcher = searcher or Searcher(contents)

    @property
    def manifest(self) -> Manifest:
        """What the index holds and which encoder made it."""
        return self.contents.manifest

    @property
    def source(self) -> str:
        """`embedded`, the folder that it was loaded from, or `memory`."""
        return self.contents.source

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read the index in a folder and verify every byte of it.

        While another process replaces the index, either the old one is read or the new one.

        Raises:
            IndexUnavailable: A file is missing or damaged.
            IndexIncompatible: It is of a format that this version does not read.
        """
        folder = Path(path)
        head = read_manifest(folder)
        for _ in range(LOADS):
            try:
                return cls(Contents.read(folder, Manifest.from_json(head)))
            except (IndexUnavailable, IndexIncompatible):
                earlier, head = head, read_manifest(folder)
                if head == earlier:
                    raise
        return cls(Contents.read(folder, Manifest.from_json(head)))

    @classmethod
    def verify(cls, path: str | Path) -> Self:
        """Read every file of the index in a folder, also those that no search needs.

        Raises:
            IndexUnavailable: Something is missing or damaged; the text names every such file.
            IndexIncompatible: It is of a format that this version does not read.
        """
        from nar_plugin.index.verify import verify

        return verify(Path(path), cls)

    @classmethod
    def from_rows(
        cls,
        rows: Sequence[ArchitectureRow],
        vectors: NDArray[np.floating],
        encoder_id: str,
        encoder_sha256: str,
        *,
        tracer: str,
        fingerprint: str,
        revision: str = "local",
        created: str | None = None,
        versions: Mapping[str, str] | None = None,
        graphs: pa.Table | None = None,
        labels: pa.Table | None = None,
        blocks: pa.Table | None = None,
    ) -> Self:
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
            versions: By distribution the version of each library that the rows were traced from.
            graphs: The graph of each row (`nar_plugin.index.store.graphs.to_table`), or None.
            labels: Their labels (`nar_plugin.index.store.label_counts.to_table`), or None.
            blocks: Their blocks (`nar_plugin.index.store.blocks.to_table`), or None.

        Raises:
            NarError: There is not one vector for each row, or a vector has no direction.

        Shapes:
            vectors [len(rows), dim].
        """
        manifest = Manifest(
            tracer=tracer,
            fingerprint=fingerprint,
            encoder=encoder_id,
            encoder_sha256=encoder_sha256,
            dim=np.shape(vectors)[-1] if np.ndim(vectors) else 0,
            graphs=0,
            names=0,
            created=created or today(),
            revision=revision,
            versions=versions or {},
        )
        found = Contents.none(manifest).adding(rows, vectors, graphs, labels, blocks)
        return cls(found.stating(created=manifest.created))

    def add(
        self,
        rows: Sequence[ArchitectureRow],
        vectors: NDArray[np.floating],
        *,
        graphs: pa.Table | None = None,
        labels: pa.Table | None = None,
        blocks: pa.Table | None = None,
    ) -> Self:
        """The index with more rows, which become its next shard.

        A row whose graph is there already gives it its names, and nothing else. The density of a
        new row is taken among all rows of the result; those that are there keep theirs.

        Args:
            rows: In the order that breaks ties.
            vectors: The embedding of each row by the index's encoder.
            graphs: The graph of each row, or None.
            labels: The labels of each row, or None.
            blocks: The blocks of the rows, or None.

        Raises:
            NarError: There is not one vector or graph for each row, or a vector has no direction.

        Shapes:
            vectors [len(rows), dim].
        """
        return self._holding(self.contents.adding(rows, vectors, graphs, labels, blocks))

    def _holding(self, contents: Contents) -> Self:
        """The index itself where nothing changed."""
        return self if contents is self.contents else type(self)(contents, self.overlay)

    def remove(self, fingerprints: Collection[str]) -> Self:
        """The index without the rows of these fingerprints.

        Raises:
            NarError: One of them is not in the index.
        """
        return self._holding(self.contents.without(fingerprints))

    def merge(self, other: ArchitectureIndex) -> Self:
        """The index with the rows of another one of the same encoder.

        Coordinates of the other one's map are dropped: two maps have nothing in common.

        Raises:
            IndexIncompatible: Encoder, tracer or fingerprints are of another version.
        """
        self.check_like(other)
        graphs = other.graphs() if other.has_graphs else None
        labels = other.contents.stored_labels()
        blocks = other.contents.stored_blocks()
        rows = without_places(other.rows())
        merged = self.add(rows, other.vectors, graphs=graphs, labels=labels, blocks=blocks)
        both = agreeing(self.manifest.versions, other.manifest.versions)
        return type(self)(merged.contents.stating(versions=both), self.overlay)

    def empty(self, *, revision: str) -> Self:
        """An index without rows, for vectors of the same encoder."""
        manifest = self.manifest
        return type(self).from_rows(
            [],
            np.empty((0, manifest.dim)),
            manifest.encoder,
            manifest.encoder_sha256,
            tracer=manifest.tracer,
            fingerprint=manifest.fingerprint,
            revision=revision,
        )

    def reencoded(
        self,
        encoder_id: str,
        encoder_sha256: str,
        encode: Callable[[Sequence[ArchitectureGraph]], NDArray[np.floating]],
        *,
        revision: str | None = None,
    ) -> Self:
        """The same architectures with the vectors of another encoder, in one new shard.

        Their coordinates are dropped: they are a map of the vectors of before.

        Args:
            encoder_id: Id of the encoder.
            encoder_sha256: Hash of its weights.
            encode: Gives a vector for each graph of a part of them.
            revision: Name of the new state; None keeps the name.

        Raises:
            NarError: A shard came without graphs.
        """
        graphs = self.graphs()
        parts = [np.empty((0, self.manifest.dim), np.float32)] if not len(self) else []
        for batch in stored_graphs.batches(graphs):
            parts.append(encode(list(stored_graphs.bare_graphs(batch))))
        return type(self).from_rows(
            without_places(self.rows()),
            np.concatenate(parts),
            encoder_id,
            encoder_sha256,
            tracer=self.manifest.tracer,
            fingerprint=self.manifest.fingerprint,
            revision=revision or self.manifest.revision,
            versions=self.manifest.versions,
            graphs=graphs,
            labels=self.contents.stored_labels(),
            blocks=self.contents.stored_blocks(),
        )

    def save(
        self,
        path: str | Path,
        *,
        half: bool = False,
        revision: str | None = None,
        encoder: Path | None = None,
    ) -> None:
        """Write the index into a folder, replacing the one that it may hold, whole or not at all.

        Shards that the folder holds already are not written again.

        Args:
            path: The folder; made if missing. Files of other names in it stay.
            half: Store new vectors as float16: half the size, scores off by up to 0.0005.
            revision: Name of this state; None keeps the name.
            encoder: Folder of the encoder that made the vectors, to be put beside them; None
                keeps the one that is there.

        Raises:
            NarError: The folder cannot be written, or a shard is no longer where it was.
        """
        from nar_plugin.index.saving import save

        save(self.contents, Path(path), half=half, revision=revision, encoder=encoder)

    def with_overlay(self, overlay: ArchitectureIndex) -> Self:
        """The index, searched together with a user's own models.

        Raises:
            IndexIncompatible: Another encoder made the overlay's vectors.
        """
        self.check_like(overlay)
        return type(self)(self.contents, overlay, self.searcher)

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
            where: Conditions on the rows: see `nar_plugin.index.search.where.allowed_rows`.
            identical: Fingerprint of a row that comes first, whatever its score, if it is there
                and allowed. One graph traced in two orders has two vectors: ties between
                branches are mined as they come.

        Raises:
            NarError: `k`, `vector` or `where` is not valid.

        Shapes:
            vector [dim].
        """
        (query,) = self._queries(np.asarray(vector)[None], k)
        found = self.searcher.matches(query, k, where, identical)
        if self.overlay is not None:
            own = self.overlay.searcher.matches(query, k, where, identical)
            found = self._together(found, own, identical)[:k]
        if not found:
            self._warn_of_unknown(where)
        return self.as_asked_for(found, where)

    def as_asked_for(self, found: list[Match], where: Mapping[str, Any] | None) -> list[Match]:
        """The matches under names that meet the conditions on names, where there are any."""
        if not where or not found:
            return found
        names = name_filter(self.contents.table, where)
        return [replace(match, row=names.shown(match.row)) for match in found]

    def _together(
        self, found: Sequence[Match], own: Sequence[Match], identical: str | None
    ) -> list[Match]:
        """What was found here and among the user's own models, best first."""
        matches = {match.row.fingerprint: match for match in found}
        for match in own:
            known = self.by_fingerprint(match.row.fingerprint)
            (row,) = merge_equal_graphs([known, match.row] if known else [match.row])[0]
            matches[row.fingerprint] = Match(row, match.score, overlay=True)
        return sorted(
            matches.values(), key=lambda match: (match.row.fingerprint != identical, -match.score)
        )

    def unknown_texts(self, where: Mapping[str, Any] | None) -> tuple[str, ...]:
        """Of each text in conditions that no row has: that it is so, and what may be meant."""
        import pyarrow as pa

        if not where:
            return ()
        indexes = [self] if self.overlay is None else [self, self.overlay]
        whole = pa.concat_tables([index.contents.table for index in indexes])
        return tuple(unknown_texts(whole, where))

    def _warn_of_unknown(self, where: Mapping[str, Any] | None) -> None:
        for line in self.unknown_texts(where):
            logger.warning(line)

    def search_batch(
        self, vectors: FloatArray, k: int = 10, where: Mapping[str, Any] | None = None
    ) -> list[list[Match]]:
        """What `search` gives for each of many vectors, faster where many cores or a GPU answer.

        Args:
            vectors: Embeddings, of any length but zero.
            k: See `search`.
            where: See `search`.

        Raises:
            NarError: `k`, `vectors` or `where` is not valid.

        Shapes:
            vectors [m, dim]; m lists.
        """
        queries = self._queries(np.asarray(vectors), k)
        if self.overlay is not None:
            return [self.search(query, k, where) for query in queries]
        every = self.searcher.matches_of_each(queries, k, where)
        if every and not any(every):
            self._warn_of_unknown(where)
        return [self.as_asked_for(matches, where) for matches in every]

    def _queries(self, vectors: NDArray[np.floating], k: int) -> FloatArray:
        """The vectors as unit rows, when they and `k` are what a search takes."""
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise NarError(f"Got k={k!r}, expected a whole number of at least 1.")
        if vectors.ndim != 2 or vectors.shape[1] != self.manifest.dim:
            raise NarError(
                f"Got a vector of shape {vectors.shape[1:]}, expected ({self.manifest.dim},): "
                f"embed the model with {self.manifest.encoder}, which made this index."
            )
        return unit(vectors)

    def check_derived(self) -> None:
        """Read the approximate index that came with the shards, if there is one.

        Raises:
            IndexUnavailable: It is damaged.
            IndexIncompatible: It is not what it should be.
        """
        self.searcher.approximate()

    def by_fingerprint(self, fingerprint: str) -> ArchitectureRow | None:
        """The row of the identical graph, or None."""
        position = self.contents.positions.get(fingerprint)
        return None if position is None else self.contents.row(position)

    def families_of(self, design: str) -> tuple[str, ...]:
        """The families with an architecture of this design, in order of their names."""
        columns = (self.contents.table[key].to_pylist() for key in ("design", "family"))
        found = {name for known, name in zip(*columns, strict=True) if known == design and name}
        return tuple(sorted(found))

    def by_name(self, name: str) -> tuple[ArchitectureRow, FloatArray] | None:
        """The row that has this name, and its unit vector, the user's own models first; or None.

        Shapes:
            the vector [dim].
        """
        for index in (self.overlay, self):
            position = None if index is None else index.contents.names.get(name)
            if index is not None and position is not None:
                (vector,) = unit(index.contents.vectors[position : position + 1])
                return index.contents.row(position), vector
        return None

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
                f"encoder; {reencoding(self.source)} makes the vectors of this one anew."
            )

    def check_like(self, other: ArchitectureIndex) -> None:
        """Refuse an index whose vectors or fingerprints cannot be compared with the ones here.

        Raises:
            IndexIncompatible: Encoder, tracer or fingerprints are of another version.
        """
        other.check_encoder(
            f"{self.manifest.encoder} of the index {self.source}", self.manifest.encoder_sha256
        )
        mine = self.manifest.tracer, self.manifest.fingerprint
        theirs = other.manifest.tracer, other.manifest.fingerprint
        if mine != theirs:
            raise IndexIncompatible(
                f"The index {other.source} was traced by version {theirs[0]} with fingerprints "
                f"{theirs[1]}, the index {self.source} by {mine[0]} with {mine[1]}: equal graphs "
                "would not be recognised. Trace the models of the older one again."
            )

    def info(self) -> dict[str, Any]:
        """Sizes, counts and origin, as `nar index info --json` prints them.

        A graph that several libraries have a name for counts in each of them. `composed` are the
        graphs that no library publishes: any decoder on any encoder. `overlay` counts the user's
        own models.
        """
        manifest = self.manifest
        return {
            "source": self.source,
            "revision": manifest.revision,
            "created": manifest.created,
            "age": manifest.age,
            "names": manifest.names,
            "graphs": manifest.graphs,
            "composed": sum(self.contents.table["composed"].to_pylist()),
            "overlay": len(self.overlay) if self.overlay else 0,
            **inventory(self.contents.table),
            "encoder": manifest.encoder,
            "encoder_sha256": manifest.encoder_sha256,
            "tracer": manifest.tracer,
            "fingerprint": manifest.fingerprint,
            "bytes": self.contents.bytes,
        }

    def rows(self) -> list[ArchitectureRow]:
        """Every row, in order, as Python objects."""
        return rows_of(self.contents.table)

    @property
    def vectors(self) -> FloatArray:
        """The unit vectors of the rows, a read-only copy.

        Shapes:
            float32[n, dim].
        """
        copy = unit(self.contents.vectors)
        copy.flags.writeable = False
        return copy

    @property
    def has_graphs(self) -> bool:
        """Whether every shard came with its graphs, and they are here."""
        return self.contents.has_graphs

    def graphs(self) -> pa.Table:
        """The stored graphs of the rows, in their order.

        Raises:
            NarError: A shard came without.
        """
        return self.contents.graphs()

    def __len__(self) -> int:
        """The number of distinct graphs."""
        return len(self.contents.table)

    def __repr__(self) -> str:
        """A line with sizes and origin."""
        return (
            f"ArchitectureIndex({self.manifest.graphs:,} graphs, {self.manifest.names:,} names, "
            f"{self.manifest.encoder}, {self.source}@{self.manifest.revision})"
        )
