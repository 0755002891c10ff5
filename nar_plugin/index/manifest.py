"""The manifest: what an index holds, which encoder made it, and a hash of each of its files.

The format is described in docs/index-format.md.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from importlib import metadata
from typing import Any

from nar_plugin.errors import IndexIncompatible, IndexUnavailable

MANIFEST = "manifest.json"
TOMBSTONES = "tombstones.json"
SCHEMA = 2
METRIC = "cosine"
MINIMUM_CLIENT = "0.1.0"  # the oldest version that reads what this one writes

LARGEST_MANIFEST = 16 << 20
LARGEST_DIMENSION = 1 << 16
MOST_ROWS = 1 << 31

PATHS = {
    "vectors": re.compile(r"shards/(\d{5})\.vectors\.safetensors"),
    "rows": re.compile(r"shards/(\d{5})\.rows\.parquet"),
    "graphs": re.compile(r"shards/(\d{5})\.graphs\.parquet"),
    "tombstones": re.compile(r"tombstones\.json"),
    "encoder": re.compile(r"encoder\.(?:json|safetensors)"),
    "derived": re.compile(r"derived/[a-z0-9-]{1,64}\.faiss"),
}
OPTIONAL = frozenset(("graphs", "derived"))  # kinds that a search can do without
_HASH = re.compile(r"[0-9a-f]{64}")
_ENDINGS = {"vectors": "safetensors", "rows": "parquet", "graphs": "parquet"}


@dataclass(frozen=True, order=True)
class FileEntry:
    """One file of an index.

    Attributes:
        path: Relative to the folder, with slashes.
        kind: A key of `PATHS`.
        sha256: Of its content, 64 lower-case hexadecimal digits.
        size: In bytes.
        rows: Rows, vectors or tombstones in it; 0 for an encoder's files.
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
    metric: str = METRIC
    minimum_client: str = MINIMUM_CLIENT
    schema: int = SCHEMA

    def of_kind(self, kind: str) -> tuple[FileEntry, ...]:
        """The files of one kind, by path: a shard's number orders them."""
        return tuple(entry for entry in self.files if entry.kind == kind)

    @property
    def size(self) -> int:
        """Bytes of all files together, without the manifest."""
        return sum(entry.size for entry in self.files)

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
        content["sha256"] = own_hash(content)
        return json.dumps(content, indent=1).encode() + b"\n"

    @classmethod
    def from_json(cls, content: bytes) -> Manifest:
        """Read the content of `manifest.json`, strictly.

        Raises:
            IndexIncompatible: It is of a format that this version does not know.
            IndexUnavailable: It is damaged, or a field is missing, unknown or of a wrong type.
        """
        fields = parse(content)
        check_format(fields)
        if fields.pop("sha256", None) != own_hash(fields):
            raise invalid("its content does not match its own sha256: damaged, or edited by hand")
        encoder = exact(fields.get("encoder"), "encoder", ("id", "sha256"))
        counts = exact(fields.get("counts"), "counts", ("graphs", "names", "rows", "tombstones"))
        manifest = cls(
            **{name: typed(fields, name, str) for name in _TEXTS},
            **{name: typed(counts, name, int) for name in counts},
            encoder=typed(encoder, "id", str),
            encoder_sha256=typed(encoder, "sha256", str),
            dim=typed(fields, "dimension", int),
            files=tuple(sorted(file_entry(item) for item in typed(fields, "files", list))),
        )
        if unknown := sorted(set(fields) - _KEYS):
            raise invalid(f"it has unknown fields: {', '.join(map(repr, unknown))}")
        check_values(manifest)
        check_files(manifest)
        return manifest


_TEXTS = ("tracer", "fingerprint", "created", "revision", "metric", "minimum_client")
_KEYS = {*_TEXTS, "schema", "encoder", "counts", "dimension", "files"}


def shard_path(number: int, kind: str) -> str:
    """Such as `shards/00003.rows.parquet`."""
    return f"shards/{number:05}.{kind}.{_ENDINGS[kind]}"


def parse(content: bytes) -> dict[str, Any]:
    """The JSON object in the content."""
    if len(content) > LARGEST_MANIFEST:
        raise invalid(f"it has {len(content):,} bytes, at most {LARGEST_MANIFEST:,} are read")
    try:
        fields = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise invalid(f"it is not JSON ({error})") from error
    if not isinstance(fields, dict):
        raise invalid(f"it holds a {type(fields).__name__}, expected an object")
    return fields


def check_format(fields: dict[str, Any]) -> None:
    """Refuse a format of another version before anything else is looked at."""
    found = typed(fields, "schema", int)
    if found > SCHEMA:
        raise IndexIncompatible(
            f"{MANIFEST} has schema {found}; this version of nar-plugin reads {SCHEMA}. "
            "Run `pip install --upgrade nar-plugin`, or ask for an older revision=."
        )
    if found < SCHEMA:
        raise IndexIncompatible(
            f"{MANIFEST} has schema {found}; this version of nar-plugin reads {SCHEMA}. "
            "Run `nar index update` for an index of today's format."
        )
    wanted, here = typed(fields, "minimum_client", str), metadata.version("nar-plugin")
    if release(wanted) > release(here):
        raise IndexIncompatible(
            f"{MANIFEST} wants nar-plugin {wanted[:32]!r} or newer; this is {here}. "
            "Run `pip install --upgrade nar-plugin`, or ask for an older revision=."
        )


