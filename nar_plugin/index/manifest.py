"""The manifest: what an index holds, which encoder made it, and a hash of each of its files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any

from nar_plugin.errors import IndexIncompatible, IndexUnavailable

MANIFEST = "manifest.json"
VECTORS = "vectors.safetensors"
ROWS = "rows.parquet"
SCHEMA = 1
METRIC = "cosine"


@dataclass(frozen=True)
class FileEntry:
    """Hash of one file of an index, and its size in bytes."""

    sha256: str
    size: int

    @classmethod
    def of(cls, content: bytes) -> FileEntry:
        """The entry that describes this content."""
        return cls(hashlib.sha256(content).hexdigest(), len(content))

    def matches(self, content: bytes) -> bool:
        """Whether the content is the one that this entry describes."""
        return len(content) == self.size and FileEntry.of(content) == self


@dataclass(frozen=True)
class Manifest:
    """What stands in `manifest.json`.

    Attributes:
        tracer: Version of the tracer that read the models.
        fingerprint: Version of the fingerprints in the rows.
        encoder: Id of the encoder that made the vectors.
        encoder_sha256: Hash of that encoder's weights.
        dim: Length of a vector.
        graphs: Number of rows and vectors: distinct fingerprints.
        names: Number of model references over all rows.
        created: ISO date on which the index was made.
        revision: Name of this state of the index, such as `2026.11.21`.
        files: Entry of each file by its name in the folder.
        metric: How vectors are compared.
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
    files: Mapping[str, FileEntry] = field(default_factory=dict)
    metric: str = METRIC
    schema: int = SCHEMA

    def to_json(self) -> bytes:
        """The content of `manifest.json`, closed by a hash of itself."""
        content = asdict(self)
        content["encoder"] = {"id": self.encoder, "sha256": content.pop("encoder_sha256")}
        content["files"] = {
            name: {"sha256": entry.sha256, "bytes": entry.size}
            for name, entry in self.files.items()
        }
        content["sha256"] = own_hash(content)
        return json.dumps(content, indent=2, sort_keys=True).encode() + b"\n"

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
        encoder = typed(fields, "encoder", dict)
        files = {
            name: FileEntry(typed(entry, "sha256", str), typed(entry, "bytes", int))
            for name, entry in typed(fields, "files", dict).items()
        }
        known = {"encoder": typed(encoder, "id", str), "files": files}
        known["encoder_sha256"] = typed(encoder, "sha256", str)
        for name in ("tracer", "fingerprint", "created", "revision", "metric"):
            known[name] = typed(fields, name, str)
        for name in ("dim", "graphs", "names", "schema"):
            known[name] = typed(fields, name, int)
        check_values(fields, known)
        return cls(**known)


def parse(content: bytes) -> dict[str, Any]:
    """The JSON object in the content."""
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


def check_values(fields: dict[str, Any], known: dict[str, Any]) -> None:
    """Refuse unknown fields and values that no index can have."""
    if unknown := sorted(set(fields) - set(known)):
        raise invalid(f"it has unknown fields: {', '.join(unknown)}")
    if known["metric"] != METRIC:
        raise IndexIncompatible(
            f"{MANIFEST} has metric {known['metric']!r}; nar-plugin compares by {METRIC!r} only. "
            "Run `nar index update`."
        )
    if set(known["files"]) != {VECTORS, ROWS}:
        raise invalid(f"it lists {sorted(known['files'])}, expected {sorted((VECTORS, ROWS))}")
    if known["dim"] < 1 or not 0 <= known["graphs"] <= known["names"]:
        raise invalid("its counts contradict each other")
    try:
        date.fromisoformat(known["created"])
    except ValueError as error:
        raise invalid(f"created is no ISO date: {known['created']!r}") from error


def typed(fields: Any, name: str, kind: type) -> Any:
    """The field's value, of exactly this type (a bool is no int)."""
    value = fields.get(name) if isinstance(fields, dict) else None
    if type(value) is not kind:
        raise invalid(f"{name} is {value!r}, expected {kind.__name__}")
    return value


def own_hash(fields: Mapping[str, Any]) -> str:
    """The sha256 of the fields in a form that no layout changes."""
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


def invalid(reason: str) -> IndexUnavailable:
    """The error for a manifest that cannot be trusted."""
    return IndexUnavailable(
        f"{MANIFEST} is not valid: {reason}. `nar index update` fetches a sound index."
    )
