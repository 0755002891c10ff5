"""add, remove, merge, reencoded: what a new revision finds, and which files it writes."""

import json
import os

import numpy as np
import pytest

from nar_plugin.errors import IndexIncompatible, IndexUnavailable, NarError
from nar_plugin.index import ArchitectureIndex
from nar_plugin.index.store import graphs
from nar_plugin.index.store.contents import Contents
from nar_plugin.tracing.graph import ArchitectureGraph, Op


def names(index, vector=(1, 0), **how):
    return [match.row.name for match in index.search(np.array(vector), **how)]


def files_in(folder):
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_added_rows_are_found_and_the_index_stays_as_it_was(index, row):
    more = index.add([row("timm:new")], np.array([[2, 0.2]]))
    assert names(more)[:2] == ["timm:resnet50", "timm:new"]
    assert (len(more), more.manifest.graphs, more.manifest.names) == (5, 5, 6)
    assert len(index) == 4
    assert "timm:new" not in names(index)


def test_removed_rows_are_gone(index):
    fewer = index.remove(["nar1:timm:resnet50"])
    assert names(fewer) == ["timm:vgg11", "transformers:bert", "torchvision:squeezenet1_0"]
    assert fewer.by_fingerprint("nar1:timm:resnet50") is None
    assert fewer.by_fingerprint("nar1:timm:vgg11").name == "timm:vgg11"
    assert fewer.info()["graphs"] == 3
    assert names(index)[0] == "timm:resnet50"


def test_an_unknown_fingerprint_removes_nothing(index):
    with pytest.raises(NarError, match="no fingerprint 'nar1:x' and 1 others; nothing was removed"):
        index.remove(["nar1:timm:vgg11", "nar1:x", "nar1:y"])
    assert index.remove([]) is index


def test_a_known_graph_gains_names_and_keeps_its_vector(index, row):
    again = row("lib:resnet", fingerprint="nar1:timm:resnet50")
    more = index.add([again], np.array([[0, -1]]))
    assert len(more) == 4
    (best,) = more.search([1, 0], 1)
    assert best.row.names == ("timm:resnet50", "lib:resnet")
    assert best.score == pytest.approx(1)
    assert more.add([again], np.array([[0, -1]])) is more  # nothing new


def test_merge(index, build, row):
    other = build(
        [row("lib:a"), row("lib:vgg", fingerprint="nar1:timm:vgg11")], [[0.8, 0.6], [0, 1]]
    )
    merged = index.merge(other)
    assert len(merged) == 5
    assert names(merged, (0.8, 0.6), k=1) == ["lib:a"]
    assert merged.by_fingerprint("nar1:timm:vgg11").names == ("timm:vgg11", "lib:vgg")


def test_a_row_keeps_its_place_on_its_own_map_alone(build, row):
    mapped = build([row("timm:a", x=1.0, y=2.0), row("timm:b", x=3.0, y=4.0)], np.eye(2))
    other = [row("lib:c", x=5.0, y=6.0), row("lib:a", fingerprint="nar1:timm:a", x=7.0, y=8.0)]
    merged = mapped.merge(build(other, [[1, 1], [1, 0]]))
    places = {row.name: (row.x, row.y) for row in merged.rows()}
    assert places == {"timm:a": (1.0, 2.0), "timm:b": (3.0, 4.0), "lib:c": (None, None)}


def test_merge_refuses_other_encoders_and_versions(index, build, row):
    for fields, text in [
        ({"fingerprint": "nar2"}, "equal graphs would not be recognised"),
        ({"tracer": "9"}, "traced by version 9"),
    ]:
        with pytest.raises(IndexIncompatible, match=text):
            index.merge(build([row("lib:a")], [[1, 0]], **fields))
    other = ArchitectureIndex.from_rows(
        [row("lib:a")], np.eye(1, 2), "other", "0" * 64, tracer="1", fingerprint="nar1"
    )
    with pytest.raises(IndexIncompatible, match=r"other.*nar-base.*nar dev index reencode"):
        index.merge(other)


@pytest.mark.parametrize("half", [False, True])
def test_a_revision_adds_files_and_rewrites_none(saved, row, half):
    before = files_in(saved)
    index = ArchitectureIndex.load(saved)
    newer = index.add([row("timm:new")], np.array([[1, 0.1]])).remove(["nar1:timm:vgg11"])
    newer.save(saved, half=half, revision="2026.12.01")
    after = files_in(saved)
    assert set(after) - set(before) == {
        "shards/00001.vectors.safetensors",
        "shards/00001.rows.parquet",
        "tombstones.json",
    }
    assert [name for name in before if before[name] != after[name]] == ["manifest.json"]
    assert json.loads(after["tombstones.json"]) == {"nar1:timm:vgg11": 2}
    loaded = ArchitectureIndex.load(saved)
    assert names(loaded) == [
        "timm:resnet50",
        "timm:new",
        "transformers:bert",
        "torchvision:squeezenet1_0",
    ]
    assert loaded.rows() == newer.rows()
    manifest = loaded.manifest
    assert (manifest.revision, manifest.rows, manifest.graphs) == ("2026.12.01", 5, 4)


