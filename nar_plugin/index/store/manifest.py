"""The manifest: what an index holds, which encoder made it, and a hash of each of its files.

The format is described in docs/index-format.md.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

MANIFEST = "manifest.json"
TOMBSTONES = "tombstones.json"
SCHEMA = 2
METRIC = "cosine"
MINIMUM_CLIENT = "0.1.0"  # the oldest version that reads what this one writes

LARGEST_MANIFEST = 16 << 20
LARGEST_FILE = 1 << 34  # bytes of any other file
LARGEST_JSON = 1 << 28  # bytes of one that is read as JSON: it takes ten times that in memory

PATHS = {
    "vectors": re.compile(r"shards/([0-9]{5})\.vectors\.safetensors"),
    "rows": re.compile(r"shards/([0-9]{5})\.rows\.parquet"),
    "graphs": re.compile(r"shards/([0-9]{5})\.graphs\.parquet"),
    "labels": re.compile(r"shards/([0-9]{5})\.labels\.parquet"),
    "blocks": re.compile(r"shards/([0-9]{5})\.blocks\.parquet"),
    "tombstones": re.compile(r"tombstones\.json"),
    "encoder": re.compile(r"encoder\.(?:json|safetensors)"),
    "derived": re.compile(r"derived/[a-z0-9-]{1,64}\.faiss"),
}
OPTIONAL = frozenset(
    ("graphs", "labels", "blocks", "derived")
)  # kinds that a search can do without
ENDINGS = {"vectors": "safetensors"} | dict.fromkeys(
    ("rows", "graphs", "labels", "blocks"), "parquet"
)


@dataclass(frozen=True, order=True)
class FileEntry:
    """One file of an index.

    Attributes:
        path: Relative to the folder, with slashes.
        kind: A key of `PATHS`.
        sha256: Of its content, 64 lower-case hexadecimal digits.
        size: In bytes.
        rows: Rows, vectors, blocks or tombstones in it; 0 for an encoder's files.
    """

    path: str
    kind: str
    sha256: str
    size: int
    rows: int = 0

    @classmethod
    def of(cls, content: bytes, path: str, kind: str, rows: int = 0) -> FileEntry:
        """The entry that describes this content."""
        return cls(path, kind, hashlib.sha256(content).hexdigest(), len(content), rows)

    def matches(self, content: bytes) -> bool:
        """Whether the content is the one that this entry describes."""
        return len(content) == self.size and hashlib.sha256(content).hexdigest() == self.sha256

    @property
    def shard(self) -> int | None:
        """The number of its shard, or None."""
        match = PATHS[self.kind].fullmatch(self.path)
        return int(match[1]) if match and match.groups() else None


@dataclass(frozen=True)
class Manifest:
    """What stands in `manifest.json`.

    Attributes:
        tracer: Version of the tracer that read the models.
        fingerprint: Version of the fingerprints in the rows.
        encoder: Id of the encoder that made the vectors.
        encoder_sha256: Hash of that encoder's weights.
        dim: Length of a vector.
        graphs: Number of rows that a search can find: distinct fingerprints.
        names: Number of model references over these rows.
        rows: Number of rows in all shards, those with a tombstone too.
        tombstones: Number of tombstones.
        created: ISO date on which this revision was made.
        revision: Name of this state of the index, such as `2026.11.21`.
        files: The folder's files, sorted by path.
        versions: By distribution the version of each library whose models were traced, where it
            is known; equal names of that version need no trace.
        metric: How vectors are compared.
        minimum_client: The oldest version of nar-plugin that reads the folder.
        schema: Version of the format.
    """

    tracer: str
    fingerprint: str
    encoder: str
    encoder_sha256: str
    dim: int
    graphs: int
    names: int
    created: str
    revision: str
    rows: int = 0
    tombstones: int = 0
    files: tuple[FileEntry, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    metric: str = METRIC
    minimum_client: str = MINIMUM_CLIENT
    schema: int = SCHEMA

    def of_kind(self, kind: str) -> tuple[FileEntry, ...]:
        """The files of one kind, by path: a shard's number orders them."""
        return tuple(entry for entry in self.files if entry.kind == kind)

    @property
    def age(self) -> str:
        """How old this revision is, such as `3 days old`; `made today`."""
        days = (datetime.now(UTC).date() - date.fromisoformat(self.created)).days
        return f"{days:,} day{'s' if days > 1 else ''} old" if days > 0 else "made today"

    def to_json(self) -> bytes:
        """The content of `manifest.json`, closed by a hash of itself."""
        content: dict[str, Any] = {
            "schema": self.schema,
            "minimum_client": self.minimum_client,
            "revision": self.revision,
            "created": self.created,
            "tracer": self.tracer,
            "fingerprint": self.fingerprint,
            "encoder": {"id": self.encoder, "sha256": self.encoder_sha256},
            "dimension": self.dim,
            "metric": self.metric,
            "counts": {
                "graphs": self.graphs,
                "names": self.names,
                "rows": self.rows,
                "tombstones": self.tombstones,
            },
            "files": [
                {
                    "path": entry.path,
                    "kind": entry.kind,
                    "bytes": entry.size,
                    "sha256": entry.sha256,
                    "rows": entry.rows,
                }
                for entry in sorted(self.files)
            ],
        }
        if self.versions:
            content["versions"] = dict(sorted(self.versions.items()))
        content["sha256"] = own_hash(content)
        return json.dumps(content, indent=1).encode() + b"\n"

    @classmethod
    def from_json(cls, content: bytes) -> Manifest:
        """Read the content of `manifest.json`, strictly.

        Raises:
            IndexIncompatible: It is of a format that this version does not know.
            IndexUnavailable: It is damaged, or a field is missing, unknown or of a wrong type.
        """
        from nar_plugin.index.store.manifest_reading import read

        return read(content)


def shard_path(number: int, kind: str) -> str:
    """Such as `shards/00003.rows.parquet`."""
    return f"shards/{number:05}.{kind}.{ENDINGS[kind]}"


def own_hash(fields: Mapping[str, Any]) -> str:
    """The sha256 of the fields in a form that no layout changes."""
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
