import json
import os
import shutil
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import save

from nar_plugin.errors import IndexIncompatible, IndexUnavailable, NarError
from nar_plugin.index import ArchitectureIndex
from nar_plugin.index.store import folder as folder_module
from nar_plugin.index.store.manifest import FileEntry, Manifest
from nar_plugin.index.store.parquet import to_parquet
from nar_plugin.index.store.rows import to_table

VECTORS, ROWS = "shards/00000.vectors.safetensors", "shards/00000.rows.parquet"
FILES = ["manifest.json", VECTORS, ROWS]


def files_in(folder):
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(saved, name):
    (saved / name).unlink()
    with pytest.raises(IndexUnavailable, match=f"(?s){name}.*nar index update"):
        ArchitectureIndex.load(saved)


@pytest.mark.parametrize("name", FILES)
def test_a_truncated_file_is_named(saved, name):
    content = (saved / name).read_bytes()
    (saved / name).write_bytes(content[:-7])
    with pytest.raises(IndexUnavailable, match=f"(?s){name}.*nar index update"):
        ArchitectureIndex.load(saved)


@pytest.mark.parametrize("name", FILES)
def test_an_empty_file_is_named(saved, name):
    (saved / name).write_bytes(b"")
    with pytest.raises(IndexUnavailable, match=name):
        ArchitectureIndex.load(saved)


@pytest.mark.parametrize("name", FILES)
def test_every_flipped_byte_is_noticed(saved, name):
    content = (saved / name).read_bytes()
    for position in range(0, len(content), 1 if len(content) < 1000 else 31):
        flipped = bytearray(content)
        flipped[position] ^= 1
        (saved / name).write_bytes(flipped)
        with pytest.raises(NarError, match=name):
            ArchitectureIndex.load(saved)


