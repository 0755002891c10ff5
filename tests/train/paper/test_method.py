"""The paper's method: it learns, goes on after an interruption, and is the paper's."""

import numpy as np
import pytest
import torch

pytest.importorskip("tqdm")

from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.corpus.corpus import CorpusGraph
from nar_plugin.train.measure.metrics import retrieval_quality
from nar_plugin.train.paper import training
from nar_plugin.train.paper.ablations import Recipe
from nar_plugin.train.paper.method import PaperMethod

SMALL = {"width": 32, "graph_epochs": 100, "graph_batch": 24, "graph_rate": 1e-2}


def item(family, number):
    """Blocks of a linear layer and the family's activation, and one of the others at the end."""
    kinds = ["relu", "gelu", "tanh"]
    block = [Op("linear", (("out", 8 + number),)), Op(kinds[family]), Op("add")]
    ops = (*block * (2 + number % 3), Op(kinds[(family + number) % 3]))
    edges = np.array([(a, a + 1) for a in range(len(ops) - 1)], dtype=np.int32)
    graph = ArchitectureGraph(ops, edges, ("",) * len(ops))
    starts = np.arange(0, len(ops), 3, dtype=np.int32)
    return CorpusGraph(graph, f"{family}.{number}", "", "", starts, (), ())


ITEMS = [item(family, number) for number in range(10) for family in range(3)]
LABELS = np.arange(30) % 3


