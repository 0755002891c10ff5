"""The corpus: what a build writes, reads back, and how it goes on after an interruption."""

import contextlib
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
import torch
from models import ConvNet

from nar_plugin.errors import IndexUnavailable, NarError
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.mining import mine
from nar_plugin.tracing import trace
from nar_plugin.tracing.vocabulary import VOCABULARY_VERSION

pytest.importorskip("tqdm")
pytest.importorskip("timm")

from nar_plugin.train.corpus import build, corpus, workers
from nar_plugin.train.corpus.environments import Environment, environments

NAMES = ("timm:resnet10t", "timm:test_vit", "timm:test_resnet", "torchvision:resnet18")


def architectures(libraries=None):
    found = [
        NamedArchitecture(name, name.partition(":")[0], "family", "image-classification", "MIT")
        for name in NAMES
    ]
    found.append(NamedArchitecture("timm:no_such_model", "timm", "family", "x", "MIT"))
    return [item for item in found if libraries is None or item.library in libraries]


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(build, "listed_apart", architectures)


@pytest.fixture(params=["here", pytest.param("in a worker", marks=pytest.mark.slow)])
def place(request, monkeypatch, trace_here):
    """Where a build traces."""
    if request.param == "here":
        trace_here(monkeypatch)


def test_a_build_and_its_continuation(few, place, tmp_path):
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


@pytest.mark.parametrize("step", range(4))
def test_a_corpus_whose_writing_was_killed_is_the_old_or_the_new_one(tmp_path, monkeypatch, step):
    def stored(kind):
        return corpus.StoredGraph(
            **dict.fromkeys(("design", "method", "inputs", "source", "paths", "classes"), kind),
            fingerprint=kind,
            ops=[(kind, "[]")],
            edges=np.zeros(0, dtype=np.int32),
            starts=np.zeros(1, dtype=np.int32),
            motifs=[],
        )

    class Killed(BaseException):
        """Ends a save as a signal would."""

    corpus.write_corpus(tmp_path, [{"name": "a:old", "fingerprint": "relu"}], [stored("relu")])
    real, moves = os.replace, []

    def replace(*paths):
        moves.append(paths)
        if len(moves) > step:
            raise Killed
        return real(*paths)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace)
        with contextlib.suppress(Killed):
            corpus.write_corpus(
                tmp_path, [{"name": "b:new", "fingerprint": "conv"}], [stored("conv")]
            )
    assert len(moves) == min(step + 1, 3)
    (name,) = corpus.read_names(tmp_path)
    (graph,) = corpus.read_stored(tmp_path)
    expected = ("b:new", "conv") if step else ("a:old", "relu")
    assert (name["name"], graph.ops[0][0]) == expected
    assert graph.fingerprint == name["fingerprint"]


@pytest.mark.slow
def test_a_limit_leaves_the_other_names_alone(few, tmp_path):
    folder = tmp_path / "corpus"
    build.build_corpus(folder, tmp_path / "work", workers=1)
    whole = corpus.read_names(folder)
    build.build_corpus(folder, tmp_path / "other", workers=1, limit=2)
    assert corpus.read_names(folder) == whole


@pytest.mark.slow
def test_one_library_is_built_and_the_others_stay(few, tmp_path):
    folder = tmp_path / "corpus"
    build.build_corpus(folder, tmp_path / "work", workers=1, libraries=["torchvision"])
    assert [row["name"] for row in corpus.read_names(folder)] == ["torchvision:resnet18"]
    build.build_corpus(folder, tmp_path / "work", workers=1, libraries=["timm"], limit=2)
    assert {row["library"] for row in corpus.read_names(folder)} == {"timm", "torchvision"}
    with pytest.raises(NarError, match="No plugin lists names of nowhere"):
        build.build_corpus(folder, tmp_path / "work", workers=1, libraries=["nowhere"])


def test_a_name_that_takes_too_long_even_if_it_swallows_errors(monkeypatch):
    def endless(name):
        while True:
            try:
                time.sleep(0.1)
            except Exception:
                time.sleep(0.1)

    monkeypatch.setattr("nar_plugin.references.resolve", endless)
    monkeypatch.setattr(workers, "TIME_LIMIT", 1)
    record = workers.trace_named(architectures()[0])
    assert record["failure"] == "TimeUp: took longer than 1 s"
    assert not record["constructed"]


@pytest.mark.slow
def test_what_a_model_writes_where_it_is_stays_out_of_the_users_folder():
    with workers._pool(1) as pool:
        assert Path(pool.submit(os.getcwd).result()) not in {Path.cwd(), *Path.cwd().parents}


