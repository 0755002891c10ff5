"""Stored labels: they stay those of their rows, whatever becomes of an index."""

import numpy as np
import pyarrow as pa
import pytest

from nar_plugin.errors import IndexIncompatible, NarError
from nar_plugin.index import ArchitectureIndex
from nar_plugin.index.store import graphs as stored_graphs
from nar_plugin.index.store import label_counts
from nar_plugin.index.store.contents import Contents
from nar_plugin.index.store.manifest import FileEntry
from nar_plugin.index.store.parquet import from_parquet, to_parquet
from nar_plugin.likeness import LabelTable, overlaps
from nar_plugin.tracing.graph import ArchitectureGraph, Op
from tests.index.conftest import build, row
from tests.index.test_folder import replace_file

LABELS = "shards/00000.labels.parquet"
TEXTS = ["abcd", "ab", "aabb", "c", "dcba"]


def chain(kinds):
    ops = tuple(Op(kind) for kind in kinds)
    edges = [[place, place + 1] for place in range(len(ops) - 1)]
    return ArchitectureGraph(ops, np.array(edges, np.int32).reshape(-1, 2), ("",) * len(ops))


def labels_of(texts):
    return LabelTable.of([chain(text) for text in texts]).compared()


def equal(one, other):
    columns = ("starts", "labels", "counts", "views")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in columns)


def stored(texts):
    return label_counts.to_table([chain(text).fingerprint for text in texts], labels_of(texts))


def adding(contents, texts, *, labels=True, graphs=False):
    """The contents with a shard of these graphs."""
    made = [chain(text) for text in texts]
    rows = [
        row(f"lib:{text}", fingerprint=graph.fingerprint)
        for text, graph in zip(texts, made, strict=True)
    ]
    vectors = np.array([[len(text), 1] for text in texts], np.float32)
    starts = np.zeros(1, np.int32)
    table = stored_graphs.to_table((graph, starts) for graph in made) if graphs else None
    return contents.adding(rows, vectors, table, stored(texts) if labels else None)


def contents_of(texts, **how):
    empty = Contents.none(build([row("lib:x")], [[1, 0]]).empty(revision="1").manifest)
    return adding(empty, texts, **how)


def test_parquet_round_trip():
    content = to_parquet(stored(TEXTS), "labels")
    entry = FileEntry.of(content, LABELS, "labels", len(TEXTS))
    table = from_parquet(content, entry, label_counts.schema())
    assert table["fingerprint"].to_pylist() == [chain(text).fingerprint for text in TEXTS]
    assert equal(label_counts.from_table(table), labels_of(TEXTS))
    assert equal(label_counts.from_table(table.slice(1, 3)), labels_of(TEXTS[1:4]))
    assert len(label_counts.from_table(table.slice(0, 0))) == 0


def test_views_that_are_not_compared_are_not_stored():
    whole = LabelTable.of([chain("abcd")])
    assert len(whole.labels) > len(labels_of(["abcd"]).labels)
    table = label_counts.to_table(["f"], whole)
    assert equal(label_counts.from_table(table), labels_of(["abcd"]))


def test_saved_and_loaded(tmp_path):
    ArchitectureIndex(contents_of(TEXTS)).save(tmp_path)
    assert (tmp_path / LABELS).is_file()
    loaded = ArchitectureIndex.verify(tmp_path).contents
    assert equal(loaded.labels, labels_of(TEXTS))
    asked = labels_of(["abc"])
    both = LabelTable.joined([asked, labels_of(TEXTS)])
    expected = overlaps(both, np.zeros(5, int), np.arange(1, 6))
    np.testing.assert_allclose(loaded.postings.overlaps(asked, 0), expected, atol=1e-6)


def test_rows_that_come_and_go_take_their_labels_along(tmp_path):
    def check(index, texts):
        assert [each.name for each in index.rows()] == [f"lib:{text}" for text in texts]
        assert equal(index.contents.labels, labels_of(texts))

    index = ArchitectureIndex(contents_of(TEXTS[:3]))
    index.save(tmp_path)
    index = ArchitectureIndex(adding(ArchitectureIndex.load(tmp_path).contents, TEXTS[3:]))
    check(index, TEXTS)
    index = index.remove([chain("ab").fingerprint])
    check(index, ["abcd", "aabb", "c", "dcba"])
    index.save(tmp_path)
    check(ArchitectureIndex.load(tmp_path), ["abcd", "aabb", "c", "dcba"])
    again = ArchitectureIndex(adding(ArchitectureIndex.load(tmp_path).contents, ["ab"]))
    again.save(tmp_path)
    check(ArchitectureIndex.load(tmp_path), ["abcd", "aabb", "c", "dcba", "ab"])


def test_they_are_counted_from_graphs_where_they_are_not_stored(tmp_path):
    ArchitectureIndex(contents_of(TEXTS, labels=False, graphs=True)).save(tmp_path)
    assert not (tmp_path / LABELS).exists()
    assert equal(ArchitectureIndex.load(tmp_path).contents.labels, labels_of(TEXTS))


def test_an_index_with_neither_has_none():
    contents = contents_of(TEXTS, labels=False)
    assert contents.labels is None and contents.postings is None
    assert adding(contents, ["x"]).labels is None  # one shard has them, the other not


def test_labels_of_other_rows_are_refused(tmp_path):
    empty = Contents.none(build([row("lib:x")], [[1, 0]]).empty(revision="1").manifest)
    with pytest.raises(NarError, match="labels that are not those of the rows"):
        empty.adding([row("lib:a")], np.ones((1, 2)), None, stored(["ab"]))
    ArchitectureIndex(contents_of(TEXTS)).save(tmp_path)
    replace_file(tmp_path, LABELS, to_parquet(stored(TEXTS[::-1]), "labels"))
    with pytest.raises(IndexIncompatible, match=r"stored labels .* are not those of its rows"):
        _ = ArchitectureIndex.load(tmp_path).contents.labels


def lists(kind, values):
    return pa.array(values, label_counts.schema().field(kind).type)


@pytest.mark.parametrize(
    ("kind", "values"),
    [("counts", [[1], [1]]), ("counts", [[1, 0], [1]]), ("views", [[0], [0, 0]])],
    ids=["too few", "none", "moved"],
)
def test_damaged_labels_are_refused(kind, values):
    sound = {"labels": [[3, 5], [3]], "counts": [[1, 2], [1]], "views": [[0, 0], [0]]}

    def table(columns):
        arrays = [lists(name, column) for name, column in columns.items()]
        return pa.table([pa.array(["f", "g"]), *arrays], schema=label_counts.schema())

    assert len(label_counts.from_table(table(sound))) == 2
    with pytest.raises(IndexIncompatible, match="do not come with a count each"):
        label_counts.from_table(table({**sound, kind: values}))


def test_a_file_of_other_columns_is_refused(tmp_path):
    ArchitectureIndex(contents_of(TEXTS)).save(tmp_path)
    replace_file(tmp_path, LABELS, to_parquet(stored(TEXTS).drop_columns(["views"]), "labels"))
    with pytest.raises(IndexIncompatible, match=r"labels\.parquet is not what the manifest says"):
        _ = ArchitectureIndex.load(tmp_path).contents.labels
