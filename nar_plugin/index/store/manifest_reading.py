"""Reads a manifest strictly: it may come from anybody."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from nar_plugin.errors import IndexIncompatible, IndexUnavailable
from nar_plugin.index.store.manifest import (
    ENDINGS,
    LARGEST_FILE,
    LARGEST_JSON,
    LARGEST_MANIFEST,
    MANIFEST,
    METRIC,
    PATHS,
    SCHEMA,
    FileEntry,
    Manifest,
    own_hash,
)
from nar_plugin.version import VERSION

LARGEST_DIMENSION = 1 << 16
MOST_ROWS = 1 << 31
LONGEST_TEXT = 200

_HASH = re.compile(r"[0-9a-f]{64}")
_TEXTS = ("tracer", "fingerprint", "created", "revision", "metric", "minimum_client")
_KEYS = {*_TEXTS, "schema", "encoder", "counts", "dimension", "files", "versions"}


def read(content: bytes) -> Manifest:
    """See `Manifest.from_json`."""
    fields = parse(content)
    check_format(fields)
    if fields.pop("sha256", None) != own_hash(fields):
        raise invalid("its content does not match its own sha256: damaged, or edited by hand")
    encoder = exact(fields.get("encoder"), "encoder", ("id", "sha256"))
    counts = exact(fields.get("counts"), "counts", ("graphs", "names", "rows", "tombstones"))
    manifest = Manifest(
        **{name: typed(fields, name, str) for name in _TEXTS},
        **{name: typed(counts, name, int) for name in counts},
        encoder=typed(encoder, "id", str),
        encoder_sha256=typed(encoder, "sha256", str),
        dim=typed(fields, "dimension", int),
        versions=versions_of(fields.get("versions", {})),
        files=tuple(sorted(file_entry(item) for item in typed(fields, "files", list))),
    )
    if unknown := sorted(set(fields) - _KEYS):
        raise invalid(f"it has unknown fields: {', '.join(map(repr, unknown))}")
    check_values(manifest)
    check_files(manifest)
    return manifest


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
    wanted, here = typed(fields, "minimum_client", str), VERSION
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


def versions_of(fields: Any) -> dict[str, str]:
    """The versions of libraries: an object of texts."""
    if not isinstance(fields, dict) or any(type(text) is not str for text in fields.values()):
        raise invalid("versions is no object of texts")
    return fields


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
    most = LARGEST_JSON if path.endswith(".json") else LARGEST_FILE
    if not 0 <= entry.size <= most or not 0 <= entry.rows <= MOST_ROWS:
        raise invalid(f"{path} has {entry.size} bytes and {entry.rows} rows")
    return entry


def check_values(manifest: Manifest) -> None:
    """Refuse values that no index can have."""
    if problem := unfit_text(manifest):
        raise invalid(problem)
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


def unfit_text(manifest: Manifest) -> str | None:
    """Which text must not go into a message, where a terminal would obey it; None if all may."""
    texts = {name: getattr(manifest, name) for name in (*_TEXTS, "encoder", "encoder_sha256")}
    versions = (text for pair in manifest.versions.items() for text in pair)
    for name, text in (*texts.items(), *(("versions", text) for text in versions)):
        if not text.isprintable() or len(text) > LONGEST_TEXT:
            return f"{name} is {text[:80]!a}, expected at most {LONGEST_TEXT} printable characters"
    return None


def check_files(manifest: Manifest) -> None:
    """Refuse a list of files that is not that of one whole index."""
    paths = [entry.path for entry in manifest.files]
    if len(set(paths)) != len(paths):
        raise invalid("it lists a file twice")
    vectors, rows = manifest.of_kind("vectors"), manifest.of_kind("rows")
    shards = {
        kind: {entry.shard: entry.rows for entry in manifest.of_kind(kind)} for kind in ENDINGS
    }
    if list(shards["vectors"]) != list(range(len(vectors))) or shards["rows"] != shards["vectors"]:
        raise invalid("its shards are not numbered from 0, each with vectors and as many rows")
    for kind in ("graphs", "labels"):
        if not shards[kind].items() <= shards["rows"].items():
            raise invalid(f"it lists {kind} that are not one for each row of their shard")
    if not shards["blocks"].keys() <= shards["rows"].keys():
        raise invalid("it lists blocks of a shard that it does not list")
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


def invalid(reason: str) -> IndexUnavailable:
    """The error for a manifest that cannot be trusted."""
    return IndexUnavailable(
        f"{MANIFEST} is not valid: {reason}. `nar index update` fetches a sound index."
    )