def release(version: str) -> tuple[int, ...]:
    """The numbers at the start of a version: (0, 1, 0) of `0.1.0.dev3`."""
    match = re.match(r"\d{1,9}(?:\.\d{1,9}){0,3}", version)
    if not match:
        raise invalid(f"minimum_client is no version: {version[:32]!r}")
    return tuple(int(part) for part in match[0].split("."))


def file_entry(fields: Any) -> FileEntry:
    """One entry of `files`: its path has the form of its kind, so it cannot leave the folder."""
    fields = exact(fields, "an entry of files", ("path", "kind", "bytes", "sha256", "rows"))
    path, kind = typed(fields, "path", str), typed(fields, "kind", str)
    entry = FileEntry(
        path,
        kind,
        typed(fields, "sha256", str),
        typed(fields, "bytes", int),
        typed(fields, "rows", int),
    )
    if kind not in PATHS or not PATHS[kind].fullmatch(path):
        raise invalid(f"it lists the file {path[:80]!r} of kind {kind[:20]!r}, which no index has")
    if not _HASH.fullmatch(entry.sha256):
        raise invalid(f"the sha256 of {path} is not one: {entry.sha256[:80]!r}")
    if entry.size < 0 or not 0 <= entry.rows <= MOST_ROWS:
        raise invalid(f"{path} has {entry.size} bytes and {entry.rows} rows")
    return entry


def check_values(manifest: Manifest) -> None:
    """Refuse values that no index can have."""
    if manifest.metric != METRIC:
        raise IndexIncompatible(
            f"{MANIFEST} has metric {manifest.metric[:32]!r}; nar-plugin compares by {METRIC!r} "
            "only. Run `nar index update`."
        )
    counts = manifest.graphs, manifest.names, manifest.rows, manifest.tombstones
    if not 1 <= manifest.dim <= LARGEST_DIMENSION or min(counts) < 0:
        raise invalid(f"dimension {manifest.dim} or a count of {counts} is out of range")
    if not manifest.graphs <= min(manifest.names, manifest.rows) or manifest.rows > MOST_ROWS:
        raise invalid("its counts contradict each other")
    try:
        date.fromisoformat(manifest.created)
    except ValueError as error:
        raise invalid(f"created is no ISO date: {manifest.created[:32]!r}") from error


def check_files(manifest: Manifest) -> None:
    """Refuse a list of files that is not that of one whole index."""
    paths = [entry.path for entry in manifest.files]
    if len(set(paths)) != len(paths):
        raise invalid("it lists a file twice")
    vectors, rows = manifest.of_kind("vectors"), manifest.of_kind("rows")
    shards = {
        kind: {entry.shard: entry.rows for entry in manifest.of_kind(kind)} for kind in _ENDINGS
    }
    if list(shards["vectors"]) != list(range(len(vectors))) or shards["rows"] != shards["vectors"]:
        raise invalid("its shards are not numbered from 0, each with vectors and as many rows")
    if not shards["graphs"].items() <= shards["rows"].items():
        raise invalid("it lists graphs that are not one for each row of their shard")
    if sum(entry.rows for entry in rows) != manifest.rows:
        raise invalid("the rows of its shards are not as many as counts says")
    if sum(entry.rows for entry in manifest.of_kind("tombstones")) != manifest.tombstones:
        raise invalid("it does not list as many tombstones as counts says")
    for entry in vectors:
        least = 2 * entry.rows * manifest.dim
        if not least <= entry.size <= 2 * least + (1 << 16):
            raise invalid(
                f"{entry.path} cannot hold {entry.rows:,} vectors of {manifest.dim} numbers in "
                f"{entry.size:,} bytes"
            )
    if any(entry.rows > manifest.rows for entry in manifest.of_kind("derived")):
        raise invalid("a derived file says that it holds more vectors than there are")


def exact(fields: Any, name: str, keys: tuple[str, ...]) -> dict[str, Any]:
    """The fields, if they are an object with exactly these keys."""
    if not isinstance(fields, dict) or set(fields) != set(keys):
        raise invalid(f"{name} is not an object with the keys {', '.join(keys)}")
    return fields


def typed(fields: Mapping[str, Any], name: str, kind: type) -> Any:
    """The field's value, of exactly this type (a bool is no int)."""
    value = fields.get(name)
    if type(value) is not kind:
        raise invalid(f"{name} is {str(value)[:80]!r}, expected {kind.__name__}")
    return value


def own_hash(fields: Mapping[str, Any]) -> str:
    """The sha256 of the fields in a form that no layout changes."""
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


def invalid(reason: str) -> IndexUnavailable:
    """The error for a manifest that cannot be trusted."""
    return IndexUnavailable(
        f"{MANIFEST} is not valid: {reason}. `nar index update` fetches a sound index."
    )
