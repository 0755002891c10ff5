import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from nar_plugin.errors import IndexIncompatible, IndexUnavailable
from nar_plugin.index.store.manifest import FileEntry, Manifest

ROWS, VECTORS = "shards/00000.rows.parquet", "shards/00000.vectors.safetensors"


def described(path, kind, rows=3, size=3 * 1024 + 100):
    return FileEntry(path, kind, "ab" * 32, size, rows)


@pytest.fixture
def manifest():
    return Manifest(
        tracer="1",
        fingerprint="nar1",
        encoder="nar-base",
        encoder_sha256="c0ffee",
        dim=512,
        graphs=3,
        names=4,
        created="2026-11-21",
        revision="2026.11.21",
        rows=3,
        files=(described(ROWS, "rows"), described(VECTORS, "vectors")),
    )


def edited(manifest, **changes):
    """The manifest's content with changed fields (None removes one) and a hash that fits."""
    fields = json.loads(manifest.to_json()) | changes
    fields = {name: value for name, value in fields.items() if value is not None}
    del fields["sha256"]
    fields["sha256"] = hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
    return json.dumps(fields).encode()


def test_round_trip(manifest):
    assert Manifest.from_json(manifest.to_json()) == manifest
    assert Manifest.from_json(edited(manifest)) == manifest  # layout does not matter


def test_file_entry_is_sha256_and_size():
    # FIPS 180-2, appendix B.1
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    entry = FileEntry.of(b"abc", ROWS, "rows", 7)
    assert entry == FileEntry(ROWS, "rows", digest, 3, 7)
    assert entry.matches(b"abc")
    assert not entry.matches(b"abd")
    assert not replace(entry, size=4).matches(b"abc")
    assert entry.shard == 0
    assert described("tombstones.json", "tombstones").shard is None


def test_files_are_sorted_by_path(manifest):
    first, second = manifest.files
    assert Manifest.from_json(replace(manifest, files=(second, first)).to_json()) == manifest


def test_a_newer_schema_asks_for_an_upgrade(manifest):
    with pytest.raises(IndexIncompatible, match=r"schema 3.*pip install --upgrade nar-plugin"):
        Manifest.from_json(edited(manifest, schema=3, novelty=[1]))


def test_an_older_schema_asks_for_an_update(manifest):
    with pytest.raises(IndexIncompatible, match=r"schema 1.*nar index update"):
        Manifest.from_json(edited(manifest, schema=1))


@pytest.mark.parametrize("version", ["0.1", "0.0.9", "0.1.0rc1"])
def test_a_client_that_is_new_enough(manifest, version):
    Manifest.from_json(edited(manifest, minimum_client=version))


@pytest.mark.parametrize("version", ["0.1.1", "0.2.dev3", "99"])
def test_a_client_that_is_too_old(manifest, version):
    with pytest.raises(IndexIncompatible, match=r"or newer; this is .*pip install --upgrade"):
        Manifest.from_json(edited(manifest, minimum_client=version))


def test_another_metric(manifest):
    with pytest.raises(IndexIncompatible, match="metric 'l2'"):
        Manifest.from_json(edited(manifest, metric="l2"))


