"""Indexes that are damaged or made to harm: refused or made harmless, with bounded memory."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import save
from typer.testing import CliRunner

import nar_plugin
from nar_plugin.cli import app
from nar_plugin.errors import IndexIncompatible, NarError
from nar_plugin.index import ArchitectureIndex
from nar_plugin.index.search import approximate
from nar_plugin.index.store import graphs, pages
from nar_plugin.index.store.manifest import FileEntry, Manifest
from nar_plugin.index.store.parquet import from_parquet, to_parquet
from nar_plugin.index.store.rows import schema, to_table
from nar_plugin.tracing.graph import ArchitectureGraph, Op
from tests.index.conftest import build, row

SHARD = "shards/00000"
VECTORS, ROWS, GRAPHS = (
    f"{SHARD}.vectors.safetensors",
    f"{SHARD}.rows.parquet",
    f"{SHARD}.graphs.parquet",
)
FILES = [
    "manifest.json",
    VECTORS,
    ROWS,
    GRAPHS,
    "shards/00001.vectors.safetensors",
    "tombstones.json",
    "encoder.json",
    "encoder.safetensors",
    approximate.PATH,
]
OPTIONAL = (GRAPHS, "encoder.json", "encoder.safetensors", approximate.PATH)  # no load reads them


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """An index with a file of every kind."""
    pytest.importorskip("faiss", exc_type=ImportError)
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "encoder").mkdir()
    (folder / "encoder" / "encoder.json").write_text(json.dumps({"sha256": "c0ffee" * 8}))
    (folder / "encoder" / "encoder.safetensors").write_bytes(b"weights" * 50)
    chains = []
    for number in range(60):
        op = Op("linear", (("in", number), ("out", 4)))
        chains.append(ArchitectureGraph((op,), np.empty((0, 2), np.int32), ("",)))
    stored = graphs.to_table([(chain, np.zeros(1, np.int32)) for chain in chains])
    rows = [row(f"lib:{i}", fingerprint=chain.fingerprint) for i, chain in enumerate(chains)]
    vectors = np.random.default_rng(0).standard_normal((60, 16))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(approximate, "APPROXIMATE_FROM", 50)
        index = build(rows[:55], vectors[:55], graphs=stored.slice(0, 55))
        index.save(folder / "index", encoder=folder / "encoder")
        index = ArchitectureIndex.load(folder / "index")
        index = index.add(rows[55:], vectors[55:], graphs=stored.slice(55))
        index.remove([rows[3].fingerprint]).save(folder / "index")
    return folder / "index"


@pytest.fixture
def whole(original, tmp_path):
    return Path(shutil.copytree(original, tmp_path / "index"))


def test_the_whole_one_is_sound(whole):
    assert len(ArchitectureIndex.verify(whole)) == 59
    found = {path.relative_to(whole).as_posix() for path in whole.rglob("*") if path.is_file()}
    assert set(FILES) <= found


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("place", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("how", ["cut", "flip"])
def test_damage_is_named(whole, name, place, how):
    content = bytearray((whole / name).read_bytes())
    if how == "cut":
        content = content[: int(place * (len(content) - 2))]
    else:
        content[int(place * (len(content) - 1))] ^= 1
    (whole / name).write_bytes(content)
    remedy = "remove it|`nar index update`"
    with pytest.raises(NarError, match=rf"(?s){re.escape(name)}.*({remedy})"):
        ArchitectureIndex.verify(whole)
    if name not in OPTIONAL:
        with pytest.raises(NarError, match=rf"(?s){re.escape(name)}.*`nar index update`"):
            ArchitectureIndex.load(whole)


@pytest.mark.parametrize("name", [name for name in FILES if name not in OPTIONAL])
def test_a_missing_file_is_named(whole, name):
    (whole / name).unlink()
    with pytest.raises(NarError, match=rf"(?s){re.escape(name)}.*`nar index update`"):
        ArchitectureIndex.load(whole)


def test_every_damaged_file_is_named_at_once(whole):
    for name in (VECTORS, "tombstones.json"):
        (whole / name).write_bytes(b"")
    with pytest.raises(NarError) as caught:
        ArchitectureIndex.verify(whole)
    assert VECTORS in str(caught.value)
    assert "tombstones.json" in str(caught.value)


def test_verify_on_the_command_line(whole):
    result = CliRunner().invoke(app, ["index", "verify", "--index", str(whole), "--json"])
    assert json.loads(result.stdout)["sound"] is True
    (whole / VECTORS).write_bytes(b"")
    result = CliRunner().invoke(app, ["index", "verify", str(whole)])
    assert isinstance(result.exception, NarError)
    assert VECTORS in str(result.exception)


@pytest.mark.skipif(os.name == "nt", reason="no such files there")
def test_what_never_ends_is_not_read(whole):
    (whole / ROWS).unlink()
    os.mkfifo(whole / ROWS)
    with pytest.raises(NarError, match="no regular file"):
        ArchitectureIndex.load(whole)
    (whole / ROWS).unlink()
    (whole / ROWS).symlink_to("/dev/zero")
    with pytest.raises(NarError, match="no regular file"):
        ArchitectureIndex.load(whole)
    (whole / "manifest.json").unlink()
    (whole / "manifest.json").symlink_to("/dev/zero")
    with pytest.raises(NarError, match="no regular file"):
        ArchitectureIndex.load(whole)


def test_a_link_to_another_file_is_that_file_or_refused(whole, tmp_path):
    shutil.move(whole / ROWS, tmp_path / "blob")  # as the Hub's cache keeps them
    (whole / ROWS).symlink_to(tmp_path / "blob")
    assert len(ArchitectureIndex.load(whole)) == 59
    (whole / ROWS).unlink()
    (whole / ROWS).symlink_to("/etc/passwd")
    with pytest.raises(NarError, match="damaged or of another index"):
        ArchitectureIndex.load(whole)


def vouched(folder, name, content, rows=None):
    """Puts a file in the folder, and a manifest that vouches for it."""
    manifest = Manifest.from_json((folder / "manifest.json").read_bytes())
    files = {entry.path: entry for entry in manifest.files}
    old = files[name]
    files[name] = FileEntry.of(content, name, old.kind, old.rows if rows is None else rows)
    (folder / "manifest.json").write_bytes(replace(manifest, files=tuple(files.values())).to_json())
    (folder / name).write_bytes(content)


@pytest.mark.parametrize(
    "content",
    [
        b"[]",
        b"null",
        b'{"a": 1.5}',
        b'{"a": -1}',
        b'{"a": true}',
        b'{"a": 1, "b": 2}',
        b"[" * 100_000,
        b"\xff",
        b'{"a": ' + b"9" * 5000 + b"}",
    ],
)
def test_what_are_no_tombstones(whole, content):
    vouched(whole, "tombstones.json", content)
    with pytest.raises(NarError, match=r"tombstones\.json.*`nar index update`"):
        ArchitectureIndex.load(whole)


def tensors(header):
    text = json.dumps(header).encode() if isinstance(header, dict) else header
    return len(text).to_bytes(8, "little") + text


LIST = {"dtype": "F32", "data_offsets": [0, 0]}


@pytest.mark.parametrize(
    "content",
    [
        (1 << 63).to_bytes(8, "little"),
        (99_000_000).to_bytes(8, "little") + b"{",
        tensors({"vectors": {**LIST, "shape": [-1, 16]}}),
        tensors({"vectors": {**LIST, "shape": [1 << 62, 16]}}),
        tensors({"vectors": {**LIST, "shape": [1 << 32, 1 << 32]}}),
        tensors({"vectors": {"dtype": "F32", "shape": [55, 16], "data_offsets": [0, 1 << 60]}}),
        tensors({"vectors": {"dtype": "F99", "shape": [55, 16], "data_offsets": [0, 0]}}),
        tensors(b"{" * 50_000),
    ],
)
def test_tensors_with_impossible_sizes(whole, content):
    content += bytes(2 * 55 * 16 + 100)  # else the manifest is refused before
    vouched(whole, VECTORS, content)
    with pytest.raises(IndexIncompatible, match=r"00000\.vectors\.safetensors is not of"):
        ArchitectureIndex.load(whole)


def test_vectors_that_are_not_finite(whole):
    vectors = np.full((55, 16), 0.25, np.float32)
    vectors[7, 3] = np.inf
    vouched(whole, VECTORS, save({"vectors": vectors}))
    with pytest.raises(IndexIncompatible, match="not of length 1"):
        ArchitectureIndex.load(whole)


def table_of(rows, **columns):
    """A table of so many rows, some of its columns given as Arrow arrays."""
    table = to_table([row(f"lib:{i}") for i in range(rows)])
    for name, column in columns.items():
        field = schema().field(name)
        if field.type != column.type:
            field = pa.field(name, column.type)
        table = table.set_column(table.schema.names.index(name), field, column)
    return table


def bomb(kind):
    """A small file of a table that takes much memory, and its number of rows."""
    sink = io.BytesIO()
    if kind == "a text of zeros":
        table = table_of(1, url=pa.array(["\0" * 100_000_000]))
    elif kind == "one text for every row":
        indices = pa.array(np.zeros(5000, np.int32))
        table = table_of(5000, url=pa.DictionaryArray.from_arrays(indices, ["x" * 200_000]))
    elif kind == "one text for very many rows":  # each row is small enough, the file is tiny
        indices = pa.array(np.zeros(40_000, np.int32))
        table = table_of(40_000, url=pa.DictionaryArray.from_arrays(indices, ["x" * 15_000]))
    elif kind == "one number, often":
        names = [["a"]] * 4999 + [["a"] * 9_000_000]
        table = table_of(5000, names=pa.array(names, schema().field("names").type))
    else:
        names = [["x" * 1000] * 400_000, *[["a"]] * 4999]
        table = table_of(5000, names=pa.array(names, schema().field("names").type))
    pq.write_table(table, sink, compression="zstd", store_schema=False)
    return sink.getvalue(), len(table)


READ = """
import resource, sys
from pathlib import Path
from nar_plugin.errors import IndexIncompatible
from nar_plugin.index.store.manifest import FileEntry
from nar_plugin.index.store.parquet import from_parquet, to_parquet
from nar_plugin.index.store.rows import schema, to_table
to_table([])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
content = Path(sys.argv[1]).read_bytes()
entry = FileEntry.of(content, "shards/00000.rows.parquet", "rows", int(sys.argv[2]))
try:
    from_parquet(content, entry, schema())