def test_a_removed_row_can_come_back(saved, row):
    index = ArchitectureIndex.load(saved).remove(["nar1:timm:vgg11"])
    index.save(saved)
    index = ArchitectureIndex.load(saved)
    assert len(index) == 3
    index.add([row("timm:vgg11", family="vgg")], np.array([[0.6, 0.8]])).save(saved)
    assert names(ArchitectureIndex.load(saved), (0.6, 0.8), k=1) == ["timm:vgg11"]
    ArchitectureIndex.load(saved).remove(["nar1:timm:vgg11"]).save(saved)
    loaded = ArchitectureIndex.load(saved)
    assert (len(loaded), loaded.manifest.rows, loaded.manifest.tombstones) == (3, 5, 1)


def test_removing_all_rows(saved):
    index = ArchitectureIndex.load(saved)
    index.remove([row.fingerprint for row in index.rows()]).save(saved)
    assert names(ArchitectureIndex.load(saved)) == []


def test_saved_elsewhere_it_takes_its_shards_along(saved, row, tmp_path):
    index = ArchitectureIndex.load(saved).add([row("timm:new")], np.array([[1, 0.1]]))
    index.save(tmp_path / "copy")
    copied = files_in(tmp_path / "copy")
    for name, content in files_in(saved).items():
        assert name == "manifest.json" or copied[name] == content
    assert ArchitectureIndex.load(tmp_path / "copy").rows() == index.rows()


def test_a_shard_that_another_process_replaced_is_not_taken_along(saved, row, build):
    index = ArchitectureIndex.load(saved)
    build([row("timm:other")], [[0, 1]]).save(saved)
    with pytest.raises(IndexUnavailable, match="00000"):
        index.add([row("timm:new")], np.array([[1, 0.1]])).save(saved)
    assert names(ArchitectureIndex.load(saved)) == ["timm:other"]


def test_another_index_in_the_folder_leaves_none_of_its_files(saved, build, row):
    index = ArchitectureIndex.load(saved)
    index.add([row("timm:new")], np.array([[1, 0.1]])).remove(["nar1:timm:vgg11"]).save(saved)
    build([row("timm:other")], [[0, 1]]).save(saved)
    assert set(files_in(saved)) == {
        "manifest.json",
        "shards/00000.rows.parquet",
        "shards/00000.vectors.safetensors",
    }


def test_a_reader_that_comes_while_the_index_is_replaced(saved, build, row, monkeypatch):
    """Its manifest is the old one, the files are the new ones: it reads the new index."""
    successor = build([row("timm:other")], [[0, 1]])
    real = Contents.read.__func__

    def late(cls, folder, manifest):
        if len(calls) < 1:
            calls.append(folder)
            successor.save(saved)
        return real(cls, folder, manifest)

    calls = []
    monkeypatch.setattr(Contents, "read", classmethod(late))
    assert names(ArchitectureIndex.load(saved)) == ["timm:other"]


def test_the_encoder_is_kept_beside_the_vectors(index, tmp_path, row):
    encoder = tmp_path / "encoder"
    encoder.mkdir()
    (encoder / "encoder.json").write_text("{}")
    (encoder / "encoder.safetensors").write_bytes(b"weights")
    index.save(tmp_path / "a", encoder=encoder)
    loaded = ArchitectureIndex.load(tmp_path / "a")
    loaded.add([row("timm:new")], np.array([[1, 0.1]])).save(tmp_path / "b")
    for folder in ("a", "b"):
        assert (tmp_path / folder / "encoder.safetensors").read_bytes() == b"weights"
        manifest = ArchitectureIndex.load(tmp_path / folder).manifest
        assert [entry.path for entry in manifest.of_kind("encoder")] == [
            "encoder.json",
            "encoder.safetensors",
        ]


def graph(*widths):
    ops = tuple(Op("linear", (("in", width), ("out", width))) for width in widths)
    edges = np.array([[i, i + 1] for i in range(len(ops) - 1)], dtype=np.int32).reshape(-1, 2)
    return ArchitectureGraph(ops, edges, tuple(f"layers.{i}" for i in range(len(ops))))