COUNTS = {"graphs": 3, "names": 4, "rows": 3, "tombstones": 0}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"dimension": "512"}, "dimension is '512', expected int"),
        ({"dimension": True}, "dimension is 'True', expected int"),
        ({"dimension": 0}, "out of range"),
        ({"dimension": -512}, "out of range"),
        ({"dimension": 1 << 20}, "out of range"),
        ({"dimension": 4096}, "cannot hold 3 vectors of 4096 numbers"),
        ({"counts": COUNTS | {"graphs": 5}}, "counts"),
        ({"counts": COUNTS | {"graphs": -1}}, "out of range"),
        ({"counts": COUNTS | {"rows": 4}}, "as many as counts"),
        ({"counts": COUNTS | {"tombstones": 1}}, "as many tombstones"),
        ({"counts": COUNTS | {"extra": 1}}, "counts is not an object with the keys"),
        ({"revision": None}, "revision is 'None', expected str"),
        ({"schema": None}, "schema is 'None', expected int"),
        ({"encoder": "nar-base"}, "encoder is not an object"),
        ({"encoder": {"id": "nar-base"}}, "encoder is not an object"),
        ({"created": "yesterday"}, "no ISO date: 'yesterday'"),
        ({"minimum_client": "new"}, "no version: 'new'"),
        ({"files": []}, "rows of its shards"),
        ({"files": {}}, "expected list"),
        ({"colour": "blue"}, "unknown fields: 'colour'"),
        ({"\x1b[2J": 1}, r"'\\x1b\[2J'"),
        ({"revision": "\x1b]0;owned\x07"}, r"revision is '\\x1b\]0;owned\\x07', expected at most"),
        ({"revision": "2026\u202e11"}, r"revision is '2026\\u202e11'"),
        ({"revision": "1\n2"}, r"revision is '1\\n2'"),
        ({"revision": "1" * 201}, "revision is '11*', expected at most 200"),
        ({"tracer": "\x9b2J"}, r"tracer is '\\x9b2J'"),
        ({"encoder": {"id": "\x1b[2J", "sha256": ""}}, r"encoder is '\\x1b\[2J'"),
    ],
)
def test_fields_are_checked(manifest, changes, text):
    with pytest.raises(IndexUnavailable, match=text):
        Manifest.from_json(edited(manifest, **changes))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"path": "../../.bashrc"}, "which no index has"),
        ({"path": "/etc/passwd"}, "which no index has"),
        ({"path": "shards/../../x.rows.parquet"}, "which no index has"),
        ({"path": "shards/00000.rows.parquet\n"}, "which no index has"),
        ({"path": "shards\\00000.rows.parquet"}, "which no index has"),
        ({"path": "shards/00000.rows.pickle"}, "which no index has"),
        ({"path": "manifest.json"}, "which no index has"),
        ({"kind": "vectors"}, "which no index has"),
        ({"kind": "code"}, "which no index has"),
        ({"path": "shards/00001.rows.parquet"}, "not numbered from 0"),
        ({"sha256": "ab" * 31}, "sha256"),
        ({"sha256": "AB" * 32}, "sha256"),
        ({"bytes": -1}, "-1 bytes"),
        ({"bytes": 3.0}, "expected int"),
        ({"rows": -3}, "-3 rows"),
        ({"rows": 1 << 40}, "rows"),
        ({"rows": 2}, "each with vectors and as many rows"),
        ({"mode": "0777"}, "an entry of files is not an object"),
    ],
)
def test_file_entries_are_checked(manifest, changes, text):
    rows, vectors = json.loads(manifest.to_json())["files"]
    with pytest.raises(IndexUnavailable, match=text):
        Manifest.from_json(edited(manifest, files=[rows | changes, vectors]))


def test_a_file_listed_twice(manifest):
    files = json.loads(manifest.to_json())["files"]
    with pytest.raises(IndexUnavailable, match="a file twice"):
        Manifest.from_json(edited(manifest, files=[*files, files[0]]))


def test_more_derived_vectors_than_there_are(manifest):
    derived = described("derived/ivf.faiss", "derived", rows=4)
    with pytest.raises(IndexUnavailable, match="more vectors than there are"):
        Manifest.from_json(replace(manifest, files=(*manifest.files, derived)).to_json())


def test_a_manifest_that_is_too_large():
    with pytest.raises(IndexUnavailable, match="at most"):
        Manifest.from_json(b" " * (16 << 20) + b"{}")


def test_a_hand_edited_manifest_is_refused(manifest):
    content = manifest.to_json().replace(b"nar-base", b"nar-evil")
    with pytest.raises(IndexUnavailable, match="own sha256"):
        Manifest.from_json(content)


@pytest.mark.parametrize("content", [b"", b"[]", b"3", b"\xff\xfe", b"{", b"[" * 100_000])
def test_what_is_no_manifest(content):
    with pytest.raises(IndexUnavailable, match=r"manifest\.json is not valid"):
        Manifest.from_json(content)


@pytest.mark.parametrize(
    ("days", "age"),
    [(-1, "made today"), (0, "made today"), (1, "1 day old"), (1200, "1,200 days old")],
)
def test_its_age_in_days(manifest, days, age):
    made = datetime.now(UTC).date() - timedelta(days=days)
    assert replace(manifest, created=made.isoformat()).age == age
