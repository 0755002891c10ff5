"""Pairs of one architecture: the table itself, ranks by hand, and what training must not see."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tqdm")
pytest.importorskip("scipy")

import nar_plugin
from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.corpus.corpus import CorpusGraph, read_corpus, read_names
from nar_plugin.train.measure import twin_pairs as twins_module
from nar_plugin.train.measure.twin_pairs import Twin, half_of, held_out, twin_quality, twin_ranks

GRAPH = ArchitectureGraph((Op("relu"),), np.zeros((0, 2), np.int32), ("",))
TABLE = Path(twins_module.__file__).with_name("twins.tsv").read_text().splitlines()
PAIRS = [line.split("\t") for line in TABLE if not line.startswith("#")][1:]


def item(*names, design="d"):
    rows = tuple({"name": name, "family": "f", "params": 1, "composed": False} for name in names)
    return CorpusGraph(GRAPH, names[0], design, "t", np.zeros(1, np.int32), (), rows)


@pytest.mark.slow
def test_the_table_against_the_corpus():
    """Both names are in the corpus, of two libraries, and of a size."""
    folder = Path(nar_plugin.__file__).parent / "data" / "corpus"
    names = {row["name"]: row for row in read_names(folder) if row["fingerprint"]}
    asked = {names[name]["fingerprint"] for pair in PAIRS for name in pair[:2]}
    embeddings = {
        graph.fingerprint: {
            int(op.get("vocabulary", 0)) * int(op.get("width", 0)) for op in graph.graph.ops
        }
        for graph in read_corpus(folder)
        if graph.fingerprint in asked
    }
    assert len(PAIRS) >= 150
    assert len({frozenset(pair[:2]) for pair in PAIRS}) == len(PAIRS)
    for first, second, why in PAIRS:
        one, other = names[first], names[second]
        assert one["library"] != other["library"]
        apart = abs(one["params"] - other["params"]) / max(one["params"], other["params"])
        # Inception v3 has a second classifier for training, which timm leaves out.
        if {one["library"], other["library"]} == {"litgpt", "transformers"}:
            # litgpt ties no embeddings: where transformers does, litgpt has exactly that one twice.
            tied = embeddings[one["fingerprint"]] & embeddings[other["fingerprint"]]
            apart = 0 if abs(one["params"] - other["params"]) in tied else apart
        assert apart <= 0.02 or first == "torchvision:inception_v3"
        assert f"{one['params']:,}" in why
        assert f"{other['params']:,}" in why


@pytest.fixture
def four():
    # Two graphs of a, three of b; the last has a name in both libraries.
    return [item("a:1"), item("b:1"), item("b:2"), item("a:3", "b:3")]


def test_ranks_by_hand(four):
    angles = np.array([0.0, 0.3, 0.2, 0.1])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    # a:1 finds b:3 and b:2 before b:1; b:1 finds a:3 before a:1.
    ranks = twin_ranks(vectors, four, [Twin(("a:1", "b:1"), (0, 1), 0)])
    assert ranks.tolist() == [[3, 2]]


def test_one_graph_is_its_own_twin(four):
    quality = twin_quality(
        np.eye(4, dtype=np.float32),
        four,
        [Twin(("a:3", "b:3"), (3, 3), 3), Twin(("a:1", "b:1"), (0, 1), 0)],
    )
    assert (quality.questions, quality.differing) == (4, 0.5)
    # All cosines are 0: b:1 comes first in its library, and so does a:1.
    assert (quality.first, quality.first_differing, quality.tenth) == (1, 1, 1)


def test_the_halves_share_no_architecture():
    every = [Twin(("a:x", "b:x"), (number, number + 1), number // 3) for number in range(60)]
    test, validation = half_of(every, 0), half_of(every, 0, validation=True)
    assert len(test) + len(validation) == 60
    assert not {twin.architecture for twin in test} & {twin.architecture for twin in validation}
    assert half_of(every, 0) == test != half_of(every, 1)


def test_pairs_that_share_a_name_are_one_architecture(monkeypatch, tmp_path):
    table = "first\tsecond\twhy\na:1\tb:1\tx\nb:1\tc:1\tx\nb:2\tc:2\tx\nb:9\tc:2\tx\n"
    (tmp_path / "twins.tsv").write_text(table)
    monkeypatch.setattr(twins_module, "files", lambda package: tmp_path)
    items = [item(name) for name in ("c:1", "a:1", "b:1", "b:2", "c:2")]
    found = twins_module.read_twins(items)
    assert [twin.names for twin in found] == [("a:1", "b:1"), ("b:1", "c:1"), ("b:2", "c:2")]
    first, second, third = (twin.architecture for twin in found)
    assert first == second != third


def test_training_sees_no_graph_of_a_pair_nor_one_of_its_design():
    items = [item("a:1", design="x"), item("b:1", design="y"), item("c:1", design="x")]
    held = held_out([*items, item("d:1", design="z")], [Twin(("a:1", "b:1"), (0, 1), 0)])
    assert held.tolist() == [True, True, True, False]
