"""Anything in the place of a file or a folder: an error that says what it is, and never a wait."""

import json
import os
import threading
from pathlib import Path
from shutil import copytree, rmtree

import numpy as np
import pytest
from huggingface_hub import constants

import nar_plugin
from nar_plugin import hub
from nar_plugin.errors import IndexUnavailable, NarError
from nar_plugin.hub.pointer import pointer_path, read_pointers
from nar_plugin.index import EMBEDDED, ArchitectureIndex, ArchitectureRow, overlay
from nar_plugin.index.store.manifest import own_hash

NAMES = ("manifest.json", "shards/00000.rows.parquet", "shards/00000.vectors.safetensors")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hf" / "hub"))
    nar_plugin.clear_cache()
    yield tmp_path / "hf"
    nar_plugin.clear_cache()


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    known = ArchitectureIndex.load(EMBEDDED).manifest
    rows = [
        ArchitectureRow(
            f"timm:net{number}",
            (f"timm:net{number}",),
            library="timm",
            family="net",
            task="image-classification",
            params=1,
            flops=1,
            fingerprint=f"{number:08x}",
            design=f"{number:08x}",
            licence="MIT",
        )
        for number in range(3)
    ]
    folder = tmp_path_factory.mktemp("files") / "index"
    ArchitectureIndex.from_rows(
        rows,
        np.eye(3, known.dim, dtype=np.float32),
        known.encoder,
        known.encoder_sha256,
        tracer=known.tracer,
        fingerprint=known.fingerprint,
    ).save(folder)
    return folder


@pytest.fixture
def folder(original, tmp_path):
    return copytree(original, tmp_path / "index")


def in_time(call):
    """What a call gives or raises; it must not wait for another process."""
    told = []

    def run():
        try:
            told.append((call(), None))
        except BaseException as error:
            told.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)
    assert told, "it waits"
    value, error = told[0]
    if error is not None:
        raise error
    return value


def loop(path):
    path.symlink_to(path.name)


def endless(path):
    path.symlink_to("/dev/zero")


STRANGE = {
    "pipe": os.mkfifo,
    "folder": Path.mkdir,
    "device": endless,
    "loop of links": loop,
    "lost link": lambda path: path.symlink_to("nowhere"),
}


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize("name", NAMES)
def test_no_file_of_an_index_blocks(folder, name, kind):
    (folder / name).unlink()
    STRANGE[kind](folder / name)
    for read in (nar_plugin.load_index, ArchitectureIndex.verify):
        with pytest.raises(IndexUnavailable, match=Path(name).name):
            in_time(lambda: read(folder))  # noqa: B023


@pytest.mark.parametrize("kind", STRANGE)
def test_no_pointer_blocks(home, kind, caplog):
    pointer_path().parent.mkdir(parents=True)
    STRANGE[kind](pointer_path())
    if kind != "lost link":  # as if nothing had been downloaded yet
        with pytest.raises(IndexUnavailable, match="`nar index update` writes it"):
            in_time(read_pointers)
    assert in_time(nar_plugin.load_index).source == "embedded"


POINTERS = {
    "deep": b"[" * 200_000,
    "deep object": b'{"a":' * 200_000,
    "number": b"5",
    "text": b'"active"',
    "null": b"null",
    "list": b'{"active": [], "previous": [1]}',
    "wrong type": b'{"active": {"repository": 5}, "previous": null}',
    "number for a text": b'{"active": 7, "previous": null}',
    "not utf-8": b'{"active": "\xff"}',
    "nan": b'{"active": NaN, "previous": null}',
    "huge": b" " * 100_000,
    "large number": b'{"active": ' + b"9" * 10_000 + b', "previous": null}',
}


def pointing(**fields):
    active = {"repository": "a/b", "commit": "c" * 40, "revision": "main"}
    active |= {"updated": "2026-11-20T00:00:00+00:00"} | fields
    return json.dumps({"active": active, "previous": None}).encode()


