"""Cells are measured once, on what the split allows, and become a page."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("tqdm")
pytest.importorskip("scipy")

import nar_plugin
from nar_plugin.cli import app
from nar_plugin.errors import NarError
from nar_plugin.train.corpus.corpus import StoredGraph, write_corpus
from nar_plugin.train.measure import evaluate as measuring
from nar_plugin.train.measure import methods
from nar_plugin.train.measure.evaluate import Cell, all_cells, evaluate, read_cells
from nar_plugin.train.measure.methods import METHODS, Entry
from nar_plugin.train.measure.quality import table, write_page

KINDS = ["relu", "gelu", "silu", "tanh", "sigmoid"]


def stored(family, number):
    """A chain whose second half is its family's, and whose length and widths are its own."""
    wide = json.dumps([["in", 8], ["out", 8 + number]])
    ops = [("linear", wide)] * (number + 2) + [(KINDS[family], "[]")] * 3
    edges = np.array([(a, a + 1) for a in range(len(ops) - 1)], dtype=np.int32).reshape(-1)
    name = f"g{family}.{number}"
    return StoredGraph(
        *(name, f"design of {name}", "meta", "", "lib:" + name, ops, edges),
        paths="\n" * (len(ops) - 1),
        classes="",
        starts=np.zeros(1, dtype=np.int32),
        motifs=[],
    )


@pytest.fixture
def corpus(tmp_path):
    graphs = [stored(family, number) for family in range(5) for number in range(12)]
    names = [
        {"name": "lib:" + graph.fingerprint, "library": "lib", "fingerprint": graph.fingerprint}
        | {"family": graph.fingerprint[:2], "params": 1, "composed": False}
        for graph in graphs
    ]
    write_corpus(tmp_path / "corpus", names, graphs)
    return tmp_path / "corpus"


def test_a_family_that_the_operations_tell_is_found(corpus, tmp_path):
    cells = [Cell("ops", split, 0) for split in ("paper", "unique", "unseen")]
    evaluate(corpus, [*cells, Cell("random", "unique", 0)], tmp_path / "work")
    found = list(read_cells(corpus, tmp_path / "work"))
    assert len(found) == 4
    qualities = {cell["cell"]["method"]: cell["quality"] for cell in found}
    assert qualities["ops"]["map"]["20"] > 0.9 > qualities["random"]["map"]["20"]
    unseen = next(cell for cell in found if cell["cell"]["split"] == "unseen")
    assert unseen["split"] == {
        **{"train": 48, "queries": 12, "candidates": 60, "families": 1},
        **{"near_duplicates": 0, "pairs": 0},
    }


def test_what_is_measured_is_not_measured_again(corpus, tmp_path, monkeypatch):
    cell = Cell("wl", "unique", 0)
    evaluate(corpus, [cell], tmp_path)
    (first,) = (tmp_path / "unique").glob("*.json")
    before = first.stat().st_mtime_ns
    evaluate(corpus, [cell, cell], tmp_path)
    assert first.stat().st_mtime_ns == before
    # Other settings are another cell, and the old one no longer counts.
    monkeypatch.setitem(METHODS, "wl", Entry(METHODS["wl"].make, {"depth": 9}, varies=False))
    assert list(read_cells(corpus, tmp_path)) == []


def test_a_clone_goes_on_where_the_page_stands(corpus, tmp_path, monkeypatch):
    evaluate(corpus, [Cell("ops", "unique", 0), Cell("wl", "unique", 0)], tmp_path / "here")
    found = list(read_cells(corpus, tmp_path / "here"))
    write_page(found, tmp_path, measuring.corpus_sha256(corpus))
    measuring.adopt(tmp_path / "quality.json", corpus, tmp_path / "clone")
    assert list(read_cells(corpus, tmp_path / "clone")) == found
    monkeypatch.setitem(METHODS, "wl", Entry(METHODS["wl"].make, {"depth": 9}, varies=False))
    measuring.adopt(tmp_path / "quality.json", corpus, tmp_path / "other")
    (adopted,) = read_cells(corpus, tmp_path / "other")
    assert adopted["cell"]["method"] == "ops"
    measuring.adopt(tmp_path / "no page", corpus, tmp_path / "none")
    assert not (tmp_path / "none").exists()


class Watching:
    """A method that remembers what it was shown."""

    parameters, earlier = 3, 7.0

    def __init__(self, seed, folder):
        self.seen, self.folder = [], folder

    def fit(self, items, labels):
        """Remember."""
        self.seen = items
        assert len(labels) == len(items)

    def embed(self, items):
        """A row for each graph: whether it was shown."""
        shown = {item.fingerprint for item in self.seen}
        seen = np.array([item.fingerprint in shown for item in items])
        return np.stack([seen, ~seen], axis=1).astype(np.float32)


@pytest.mark.parametrize("validation", [False, True])
def test_a_method_is_shown_the_training_side_alone(corpus, tmp_path, monkeypatch, validation):
    made = []
    entry = Entry(lambda seed, folder: made.append(Watching(seed, folder)) or made[-1])
    monkeypatch.setitem(METHODS, "watching", entry)
    evaluate(corpus, [Cell("watching", "unseen", 0, validation)], tmp_path)
    families = {row["family"] for item in made[0].seen for row in item.names}
    assert len(families) == (3 if validation else 4)  # of five
    (cell,) = read_cells(corpus, tmp_path)
    assert cell["parameters"] == 3
    assert cell["seconds"]["fit"] >= 7
    # Queries have one vector and what was shown another: nothing of a family lies far from it.
    assert cell["quality"]["map"]["20"] == pytest.approx(1)