def method(folder, seed=0, **settings):
    return PaperMethod(Recipe(**{**SMALL, **settings}), seed, folder / "cell", device="cpu")


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"objective": "ce"},
        {"objective": "cl"},
        {"operations": "learned"},
        {"splitting": "random", "sizes": (2, 3)},
        {"splitting": "sequence", "tuned": True, "both_ways": False},
        {"heads": True, "motif_temperature": 0.1, "graph_temperature": 0.1},
    ],
    ids=str,
)
def test_it_learns_three_families(tmp_path, settings):
    made = method(tmp_path, **settings)
    made.fit(ITEMS[:24], LABELS[:24])
    vectors = made.embed(ITEMS)
    assert vectors.shape == (30, 32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    quality = retrieval_quality(vectors, LABELS, np.arange(24, 30), np.arange(30), (5,))
    assert quality.map[5] > 0.85
    # The order of the graphs is nothing to a graph.
    np.testing.assert_allclose(made.embed(ITEMS[::-1]), vectors[::-1], atol=1e-5)


def test_a_seed_repeats_and_an_interrupted_training_ends_the_same(tmp_path, monkeypatch):
    def rows(folder):
        made = method(tmp_path / folder, seed=1, graph_epochs=4)
        made.fit(ITEMS, LABELS)
        assert (made.earlier > 0) == (folder == "interrupted")
        return made.embed(ITEMS)

    whole = rows("whole")
    np.testing.assert_array_equal(whole, rows("again"))
    # Killed after two epochs of stage one, and after one of stage two.
    save, left = training.State.save, 2

    def dying(self, *args):
        nonlocal left
        save(self, *args)
        left -= 1
        if not left:
            raise KeyboardInterrupt

    monkeypatch.setattr(training.State, "save", dying)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            rows("interrupted")
        left = 2
    monkeypatch.undo()
    np.testing.assert_array_equal(whole, rows("interrupted"))


def test_recipes_that_differ_in_stage_two_share_stage_one(tmp_path, monkeypatch):
    def rows(folder, objective):
        recipe = Recipe(width=32, graph_epochs=2, objective=objective)
        made = PaperMethod(recipe, 0, tmp_path / folder, device="cpu")
        made.fit(ITEMS, LABELS)
        return made, made.embed(ITEMS)

    _, alone = rows("alone/ce", "ce")
    rows("both/ce+cl", "ce+cl")
    trained = []
    monkeypatch.setattr(training, "motif_loss", lambda *args: trained.append(args))
    made, shared = rows("both/ce", "ce")
    assert not trained
    assert made.earlier > 0  # the seconds of the other's stage one
    np.testing.assert_array_equal(shared, alone)


def test_the_motif_encoder_stays_fixed_in_stage_two(tmp_path):
    one = method(tmp_path / "one", graph_epochs=1)
    many = method(tmp_path / "many", graph_epochs=5)
    for made in (one, many):
        made.fit(ITEMS, LABELS)
    first, last = (made._networks.state_dict() for made in (one, many))
    fixed = [name for name in first if torch.equal(first[name], last[name])]
    assert {name.split(".")[0] for name in fixed} == {"motifs", "contexts"}
    assert all(name in fixed for name in first if name.startswith("motifs"))


def test_a_recipe_that_tunes_the_motif_encoder_moves_it(tmp_path):
    one = method(tmp_path / "one", graph_epochs=0, tuned=True)
    many = method(tmp_path / "many", graph_epochs=1, tuned=True)
    for made in (one, many):
        made.fit(ITEMS, LABELS)
    first, last = (made._networks.state_dict() for made in (one, many))
    moved = {name.split(".")[0] for name in first if not torch.equal(first[name], last[name])}
    assert moved == {"motifs", "graphs", "classifier"}


def test_what_answers_is_what_was_trained(tmp_path):
    made = method(tmp_path, graph_epochs=1, splitting="nodes", piece=3)
    made.fit(ITEMS, LABELS)
    encoder = made.encoder()
    # Its own order of the operations of a chain is the chain's.
    rows = encoder.encode_graphs([item.graph for item in ITEMS]).numpy()
    np.testing.assert_allclose(rows, made.embed(ITEMS), atol=1e-6)
    assert sum(part.numel() for part in encoder.parameters()) == made.parameters


def test_pre_training_on_the_search_space_is_where_training_starts(tmp_path):
    made = method(tmp_path, nas=30, motif_epochs=1, graph_epochs=1, graph_rate=0.0, motif_rate=0.0)
    made.fit(ITEMS, LABELS)
    # With rates of zero nothing moves: the networks are those that the search space left.
    saved = torch.load(tmp_path / "cell" / "nas" / "training.pt", weights_only=True)["encoder"]
    for name, value in made._networks.state_dict().items():
        if not name.startswith("classifier"):
            torch.testing.assert_close(value, saved[name])
    assert made._kinds.keys() > {"sep_conv_3x3", "relu"}
    assert made._networks.classifier.out_features == 3


def test_one_hot_kinds_do_not_see_widths_and_know_no_unseen_kind(tmp_path):
    made = method(tmp_path, graph_epochs=1)
    made.fit(ITEMS[:6], LABELS[:6])
    first, second = made.embed([item(0, 0), item(0, 3)])  # the same but for the width
    np.testing.assert_array_equal(first, second)
    new = ArchitectureGraph((Op("new"),), np.zeros((0, 2), np.int32), ("",))
    made.embed([CorpusGraph(new, "new", "", "", np.zeros(1, np.int32), (), ())])


def test_the_defaults_are_table_5():
    recipe = Recipe()
    assert (recipe.motif_epochs, recipe.motif_batch, recipe.motif_rate) == (5, 256, 1e-2)
    assert (recipe.graph_epochs, recipe.graph_batch, recipe.graph_rate) == (15, 512, 1e-3)
    assert (recipe.layers, recipe.width, recipe.dropout) == (3, 512, 0.1)
    assert (recipe.objective, recipe.operations, recipe.nas) == ("ce+cl", "one-hot", 0)


def test_a_setting_that_came_later_is_told_where_it_is_not_the_default():
    """Cells that were measured before it are known by the settings that they had."""
    assert "tuned" not in Recipe().told() and "width" in Recipe().told()
    assert Recipe(tuned=True, steps=2).told() == Recipe().told() | {"tuned": True, "steps": 2}