POINTERS |= {
    "repository upwards": pointing(repository="../.."),
    "repository absolute": pointing(repository="/etc"),
    "two folders of one name": pointing(repository="a/b--c"),
    "commit upwards": pointing(commit="../../../../../../tmp"),
    "commit of other digits": pointing(commit="\u0663" * 40),
    "revision for a terminal": pointing(revision="\x1b[31m"),
    "year": pointing(updated="99999-01-01"),
}


@pytest.mark.parametrize("kind", POINTERS)
def test_a_pointer_of_any_content(home, kind):
    pointer_path().parent.mkdir(parents=True)
    pointer_path().write_bytes(POINTERS[kind])
    with pytest.raises(IndexUnavailable, match="`nar index update` writes it"):
        read_pointers()
    assert nar_plugin.load_index().source == "embedded"


PLACES = ["\0", "a\0b", "~nosuchuser/x", "x" * 5000, "/" + "y/" * 3000, "", " ", "\udcff", ".", "/"]


@pytest.mark.parametrize("place", PLACES)
def test_a_place_of_any_name(place):
    for ask in (
        lambda: nar_plugin.load_index(place),
        lambda: nar_plugin.load_index(place, revision="main"),
        lambda: ArchitectureIndex.verify(place),
        lambda: hub.ArchitectureIndex.from_pretrained(place, local_files_only=True),
        lambda: hub.open_with_graphs(place, None),
    ):
        with pytest.raises(NarError):
            ask()


def test_a_place_behind_a_loop(tmp_path):
    loop(tmp_path / "loop")
    for place in (tmp_path / "loop", tmp_path / "loop" / "index"):
        with pytest.raises(NarError, match="No index in"):
            nar_plugin.load_index(place)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_nobody_may_read(folder):
    folder.chmod(0)
    try:
        with pytest.raises(NarError, match="Permission denied"):
            nar_plugin.load_index(folder)
    finally:
        folder.chmod(0o700)


def edited(folder, change):
    """The manifest with a change, and the hash of itself that goes with it."""
    fields = json.loads((folder / "manifest.json").read_bytes())
    fields.pop("sha256")
    change(fields)
    fields["sha256"] = own_hash(fields)
    (folder / "manifest.json").write_text(json.dumps(fields))


FILE_CHANGES = {
    "absolute": {"path": "/etc/passwd"},
    "upwards": {"path": "shards/../../x.rows.parquet"},
    "other digits": {"path": "shards/\u0660\u0660\u0660\u0660\u0660.rows.parquet"},
    "upper case": {"path": "SHARDS/00000.rows.parquet"},
    "line end": {"path": "shards/00000.rows.parquet\n"},
    "negative": {"bytes": -1},
    "enormous": {"bytes": 10**18},
    "beyond": {"bytes": 10**40},
    "text": {"bytes": "12"},
    "fraction": {"bytes": 1.0},
    "no number": {"rows": float("nan")},
    "truth": {"rows": True},
    "many rows": {"rows": 2**31 + 1},
    "null": {"sha256": None},
    "list": {"kind": ["rows"]},
    "object": {"kind": {}},
}


@pytest.mark.parametrize("kind", FILE_CHANGES)
def test_a_manifest_that_lies_about_a_file(folder, kind):
    edited(folder, lambda fields: fields["files"][0].update(FILE_CHANGES[kind]))
    with pytest.raises(NarError, match=r"manifest\.json"):
        nar_plugin.load_index(folder)


def test_a_file_that_is_listed_twice(folder):
    edited(folder, lambda fields: fields["files"].append(fields["files"][0]))
    with pytest.raises(NarError, match="twice"):
        nar_plugin.load_index(folder)