def test_the_search_space_is_a_split(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(measuring, "NAS_COUNT", 100)
    evaluate(corpus, [Cell("ops", "nas", 0)], tmp_path)
    (cell,) = read_cells(corpus, tmp_path)
    assert cell["split"]["queries"] == 10
    assert cell["split"]["families"] <= 10


def test_an_unknown_method_or_split_is_named(corpus, tmp_path):
    with pytest.raises(NarError, match="no method 'wlx'"):
        evaluate(corpus, [Cell("wlx", "unique", 0)], tmp_path)
    with pytest.raises(NarError, match="no split 'uniq'"):
        evaluate(corpus, [Cell("wl", "uniq", 0)], tmp_path)


def test_a_split_that_a_small_corpus_cannot_ask_is_left_out(corpus, tmp_path, caplog):
    """The corpus has no pair of twins, and no name of triples.toml."""
    evaluate(corpus, [Cell("ops", part, 0) for part in ("twins", "triples", "unique")], tmp_path)
    assert [cell["cell"]["split"] for cell in read_cells(corpus, tmp_path)] == ["unique"]
    assert ["no pair" in line for line in caplog.messages if "left out" in line] == [True, False]
    with pytest.raises(NarError, match="nothing to evaluate: the corpus has no pair"):
        evaluate(corpus, [Cell("ops", "twins", 0)], tmp_path)


def test_the_command_measures_all_but_nas_and_leaves_the_page_of_the_package_alone(
    corpus, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    asked = ["--method", "ops", "--corpus", str(corpus), "--work", str(tmp_path / "work")]
    shown = CliRunner().invoke(app, ["dev", "evaluate", *asked, "--json"])
    assert shown.exit_code == 0
    splits = {cell["cell"]["split"] for cell in json.loads(shown.stdout)}
    assert {"paper", "unique"} <= splits <= {"paper", "unique", "unseen", "edits", "kin"}
    assert (tmp_path / "work" / "quality.md").is_file() and not (tmp_path / "docs").exists()


def test_the_page(corpus, tmp_path):
    cells = [Cell("ops", "unique", 0), Cell("ops", "unique", 1), Cell("wl", "unseen", 0)]
    evaluate(corpus, [*cells, Cell("ops", "unseen", 0, validation=True)], tmp_path / "work")
    found = list(read_cells(corpus, tmp_path / "work"))
    write_page(found, tmp_path, measuring.corpus_sha256(corpus))
    page = (tmp_path / "quality.md").read_text()
    assert "## Distinct graphs" in page
    assert "## Unseen families" in page
    assert "## Twins" not in page
    assert len(json.loads((tmp_path / "quality.json").read_text())) == 3  # not the validation
    row = next(line for line in table(found[:2]).splitlines() if line.startswith("| ops"))
    assert row.count(" ± ") == 9
    assert row.count("|") == 15


def test_the_command_prints_cells_as_json(corpus, tmp_path):
    asked = ["--method", "ops", "--split", "unique", "--corpus", str(corpus), "--json"]
    places = ["--work", str(tmp_path / "work"), "--folder", str(tmp_path)]
    shown = CliRunner().invoke(app, ["dev", "evaluate", *asked, *places])
    (cell,) = json.loads(shown.stdout)
    assert cell["cell"] == {"method": "ops", "split": "unique", "seed": 0, "validation": False}
    assert cell["quality"]["mrr"].keys() == {"20", "50", "100"}


def test_the_tables_of_the_paper(tmp_path):
    def cell(method, split, value):
        quality = {
            name: {"20": value, "50": value, "100": value} for name in ("mrr", "map", "ndcg")
        }
        facts = {"queries": 1, "families": 1, "candidates": 2, "train": 1}
        return {
            "cell": {"method": method, "split": split, "seed": 0, "validation": False},
            **{"quality": quality, "parameters": 5, "seconds": {"fit": 60.4, "embed": 2}},
            "split": {**facts, "near_duplicates": 0, "pairs": 0},
        }

    cells = [cell("paper", "nas", 0.5), cell("paper-ce", "nas", 0.25), cell("gcn", "paper", 0.1)]
    cells[0]["machine"] = "A GPU"  # cells of before 2026-11-27 do not say
    write_page(cells, tmp_path, "0" * 64)
    page = (tmp_path / "quality.md").read_text()
    tables = page[page.index("## The paper's tables") :]
    # One method alone makes no table.
    assert [line for line in tables.splitlines() if line.startswith("###")] == [
        "### Table 3: the terms of Eq. 6 (NAS)"
    ]
    rows = [line for line in tables.splitlines() if line.startswith("| paper")]
    assert [row.split(" | ")[:2] for row in rows] == [["| paper-ce", "0.250"], ["| paper", "0.500"]]
    assert rows[0].endswith("| 1 | 5 | 60 + 2 | CPU |")
    assert rows[1].endswith("| 1 | 5 | 60 + 2 | A GPU |")


def test_every_method_is_measured_on_every_split():
    cells = all_cells()
    assert {cell.split for cell in cells} == set(measuring.SPLITS)
    assert {cell.method for cell in cells} == set(methods.METHODS)


def test_the_encoders_card_is_of_the_recipe_and_names_its_figures():
    package = Path(nar_plugin.__file__).parent
    if not (package.parent / "docs").is_dir():
        pytest.skip("the pages are not part of the wheel")
    card = (package / "data" / "encoder.md").read_text()
    config = json.loads((package / "data" / "encoder.json").read_text())
    assert f"{config['encoder']['labels']:,} labels" in card
    assert f"the {config['training']['graphs']:,} graphs" in card
    figures = "docs/decisions/likeness-by-blocks.md"
    assert figures in card
    assert "triples right" in (package.parent / figures).read_text()