except IndexIncompatible as error:
    print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes there")
@pytest.mark.parametrize(
    "kind",
    [
        *("a text of zeros", "one text for every row", "one text for very many rows"),
        *("one number, often", "long texts in a list"),
    ],
)
def test_a_parquet_bomb_is_not_unpacked(kind, tmp_path):
    content, rows = bomb(kind)
    assert len(content) < 1_000_000
    (tmp_path / "bomb").write_bytes(content)
    command = [sys.executable, "-c", READ, str(tmp_path / "bomb"), str(rows)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    message, megabytes = printed.strip().rsplit("\n", 1)
    assert "00000.rows.parquet is not what the manifest says" in message
    assert "unpack" in message
    assert "`nar index update`" in message
    assert int(megabytes) < 50


def test_rows_of_honest_length_are_read(row):
    """Long names, many names, many motifs: far from the limits."""
    rows = [row(f"lib:{'n' * 500}{i}", tuple(f"lib:{i}.{j}" for j in range(50))) for i in range(99)]
    content = to_parquet(to_table(rows), "rows")
    entry = FileEntry.of(content, ROWS, "rows", 99)
    assert from_parquet(content, entry, schema()).equals(to_table(rows))


@pytest.mark.parametrize("step", range(12))
def test_flipped_and_vouched_for_rows_end_in_an_error_or_a_table(whole, step):
    """No crash and no endless loop, whatever the page headers say."""
    content = bytearray((whole / ROWS).read_bytes())
    generator = np.random.default_rng(step)
    for place in generator.integers(4, len(content) - 4, 200):
        broken = content.copy()
        broken[place] ^= int(generator.integers(1, 256))
        entry = FileEntry.of(bytes(broken), ROWS, "rows", 55)
        try:
            assert len(from_parquet(bytes(broken), entry, schema())) == 55
        except IndexIncompatible as error:
            assert ROWS in str(error)


def test_a_codec_that_no_one_knows_is_refused(whole):
    """Arrow ends the process when it is asked for its name."""
    content = (whole / ROWS).read_bytes()
    before, codec, after = content.rpartition(b"\x15\x0c")  # Thrift's 6, of the last column
    broken = before + codec[:1] + b"\x27" + after
    entry = FileEntry.of(broken, ROWS, "rows", 55)
    with pytest.raises(IndexIncompatible, match="compressed by codec -20"):
        from_parquet(broken, entry, schema())


def test_a_histogram_of_another_length_than_its_levels_is_refused():
    """Arrow ends the process when it is asked for such a column."""
    numbers = pa.schema([pa.field("number", pa.float32(), nullable=False)])
    content = to_parquet(pa.table([pa.array([0.5], pa.float32())], schema=numbers), "rows")
    schema = pq.ParquetFile(pa.BufferReader(content)).metadata.schema
    pages._check_histograms([{16: {3: [1]}}], schema)  # size statistics, and levels in them
    with pytest.raises(pages.Oversized, match="histogram of levels"):
        pages._check_histograms([{16: {3: [1, 0, 0]}}], schema)


EVIL = "evil:\x1b]0;owned\x07\x1b[2J\u202e<script>alert(1)</script>"


def test_an_index_whose_revision_a_terminal_would_obey_is_not_written(index, tmp_path):
    with pytest.raises(NarError, match=r"Nothing was written.*revision is '\\x1b\[2J'"):
        index.save(tmp_path / "index", revision="\x1b[2J")
    assert not (tmp_path / "index").exists()


def test_escapes_and_markup_in_names_are_shown_as_text(tmp_path):
    base = nar_plugin.load_index()
    evil = row(
        EVIL,
        (EVIL, f"{EVIL}2"),
        library=EVIL,
        family=EVIL,
        task=EVIL,
        licence=EVIL,
        url="javascript:alert(1)",
        fingerprint="nar2:evil",
    )
    vector = nar_plugin.embed("torchvision:resnet18")
    base.empty(revision="evil").add([evil], vector[None]).save(tmp_path / "index")
    similar = nar_plugin.find_similar("torchvision:resnet18", index=tmp_path / "index")
    assert similar[0].name == EVIL  # the value is what it is
    markup = similar._repr_html_()
    assert "<script" not in markup
    assert 'href="javascript' not in markup
    assert "\u202e" not in markup
    run = CliRunner(env={"COLUMNS": "300"})
    for words in (
        ["find", "torchvision:resnet18", "--index", str(tmp_path / "index")],
        ["find", "torchvision:resnet18", "--json", "--index", str(tmp_path / "index")],
        ["index", "info", "--index", str(tmp_path / "index")],
        ["index", "info", "--json", "--index", str(tmp_path / "index")],
        ["index", "verify", str(tmp_path / "index")],
    ):
        result = run.invoke(app, words)
        assert result.exit_code == 0, result.exception
        assert not set("\x1b\x07\u202e") & set(result.stdout), words
