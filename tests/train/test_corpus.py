"""The corpus: what a build writes, reads back, and how it goes on after an interruption."""

import json

import numpy as np
import pytest
import torch
from models import ConvNet

from nar_plugin.errors import IndexUnavailable
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.mining import mine
from nar_plugin.tracing import trace

pytest.importorskip("tqdm")
pytest.importorskip("timm")

from nar_plugin.train import build, corpus

NAMES = ("timm:resnet10t", "timm:test_vit", "timm:test_resnet", "torchvision:resnet18")


def architectures():
    found = [
        NamedArchitecture(name, name.partition(":")[0], "family", "image-classification", "MIT")
        for name in NAMES
    ]
    return [*found, NamedArchitecture("timm:no_such_model", "timm", "family", "x", "MIT")]


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(build, "list_architectures", architectures)


def test_a_build_and_its_continuation(few, tmp_path):
    folder, work = tmp_path / "corpus", tmp_path / "work"
    build.build_corpus(folder, work, workers=1)
    first = {file.name: file.read_bytes() for file in folder.iterdir()}
    names = {row["name"]: row for row in corpus.read_names(folder)}
    assert set(names) == {*NAMES, "timm:no_such_model"}
    assert "no_such_model" in names["timm:no_such_model"]["failure"]
    assert names["torchvision:resnet18"]["params"] == 11_689_512  # torchvision's own figure
    graphs = corpus.read_corpus(folder)
    assert {row["name"] for graph in graphs for row in graph.names} == set(NAMES)

    # A kill cut the last line short and lost another: only those are traced again.
    records = work / "records.jsonl"
    lines = records.read_text().splitlines(keepends=True)
    records.write_text("".join(lines[1:-1]) + lines[-1][: len(lines[-1]) // 2] + "\n")
    build.build_corpus(folder, work, workers=1)
    again = {row["name"]: row for row in corpus.read_names(folder)}
    for name in names:
        one, other = dict(names[name]), dict(again[name])
        one.pop("seconds"), other.pop("seconds")
        assert one == other
    for file in ("graphs.parquet", "ops.parquet"):
        assert (folder / file).read_bytes() == first[file]


def test_a_graph_read_back_is_the_graph(tmp_path):
    graph = trace(ConvNet(groups=2, residual=True), torch.empty(1, 3, 16, 16))
    stored = corpus.StoredGraph(
        fingerprint=graph.fingerprint,
        design=graph.design,
        method="meta",
        inputs="x",
        source="a:b",
        ops=[(op.kind, json.dumps(op.attributes)) for op in graph.ops],
        edges=graph.edges.ravel(),
        paths="\n".join(graph.paths),
        classes="\n".join(f"{path}={name}" for path, name in graph.classes.items()),
        starts=np.zeros(0, dtype=np.int32),
        motifs=[],
    )
    stored.mine()
    name = {"name": "a:b", "fingerprint": graph.fingerprint, "family": "f"}
    corpus.write_corpus(tmp_path, [name], [stored])
    (read,) = corpus.read_corpus(tmp_path)
    macro, mined = read.macro(), mine(graph)
    assert [motif.key for motif in macro.motifs] == [motif.key for motif in mined.motifs]
    assert macro.edges.tolist() == mined.edges.tolist()
    assert read.motifs == mined.table()
    (again,) = corpus.read_stored(tmp_path)
    assert again.paths.split("\n") == list(graph.paths)
    assert read.graph.ops == graph.ops
    assert read.graph.edges.tolist() == graph.edges.tolist()
    assert read.graph.fingerprint == graph.fingerprint


def test_a_folder_without_a_corpus(tmp_path):
    with pytest.raises(IndexUnavailable, match="nar corpus build"):
        corpus.read_corpus(tmp_path)