@pytest.fixture
def with_graphs(row, build):
    """Two chains of linear layers, of which the first has two motifs."""
    chains = [graph(4, 4, 8), graph(2)]
    table = graphs.to_table(
        [(chains[0], np.array([0, 2], np.int32)), (chains[1], np.array([0], np.int32))]
    )
    rows = [
        row(f"lib:{i}", fingerprint=chain.fingerprint, design=chain.design, x=float(i), y=0.5)
        for i, chain in enumerate(chains)
    ]
    return build(rows, [[1, 0], [0, 1]], graphs=table)


def lengths(graphs):
    """A vector that tells how many operations a graph has."""
    return np.array([[len(graph), 1.0] for graph in graphs])


def test_reencoded_from_the_stored_graphs(with_graphs, tmp_path, row):
    with_graphs.save(tmp_path)
    loaded = ArchitectureIndex.load(tmp_path)
    more = graph(3, 5)
    more = loaded.add(
        [row("lib:2", fingerprint=more.fingerprint)],
        np.array([[1, 1]]),
        graphs=graphs.to_table([(more, np.array([0, 1], np.int32))]),
    ).remove([loaded.rows()[1].fingerprint])
    more.save(tmp_path)
    anew = ArchitectureIndex.load(tmp_path).reencoded("nar-new", "ab" * 32, lengths)
    np.testing.assert_allclose(anew.vectors, [[3, 1] / np.sqrt(10), [2, 1] / np.sqrt(5)], atol=1e-6)
    assert [row.name for row in anew.rows()] == ["lib:0", "lib:2"]
    assert {(row.x, row.y) for row in anew.rows()} == {(None, None)}  # a map of other vectors
    assert (anew.manifest.encoder, anew.manifest.encoder_sha256) == ("nar-new", "ab" * 32)
    anew.save(tmp_path)
    assert ArchitectureIndex.load(tmp_path).has_graphs
    assert not (tmp_path / "tombstones.json").exists()


def test_stored_graphs_are_the_graphs(with_graphs):
    first, second = graphs.macro_graphs(with_graphs.graphs())
    assert first.spans.tolist() == [[0, 2], [2, 3]]
    assert first.edges.tolist() == [[0, 1]]
    assert first.motifs[0].ops == graph(4, 4).ops
    assert first.motifs[0].edges.tolist() == [[0, 1]]
    assert second.motifs[0].ops == graph(2).ops
    assert first.graph.paths == ("layers.0", "layers.1", "layers.2")


def test_no_reencoding_without_graphs(index):
    with pytest.raises(NarError, match=r"does not hold the graphs.*nar index update"):
        index.reencoded("nar-new", "ab" * 32, lengths)


def test_graphs_of_other_rows_are_refused(with_graphs, row):
    with pytest.raises(NarError, match="graphs that are not those of the rows"):
        with_graphs.add([row("lib:x")], np.array([[1, 1]]), graphs=with_graphs.graphs().slice(0, 1))


@pytest.mark.parametrize(
    "changes",
    [
        {"steps": [9], "reaches": [9]},
        {"steps": [1], "reaches": [-1]},
        {"steps": [1], "reaches": [2]},
        {"steps": [0], "reaches": [0]},
        {"steps": [1, 1], "reaches": [1]},
        {"steps": [2**31 - 1, 2**31 - 1], "reaches": [1, 1]},
        {"paths": ""},
        {"paths": "a\nb\nc\nd"},
        {"starts": []},
        {"starts": [1]},
        {"starts": [0, 0]},
        {"starts": [0, 99]},
        {"ops": []},
        {"ops": [0, 0, 99]},
        {"ops": [0, 0, -1]},
        {"texts": []},
        {"texts": ["{", "{"]},
        {"texts": ["[" * 100_000] * 2},
        {"texts": ['["linear", 3]', "7"]},
    ],
)
def test_what_is_no_graph(with_graphs, changes):
    import pyarrow as pa

    table = with_graphs.graphs()
    records = table.to_pylist()
    records[0] |= changes
    broken = pa.Table.from_pylist(records, schema=table.schema)
    with pytest.raises(IndexIncompatible, match="stored graph"):
        list(graphs.macro_graphs(broken))


@pytest.mark.skipif(os.name == "nt", reason="links want a right there")
def test_nothing_is_written_through_a_link(index, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder = tmp_path / "index"
    folder.mkdir()
    (folder / "shards").symlink_to(elsewhere)
    with pytest.raises(NarError, match="is a link"):
        index.save(folder)
    assert list(elsewhere.iterdir()) == []