def test_no_index_at_all(tmp_path):
    with pytest.raises(IndexUnavailable, match=r"No index in .*nowhere"):
        ArchitectureIndex.load(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    with pytest.raises(IndexUnavailable, match=r"No index in .*file"):
        ArchitectureIndex.load(tmp_path / "file")


def test_the_embedded_index_is_mended_by_pip(tmp_path, monkeypatch):
    monkeypatch.setattr(folder_module, "EMBEDDED", tmp_path)
    with pytest.raises(IndexUnavailable, match="pip install --force-reinstall nar-plugin"):
        ArchitectureIndex.load(tmp_path)


def test_files_of_two_indexes_are_refused(saved, build, row, tmp_path):
    build([row("timm:a"), row("timm:b")], [[1, 0], [0, 1]]).save(tmp_path / "other")
    shutil.copy(tmp_path / "other" / ROWS, saved / "shards")
    with pytest.raises(IndexUnavailable, match=r"rows\.parquet is damaged or of another index"):
        ArchitectureIndex.load(saved)


def test_a_save_keeps_foreign_files(saved, index):
    (saved / "config.json").write_text("{}")
    index.save(saved)
    assert files_in(saved) == sorted([*FILES, "config.json"])


class Killed(BaseException):
    """Ends a save as a signal would."""


def kill_at(monkeypatch, step):
    """Lets os.replace work `step` times and then never again."""
    real, calls = os.replace, []

    def replace_counted(*args, **kwargs):
        calls.append(args)
        if len(calls) > step:
            raise Killed
        return real(*args, **kwargs)

    monkeypatch.setattr(os, "replace", replace_counted)


@pytest.fixture
def successor(row, build):
    return build([row("timm:new")], [[0, 1]], revision="2026.12.01")


def test_a_save_killed_before_the_switch_leaves_the_old_index(saved, index, successor, monkeypatch):
    with monkeypatch.context() as patch:
        kill_at(patch, 0)
        with pytest.raises(Killed):
            successor.save(saved)
    assert ArchitectureIndex.load(saved).rows() == index.rows()
    assert files_in(saved) == sorted(FILES)


@pytest.mark.parametrize("step", [1, 2])
def test_a_save_killed_after_the_switch_leaves_the_new_index(saved, successor, monkeypatch, step):
    with monkeypatch.context() as patch:
        kill_at(patch, step)
        with pytest.raises(Killed):
            successor.save(saved)
    assert ArchitectureIndex.load(saved).rows() == successor.rows()


@pytest.mark.parametrize("step", [0, 1, 2])
def test_the_next_save_clears_up(saved, index, successor, monkeypatch, step):
    with monkeypatch.context() as patch:
        kill_at(patch, step)
        with pytest.raises(Killed):
            successor.save(saved)
    index.save(saved)
    assert ArchitectureIndex.load(saved).rows() == index.rows()
    assert files_in(saved) == sorted(FILES)


def test_what_a_killed_process_left_is_discarded(saved, index, successor):
    stage = saved / ".saving"
    stage.mkdir()
    (stage / "manifest.json").write_text("half a mani")
    (stage / "shards").mkdir()
    (stage / ROWS).write_text("half")
    assert ArchitectureIndex.load(saved).rows() == index.rows()
    successor.save(saved)
    assert ArchitectureIndex.load(saved).rows() == successor.rows()
    assert not stage.exists()


def test_a_full_disk_leaves_the_old_index(saved, index, successor, monkeypatch):
    def full(path, content):
        if path.name == "00000.rows.parquet":
            raise OSError(28, "No space left on device")
        path.write_bytes(content)

    monkeypatch.setattr(folder_module, "write_through", full)
    with pytest.raises(NarError, match=r"could not be written to .*No space.*Make room"):
        successor.save(saved)
    assert ArchitectureIndex.load(saved).rows() == index.rows()
    assert files_in(saved) == sorted(FILES)


def test_the_manifest_is_readable_json(saved):
    manifest = json.loads((saved / "manifest.json").read_text())
    assert manifest["encoder"] == {"id": "nar-base", "sha256": "c0ffee" * 8}
    assert manifest["counts"] == {"graphs": 4, "names": 5, "rows": 4, "tombstones": 0}
    sizes = {entry["path"]: entry["bytes"] for entry in manifest["files"]}
    assert sizes == {name: (saved / name).stat().st_size for name in (ROWS, VECTORS)}


def replace_file(saved, name, content):
    """Writes a file and a manifest that vouches for it."""
    manifest = Manifest.from_json((saved / "manifest.json").read_bytes())
    files = {entry.path: entry for entry in manifest.files}
    files[name] = FileEntry.of(content, name, files[name].kind, files[name].rows)
    manifest = replace(manifest, files=tuple(files.values()))
    (saved / "manifest.json").write_bytes(manifest.to_json())
    (saved / name).write_bytes(content)


def test_rows_of_another_number(saved, build, row, tmp_path):
    build([row("timm:a")], [[1, 0]]).save(tmp_path / "other")
    replace_file(saved, ROWS, (tmp_path / "other" / ROWS).read_bytes())
    with pytest.raises(IndexIncompatible, match=r"00000.rows.parquet is not .* 4 rows.*has 1 rows"):
        ArchitectureIndex.load(saved)


def test_a_fingerprint_twice(saved, index):
    rows = index.rows()
    replace_file(saved, ROWS, to_parquet(to_table([*rows[:2], rows[3], rows[3]]), "rows"))
    with pytest.raises(IndexUnavailable, match=r"contradicts itself.* 4 rows of 3 fingerprints"):
        ArchitectureIndex.load(saved)


def test_more_names_than_the_manifest_says(saved, index):
    rows = [replace(row, names=(*row.names, "x:y")) for row in index.rows()]
    replace_file(saved, ROWS, to_parquet(to_table(rows), "rows"))
    with pytest.raises(IndexUnavailable, match=r"contradicts itself.* 9 names.* 4 and 5"):
        ArchitectureIndex.load(saved)


def test_vouched_files_of_another_format(saved):
    replace_file(saved, VECTORS, save({"x": np.eye(4, 2, dtype=np.float32)}))
    with pytest.raises(IndexIncompatible, match=r"00000\.vectors\.safetensors.*'x'"):
        ArchitectureIndex.load(saved)