@pytest.mark.parametrize("value", [None, 5, [], {}, "x", True, float("inf"), 10**400, "\0", "\x1b"])
def test_a_manifest_with_any_value_in_any_field(folder, value):
    content = (folder / "manifest.json").read_bytes()
    for name in json.loads(content):
        (folder / "manifest.json").write_bytes(content)
        if name == "sha256" or json.loads(content)[name] == value:
            continue
        edited(folder, lambda fields: fields.update({name: value}))  # noqa: B023
        if name == "revision" and value == "x":  # a name like any other
            continue
        if name in ("tracer", "fingerprint", "created") and value == "x":
            continue
        with pytest.raises(NarError):
            nar_plugin.load_index(folder)


def writes(index):
    """Every way to write into the overlay."""
    return {
        "add": lambda: overlay.add_models([], index, lambda macros: np.empty((0, 512))),
        "remove": lambda: overlay.remove_models(["timm:net0"]),
        "reencode": lambda: overlay.reencode_overlay(index, lambda macros: np.empty((0, 512))),
    }


LINKED = (
    "nar",
    "nar/overlay",
    "nar/overlay/shards",
    "nar/overlay/manifest.json",
    "nar/overlay.lock",
)


@pytest.mark.parametrize("way", ["add", "remove", "reencode"])
@pytest.mark.parametrize("name", LINKED)
def test_own_models_are_not_written_through_a_link(home, original, tmp_path, caplog, name, way):
    (home / "nar").mkdir(parents=True)
    copytree(original, home / "nar" / "overlay")
    (home / "nar" / "overlay.lock").write_text("mine")
    other = tmp_path / "elsewhere"
    (home / name).rename(other)
    (home / name).symlink_to(other)
    before = {path: path.read_bytes() for path in [other, *other.rglob("*")] if path.is_file()}
    index = ArchitectureIndex.load(EMBEDDED)
    with pytest.raises(NarError, match="is a link"):
        writes(index)[way]()
    after = {path: path.read_bytes() for path in [other, *other.rglob("*")] if path.is_file()}
    assert after == before
    assert len(overlay.overlaid(index).result) == len(index)  # nor read
    assert "is a link" in caplog.text


def test_a_home_that_is_a_link_is_one(home, original, tmp_path):
    (tmp_path / "disk" / "nar").mkdir(parents=True)
    home.symlink_to(tmp_path / "disk")
    copytree(original, home / "nar" / "overlay")
    index = ArchitectureIndex.load(EMBEDDED)
    writes(index)["add"]()
    assert len(overlay.overlaid(index).result.overlay) == 3


@pytest.mark.parametrize("kind", STRANGE)
def test_own_models_that_cannot_be_read_keep_no_query_waiting(home, original, kind, caplog):
    copytree(original, home / "nar" / "overlay")
    for name in NAMES:
        (home / "nar/overlay" / name).unlink()
        STRANGE[kind](home / "nar/overlay" / name)
    index = ArchitectureIndex.load(EMBEDDED)
    assert in_time(lambda: len(overlay.overlaid(index).result)) == len(index)
    with pytest.raises(NarError):
        in_time(writes(index)["remove"])


@pytest.mark.parametrize("name", ["shards", "derived", ".saving"])
def test_an_index_is_not_written_through_a_link(folder, tmp_path, name):
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "00007.rows.parquet").write_bytes(b"mine")
    index = ArchitectureIndex.load(folder)
    if (folder / name).exists():
        rmtree(folder / name)
    (folder / name).symlink_to(other)
    saved = ArchitectureIndex(index.contents)
    with pytest.raises(NarError):
        saved.save(folder)
    assert [path.name for path in other.iterdir()] == ["00007.rows.parquet"]


def test_what_a_killed_save_left_leads_nowhere_else(folder, tmp_path):
    other = tmp_path / "elsewhere"
    other.mkdir()
    (folder / ".saving" / "more").mkdir(parents=True)
    (folder / ".saving" / "more" / "evil.pth").write_bytes(b"evil")
    (folder / "more").symlink_to(other)
    with pytest.raises(NarError, match="A link leads"):
        ArchitectureIndex.load(folder).save(folder)
    assert not list(other.iterdir())