@pytest.mark.slow
def test_only_what_is_new_is_traced(few, tmp_path, monkeypatch):
    folder = tmp_path / "corpus"
    build.build_corpus(folder, tmp_path / "first", workers=1)
    written = (folder / "names.parquet").stat().st_mtime_ns
    traced = []
    all_of = build.trace_all
    monkeypatch.setattr(
        build,
        "trace_all",
        lambda wanted, *args, **more: (traced.append(wanted), all_of(wanted, *args, **more))[1],
    )
    build.build_corpus(folder, tmp_path / "second", workers=1)
    assert traced.pop() == []
    assert (folder / "names.parquet").stat().st_mtime_ns == written  # nothing to say

    # Another version of timm: its names are traced again, torchvision's is not.
    rows = corpus.read_names(folder)
    older = [{**row, "version": "0.1"} if row["library"] == "timm" else row for row in rows]
    corpus.write_corpus(folder, older, corpus.read_stored(folder))
    build.build_corpus(folder, tmp_path / "third", workers=1)
    assert {item.library for item in traced.pop()} == {"timm"}
    timed = [{**row, "seconds": 0} for row in rows]
    assert [{**row, "seconds": 0} for row in corpus.read_names(folder)] == timed


@pytest.mark.slow
def test_names_of_absent_libraries_stay(few, tmp_path, monkeypatch):
    folder = tmp_path / "corpus"
    build.build_corpus(folder, tmp_path / "work", workers=1)
    only = [item for item in architectures() if item.library == "torchvision"]
    monkeypatch.setattr(build, "listed_apart", lambda *_: only)
    build.build_corpus(folder, tmp_path / "work", workers=1)
    assert len(corpus.read_names(folder)) == len(NAMES) + 1
    monkeypatch.setattr(build, "listed_apart", lambda *_: architectures()[:1])
    build.build_corpus(folder, tmp_path / "work", workers=1)
    left = {row["name"] for row in corpus.read_names(folder)}
    assert left == {NAMES[0], "torchvision:resnet18"}  # timm no longer lists the others


@pytest.mark.slow
def test_the_first_name_in_the_alphabet_lends_its_graph(tmp_path, monkeypatch):
    """Whoever of two equal models is traced first: the files are the same."""
    twins = [
        NamedArchitecture(f"torchvision:{name}", "torchvision", "resnet", "x", "BSD-3-Clause")
        for name in ("resnet50", "fcn_resnet50", "resnet18")
    ]
    folders = []
    for number, order in enumerate((twins, twins[::-1])):  # by one worker, in this order
        monkeypatch.setattr(build, "listed_apart", lambda _=None, order=order: order)
        folders.append(tmp_path / str(number))
        build.build_corpus(folders[-1], tmp_path / f"work{number}", workers=1)
    for file in ("graphs.parquet", "ops.parquet"):
        assert (folders[0] / file).read_bytes() == (folders[1] / file).read_bytes()


@pytest.mark.slow
def test_an_environment_of_its_own(tmp_path, monkeypatch):
    """The libraries of another Python: here the same one, so that nothing is installed."""
    listed = [item for item in build.list_architectures() if item.library == "torchvision"]
    known = [
        {**asdict(item), "version": version("torchvision"), "tracer": VOCABULARY_VERSION}
        for item in listed
        if item.name not in ("torchvision:resnet18", "torchvision:vgg11")
    ]
    corpus.write_corpus(tmp_path / "corpus", known, [])
    other = Environment("other", ("torchvision",))
    monkeypatch.setattr(Environment, "make", lambda self, folder: Path(sys.executable))
    monkeypatch.setattr(build, "environments", lambda: [other])
    monkeypatch.setattr(build, "listed_apart", lambda *_: [])
    build.build_corpus(tmp_path / "corpus", tmp_path / "work", workers=1, isolated=True)
    rows = corpus.read_names(tmp_path / "corpus")
    assert len(rows) == len(listed)
    traced = {row["name"]: row["params"] for row in rows if row["fingerprint"]}
    # The documentation of torchvision has these figures.
    assert traced == {"torchvision:resnet18": 11_689_512, "torchvision:vgg11": 132_863_336}


@pytest.mark.slow
def test_the_names_of_one_library_are_listed_without_importing_another():
    pytest.importorskip("pytorchcv")
    program = (
        "import sys; from nar_plugin.train.corpus.build import list_architectures;"
        "names = [item.name for item in list_architectures(['pytorchcv'])];"
        "assert len(names) > 100 and all(name.startswith('pytorchcv:') for name in names), names;"
        "assert not {'timm', 'monai', 'ultralytics'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_every_environment_names_what_it_holds():
    for environment in environments():
        assert environment.libraries
        assert environment.packages or environment.without_dependencies


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
    assert again.paths.split("\n") == list(mined.graph.paths)  # in the order of the mining
    assert read.graph.ops == mined.graph.ops
    assert read.graph.edges.tolist() == mined.graph.edges.tolist()
    assert read.graph.fingerprint == graph.fingerprint


def test_a_folder_without_a_corpus(tmp_path):
    with pytest.raises(IndexUnavailable, match="nar dev corpus build"):
        corpus.read_corpus(tmp_path)
