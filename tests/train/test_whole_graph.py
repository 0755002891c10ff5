"""GCN and GAT on whole graphs: shapes, order, learning, and going on after an interruption."""

import numpy as np
import pytest
import torch

pytest.importorskip("tqdm")
pytest.importorskip("torch_geometric")

from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.corpus import CorpusGraph
from nar_plugin.train.metrics import retrieval_quality
from nar_plugin.train.whole_graph import WholeGraph, WholeGraphEncoder


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


@pytest.mark.parametrize("convolution", ["gcn", "gat"])
@pytest.mark.parametrize("learned", [False, True])
def test_it_learns_three_families(convolution, learned, tmp_path):
    torch.manual_seed(0)
    method = WholeGraph(
        convolution, 0, tmp_path, learned=learned, width=32, epochs=40, device="cpu"
    )
    method.fit(ITEMS[:24], LABELS[:24])
    vectors = method.embed(ITEMS)
    assert vectors.shape == (30, 32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    quality = retrieval_quality(vectors, LABELS, np.arange(24, 30), np.arange(30), (5,))
    assert quality.map[5] > 0.9
    # The order of the graphs is nothing to a graph.
    np.testing.assert_allclose(method.embed(ITEMS[::-1]), vectors[::-1], atol=1e-5)


def test_a_seed_repeats_and_an_interrupted_training_ends_the_same(tmp_path):
    def rows(folder, *epochs):
        for count in epochs:  # the first ends early, as one that was interrupted
            method = WholeGraph("gcn", 1, tmp_path / folder, width=16, epochs=count, device="cpu")
            method.fit(ITEMS, LABELS)
        return method.embed(ITEMS)

    whole = rows("whole", 4)
    np.testing.assert_array_equal(whole, rows("again", 4))
    np.testing.assert_allclose(whole, rows("interrupted", 2, 4), atol=1e-6)


def test_one_hot_kinds_do_not_see_widths(tmp_path):
    pair = [item(0, 0), item(0, 3)]  # the same but for the width
    for learned, equal in ((False, True), (True, False)):
        method = WholeGraph(
            "gcn", 0, tmp_path / str(learned), learned=learned, width=16, epochs=1, device="cpu"
        )
        method.fit(ITEMS, LABELS)
        first, second = method.embed(pair)
        assert np.allclose(first, second, atol=1e-6) == equal


def test_the_gcn_of_one_layer_by_hand():
    """Two nodes and an edge: D^-1/2 (A + I) D^-1/2 halves and adds both rows."""
    encoder = WholeGraphEncoder("gcn", 3, width=4)
    layer = encoder.layers[0]
    one_hot = torch.eye(3)[1:]
    hidden = layer(one_hot, torch.tensor([[0, 1], [1, 0]]))
    expected = (layer.lin.weight.T[1] + layer.lin.weight.T[2]) / 2 + layer.bias
    torch.testing.assert_close(hidden, expected.expand(2, 4))


def test_the_recipe_of_table_5():
    encoder = WholeGraphEncoder("gat", 90)
    sizes = [(layer.in_channels, layer.heads * layer.out_channels) for layer in encoder.layers]
    assert sizes == [(90, 512), (512, 512), (512, 512)]
    assert encoder.dropout.p == 0.1
