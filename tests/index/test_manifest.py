import hashlib
import json

import pytest

from nar_plugin.errors import IndexIncompatible, IndexUnavailable
from nar_plugin.index.manifest import FileEntry, Manifest


@pytest.fixture
def manifest():
    entry = FileEntry.of(b"abc")
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
        files={"vectors.safetensors": entry, "rows.parquet": entry},
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
    assert FileEntry.of(b"abc") == FileEntry(digest, 3)
    assert FileEntry(digest, 3).matches(b"abc")
    assert not FileEntry(digest, 3).matches(b"abd")
    assert not FileEntry(digest, 4).matches(b"abc")


def test_a_newer_schema_asks_for_an_upgrade(manifest):
    with pytest.raises(IndexIncompatible, match=r"schema 2.*pip install --upgrade nar-plugin"):
        Manifest.from_json(edited(manifest, schema=2, novelty=[1]))


def test_an_older_schema_asks_for_an_update(manifest):
    with pytest.raises(IndexIncompatible, match=r"schema 0.*nar index update"):
        Manifest.from_json(edited(manifest, schema=0))


def test_another_metric(manifest):
    with pytest.raises(IndexIncompatible, match="metric 'l2'"):
        Manifest.from_json(edited(manifest, metric="l2"))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"dim": "512"}, "dim is '512', expected int"),
        ({"dim": True}, "dim is True, expected int"),
        ({"dim": 0}, "counts"),
        ({"graphs": 5}, "counts"),
        ({"graphs": -1}, "counts"),
        ({"revision": None}, "revision is None, expected str"),
        ({"schema": None}, "schema is None, expected int"),
        ({"encoder": "nar-base"}, "encoder is 'nar-base', expected dict"),
        ({"encoder": {"id": "nar-base"}}, "sha256 is None"),
        ({"created": "yesterday"}, "no ISO date: 'yesterday'"),
        ({"files": {}}, "lists"),
        ({"files": {"rows.parquet": 3, "vectors.safetensors": 3}}, "sha256 is None"),
        ({"files": {"../rows.parquet": {"sha256": "a", "bytes": 1}}}, "lists"),
        ({"colour": "blue"}, "unknown fields: colour"),
    ],
)
def test_fields_are_checked(manifest, changes, text):
    with pytest.raises(IndexUnavailable, match=text):
        Manifest.from_json(edited(manifest, **changes))


def test_a_hand_edited_manifest_is_refused(manifest):
    content = manifest.to_json().replace(b"nar-base", b"nar-evil")
    with pytest.raises(IndexUnavailable, match="own sha256"):
        Manifest.from_json(content)


@pytest.mark.parametrize("content", [b"", b"[]", b"3", b"\xff\xfe", b"{", b"[" * 100_000])
def test_what_is_no_manifest(content):
    with pytest.raises(IndexUnavailable, match=r"manifest\.json is not valid"):
        Manifest.from_json(content)
