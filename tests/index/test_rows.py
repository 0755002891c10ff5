import io
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nar_plugin.errors import IndexIncompatible
from nar_plugin.index.store.manifest import FileEntry
from nar_plugin.index.store.parquet import from_parquet, to_parquet
from nar_plugin.index.store.rows import YOUNGER, merge_equal_graphs, rows_of, schema, to_table
from nar_plugin.index.store.shards import read_rows


def read(content, rows=4):
    entry = FileEntry.of(content, "shards/00000.rows.parquet", "rows", rows)
    return from_parquet(content, entry, schema())


def test_parquet_round_trip(index):
    rows = index.rows()
    table = read(to_parquet(to_table(rows), "rows"))
    assert rows_of(table) == rows
    assert rows_of(table.slice(1, 2)) == rows[1:3]
    assert rows[0].motifs[0].label == "Bottleneck"
    assert rows[0].url == "https://huggingface.co/timm"
    assert rows[1].url is None
    assert rows[1].motifs == ()


def test_what_is_written(index):
    content = to_parquet(to_table(index.rows()), "rows")
    file = pq.ParquetFile(io.BytesIO(content))
    assert file.metadata.row_group(0).column(0).compression == "ZSTD"
    fields = {field.name: str(field.type) for field in file.schema_arrow}
    assert list(fields) == [
        "name",
        "names",
        "library",
        "family",
        "task",
        "params",
        "flops",
        "fingerprint",
        "design",
        "licence",
        "url",
        "motifs",
        "composed",
        "backbone",
        "year",
        "paper",
        "title",
        "weights_license",
        "build",
        "runtimes",
        "x",
        "y",
    ]
    assert (fields["x"], fields["y"]) == ("float", "float")  # of 32 bits
    assert fields["params"] == "int64"
    assert fields["motifs"].startswith("list<")
    assert "struct<shape: string, label: string, count: int32, ops: int32>" in fields["motifs"]
    assert [field.name for field in file.schema_arrow if field.nullable] == [
        "url",
        "year",
        "paper",
        "title",
        "weights_license",
        "build",
        "x",
        "y",
    ]


def test_counts_above_32_bits(row):
    table = to_table([row("timm:huge", params=7 * 10**11, flops=10**16)])
    assert rows_of(read(to_parquet(table, "rows"), 1))[0].params == 7 * 10**11


def test_a_table_of_before_there_were_backbones(row):
    rows = [row("timm:a", backbone="nar1:b"), row("timm:c")]
    whole, older = to_table(rows), to_table(rows).drop_columns(["backbone"])
    found = []
    for table in (whole, older):
        content = to_parquet(table, "rows")
        entry = FileEntry.of(content, "shards/00000.rows.parquet", "rows", 2)
        found.append([each.backbone for each in rows_of(read_rows(content, entry))])
    assert found == [["nar1:b", ""], ["", ""]]


def test_no_rows():
    assert len(read(to_parquet(to_table([]), "rows"), 0)) == 0


def test_merge_keeps_the_order(row):
    rows = [
        row("timm:a", fingerprint="1"),
        row("timm:b", fingerprint="2"),
        row("timm:c", fingerprint="1"),
        row("timm:d", fingerprint="3"),
    ]
    merged, positions = merge_equal_graphs(rows)
    assert [row.names for row in merged] == [("timm:a", "timm:c"), ("timm:b",), ("timm:d",)]
    assert positions == [0, 1, 3]


def test_facts_are_read_back(row):
    facts = {"year": 2015, "paper": "arXiv:1512.03385", "build": "timm.create_model('resnet50')"}
    given = [row("timm:resnet50", **facts, runtimes=("vLLM", "MLX")), row("timm:new")]
    assert rows_of(read(to_parquet(to_table(given), "rows"), 2)) == given


def test_places_are_read_back(row):
    given = [row("timm:a", x=1.5, y=-0.25), row("timm:b")]
    assert rows_of(read(to_parquet(to_table(given), "rows"), 2)) == given


@pytest.mark.parametrize("lacking", [["backbone"], ["year", "runtimes"], ["x", "y"], list(YOUNGER)])
def test_a_table_of_before_there_were_facts_is_read(index, lacking):
    table = to_table(index.rows())
    content = to_parquet(table.drop_columns(lacking), "rows")
    entry = FileEntry.of(content, "shards/00000.rows.parquet", "rows", len(table))
    found = rows_of(read_rows(content, entry))
    assert [row.name for row in found] == [row.name for row in index.rows()]
    assert {(row.year, row.build, row.runtimes) for row in found} == {(None, None, ())}
    assert {(row.x, row.y) for row in found} == {(None, None)}


def test_missing_and_changed_columns_are_refused(index):
    table = to_table(index.rows())
    with pytest.raises(
        IndexIncompatible, match=r"rows\.parquet is not .* it has the columns name: string"
    ):
        read(to_parquet(table.drop_columns(["licence"]), "rows"))
    params = table["params"].cast(pa.float64())
    with pytest.raises(IndexIncompatible, match="params: double"):
        read(to_parquet(table.set_column(5, "params", params), "rows"))
    nullable = table.cast(pa.schema([field.with_nullable(True) for field in schema()]))
    with pytest.raises(IndexIncompatible, match="nar index update"):
        read(to_parquet(nullable, "rows"))


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"\0" * 100 + b"PAR1"])
def test_what_is_no_parquet(content):
    with pytest.raises(IndexIncompatible, match=r"rows\.parquet is not .* it cannot be read"):
        read(content)


def test_a_reader_holds_nothing_of_pythons(index, monkeypatch):
    """Its threads may outlive Python, and would abort the process that they let go of it in."""
    opened = []
    reader = pa.BufferReader
    monkeypatch.setattr(pa, "BufferReader", lambda of: opened.append(of) or reader(of))
    content = to_parquet(to_table(index.rows()), "rows")
    held = sys.getrefcount(content)
    read(content)
    assert opened[0].to_pybytes() == content
    assert sys.getrefcount(content) == held
