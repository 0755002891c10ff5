"""The splits are measured by `nar dev evaluate`, and a method sees the training side alone."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("tqdm")

from nar_plugin.cli import app
from nar_plugin.train.corpus.corpus import StoredGraph, write_corpus
from nar_plugin.train.measure.evaluate import Cell, evaluate, read_cells
from nar_plugin.train.measure.methods import METHODS, Entry

FAMILIES = ("resnext", "senet", "sknet", "mixtral", "olmoe", "phimoe", "bpr", "neumf")
KINDS = ("relu", "relu", "relu", "silu", "silu", "silu", "tanh", "tanh")


def stored(number, copy):
    """Residual blocks with the activation of a lineage; families and copies differ in width."""
    width = 8 * (1 + number) + copy
    layer = json.dumps([["bias", True], ["in", width], ["out", width]])
    ops, edges = [("linear", layer)], []
    for _ in range(7):
        start = len(ops) - 1
        ops += [(KINDS[number], "[]"), ("linear", layer), ("add", "[]")]
        edges += [(start, start + 1), (start + 1, start + 2), (start + 2, start + 3)]
        edges.append((start, start + 3))
    name = f"{FAMILIES[number]}{copy}"
    graph = StoredGraph(
        *(name, f"design of {name}", "meta", "", "lib:" + name, ops, np.array(edges).ravel()),
        paths="\n" * (len(ops) - 1),
        classes="",
        starts=np.zeros(1, dtype=np.int32),
        motifs=[],
    )
    row = {"name": "lib:" + name, "library": "lib", "fingerprint": name, "params": 1}
    return graph, row | {"family": FAMILIES[number], "composed": False}


@pytest.fixture
def corpus(tmp_path):
    made = [stored(number, copy) for number in range(len(FAMILIES)) for copy in range(5)]
    graphs, names = zip(*made, strict=True)
    write_corpus(tmp_path / "corpus", names, graphs)
    return tmp_path / "corpus"


def test_kin_and_edits_by_the_command(corpus, tmp_path):
    asked = ["--method", "ops", "--split", "kin", "--split", "edits", "--validation", "--json"]
    places = ["--corpus", str(corpus), "--work", str(tmp_path), "--folder", str(tmp_path)]
    shown = CliRunner().invoke(app, ["dev", "evaluate", *asked, *places])
    cells = {cell["cell"]["split"]: cell for cell in json.loads(shown.stdout)}
    figures = [cells["kin"]["quality"][side] for side in ("seen", "unseen")]
    asking = [side for side in figures if side["queries"]]
    assert asking
    assert all(side["first"] == 1 and side["foreign"] == 0 for side in asking)
    edits = cells["edits"]["quality"]
    assert edits["queries"] > 0
    assert 0 <= edits["held_out"] <= 1
    printed = CliRunner().invoke(app, ["dev", "evaluate", *asked[:-1], *places])
    assert "P@1, seen" in printed.stdout
    assert "held out" in printed.stdout


class Watching:
    """A method that compares nothing and remembers what it was shown."""

    parameters = 0

    def fit(self, items, labels):
        """Remember."""
        self.shown = {item.fingerprint for item in items}

    def rank(self, queries, candidates):
        """Those that it was not shown are nearest."""
        new = [item.fingerprint not in self.shown for item in candidates]
        return np.tile(np.array(new, dtype=np.float32), (len(queries), 1))

    def likeness(self, firsts, seconds):
        """Nothing is like anything."""
        return np.zeros(len(firsts))


def test_origins_are_not_trained_on(corpus, tmp_path, monkeypatch):
    watching = Watching()
    monkeypatch.setitem(METHODS, "watching", Entry(lambda seed, folder: watching))
    evaluate(corpus, [Cell("watching", "edits", 0, validation=True)], tmp_path)
    (cell,) = read_cells(corpus, tmp_path)
    asked = cell["quality"]["asked"]
    assert len(watching.shown) == cell["split"]["train"] < 40
    assert sum(asked.values()) == cell["quality"]["queries"]
    assert cell["quality"]["falling"] == 0
