"""GCN and GAT on whole graphs: shapes, order, learning, and going on after an interruption."""

import numpy as np
import pytest
import torch

pytest.importorskip("tqdm")
pytest.importorskip("torch_geometric")

from torch_geometric.nn import GATConv

from nar_plugin.encoder.paper.folding import Folded
from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.corpus.corpus import CorpusGraph
from nar_plugin.train.measure.metrics import retrieval_quality
from nar_plugin.train.measure.whole_graph import Attentions, WholeGraph, WholeGraphEncoder
from nar_plugin.train.paper.ablations import Recipe


def item(family, number):
    """Linear layers with the family's activation after each, and one of the others at the end."""
    kinds = ["relu", "gelu", "tanh"]
    pair = [Op("linear", (("out", 8 + number),)), Op(kinds[family])]
    ops = (*pair * (2 + number % 3), Op(kinds[(family + number) % 3]))
    edges = np.array([(a, a + 1) for a in range(len(ops) - 1)], dtype=np.int32)
    graph = ArchitectureGraph(ops, edges, ("",) * len(ops))
    return CorpusGraph(graph, f"{family}.{number}", "", "", np.zeros(1, np.int32), (), ())


ITEMS = [item(family, number) for number in range(10) for family in range(3)]
LABELS = np.arange(30) % 3


def method(convolution, folder, seed=0, **settings):
    recipe = Recipe(**{"width": 32, "graph_batch": 24, "graph_rate": 1e-2, **settings})
    return WholeGraph(convolution, recipe, seed, folder, device="cpu")


@pytest.mark.parametrize("convolution", ["gcn", pytest.param("gat", marks=pytest.mark.slow)])
@pytest.mark.parametrize("operations", ["one-hot", pytest.param("learned", marks=pytest.mark.slow)])
def test_it_learns_three_families(convolution, operations, tmp_path):
    made = method(convolution, tmp_path, operations=operations, graph_epochs=100)
    made.fit(ITEMS[:24], LABELS[:24])
    vectors = made.embed(ITEMS)
    assert vectors.shape == (30, 32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    quality = retrieval_quality(vectors, LABELS, np.arange(24, 30), np.arange(30), (5,))
    assert quality.map[5] > 0.85
    # The order of the graphs is nothing to a graph.
    np.testing.assert_allclose(made.embed(ITEMS[::-1]), vectors[::-1], atol=1e-5)


def test_a_seed_repeats_and_an_interrupted_training_ends_the_same(tmp_path):
    def rows(folder, *epochs):
        for count in epochs:  # the first ends early, as one that was interrupted
            made = method("gcn", tmp_path / folder, seed=1, graph_epochs=count)
            made.fit(ITEMS, LABELS)
        return made.embed(ITEMS)

    whole = rows("whole", 4)
    np.testing.assert_array_equal(whole, rows("again", 4))
    np.testing.assert_array_equal(whole, rows("interrupted", 2, 4))


def test_kinds_do_not_see_widths(tmp_path):
    made = method("gcn", tmp_path, graph_epochs=1)
    made.fit(ITEMS, LABELS)
    first, second = made.embed([item(0, 0), item(0, 3)])  # the same but for the width
    np.testing.assert_array_equal(first, second)


def test_folded_attention_equals_that_of_torch_geometric():
    torch.manual_seed(0)
    recipe = Recipe(width=8, layers=2)
    ours = Attentions(2, recipe).eval()
    # Blocks that repeat, joined by a shortcut: attention weighs equal neighbours as often as they
    # are there.
    kinds = np.array([0, 1, 1] * 4)
    pairs = np.array([(a, a + 1) for a in range(11)] + [(0, 2), (3, 5), (6, 8), (9, 11)])
    batch = Folded(kinds, pairs, [12], 2).batch(np.arange(1), torch.device("cpu"))
    found = ours(torch.eye(2)[batch.inputs], batch)
    ways = torch.from_numpy(np.concatenate([pairs, pairs[:, ::-1]]).T.copy())
    hidden = torch.eye(2)[torch.from_numpy(kinds)]
    for number, layer in enumerate(ours.layers):
        theirs = GATConv(layer.in_channels, 2, heads=4)  # adds the loops itself
        theirs.load_state_dict(layer.state_dict())
        hidden = theirs(torch.nn.functional.elu(hidden) if number else hidden, ways)
    torch.testing.assert_close(found, hidden.mean(dim=0, keepdim=True))


def test_the_recipe_of_table_5():
    encoder = WholeGraphEncoder("gat", 90, 7, Recipe())
    sizes = [(x.in_channels, x.heads * x.out_channels) for x in encoder.graphs.layers]
    assert sizes == [(90, 512), (512, 512), (512, 512)]
    assert encoder.graphs.dropout.p == 0.1
