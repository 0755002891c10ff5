"""Training-free rows by hand, beside scikit-learn's tf-idf and networkx's Weisfeiler-Lehman."""

import math

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import sparse

from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.measure.baselines import (
    op_histogram,
    random_rows,
    tf_idf,
    width_histogram,
    wl_beside_widths,
    wl_histogram,
)


def graph(kinds, edges, widths=None):
    ops = [Op(kind) for kind in kinds]
    if widths:
        ops = [Op(kind, (("out", width),)) for kind, width in zip(kinds, widths, strict=True)]
    array = np.array(edges, dtype=np.int32).reshape(-1, 2)
    return ArchitectureGraph(tuple(ops), array, ("",) * len(ops))


CHAIN = [(0, 1), (1, 2)]


def cosines(rows):
    product = rows @ rows.T
    return product.toarray() if sparse.issparse(product) else product


def test_tf_idf_is_scikit_learns():
    text = pytest.importorskip("sklearn.feature_extraction.text")
    counts = np.random.default_rng(0).poisson(1.0, size=(12, 30)).astype(np.float32)
    rows = tf_idf([sparse.csr_array(counts[:, :10]), sparse.csr_array(counts[:, 10:])])
    expected = text.TfidfTransformer(sublinear_tf=True).fit_transform(counts).toarray()
    np.testing.assert_allclose(
        cosines(rows) - np.eye(12), expected @ expected.T - np.eye(12), atol=1e-6
    )


def test_the_op_histogram_by_hand():
    # conv and relu are in both graphs and weigh 1; add is in one, and weighs 1 + ln(3 / 2).
    rows = op_histogram([graph(["conv", "relu"], [(0, 1)]), graph(["conv", "relu", "add"], CHAIN)])
    alone = 1 + math.log(3 / 2)
    assert cosines(rows)[0, 1] == pytest.approx(2 / math.sqrt(2 * (2 + alone**2)))


def test_depth_tells_what_stands_beside_what():
    one = graph(["conv", "relu", "add"], CHAIN)
    other = graph(["conv", "relu", "add"], [(0, 2), (1, 2)])
    turned = graph(["conv", "relu", "add"], [(1, 0), (2, 1)])
    graphs = [one, other, turned, one]
    assert cosines(wl_histogram(graphs, depth=0))[0] == pytest.approx([1, 1, 1, 1])
    near = cosines(wl_histogram(graphs, depth=2))[0]
    assert near[3] == pytest.approx(1)
    assert near[1] < 0.9
    assert near[2] < 0.9


def test_labels_split_nodes_as_networkx_does():
    networkx = pytest.importorskip("networkx")
    random = np.random.default_rng(1)
    for _ in range(10):
        kinds = random.choice(["conv", "relu"], size=12).tolist()
        pairs = {tuple(sorted(random.choice(12, 2, replace=False))) for _ in range(14)}
        both = [(int(a), int(b)) for a, b in pairs] + [(int(b), int(a)) for a, b in pairs]
        rows = wl_histogram([graph(kinds, both)] * 2, depth=2)  # edges both ways: undirected
        undirected = networkx.Graph(both)
        undirected.add_nodes_from(range(12))
        networkx.set_node_attributes(undirected, dict(enumerate(kinds)), "kind")
        labels = networkx.weisfeiler_lehman_subgraph_hashes(
            undirected, node_attr="kind", iterations=2, include_initial_labels=True
        )
        expected = {(step, name) for names in labels.values() for step, name in enumerate(names)}
        assert rows.shape[1] == len(expected)


def test_widths_and_attributes():
    thin, wide = (
        graph(["conv", "relu"], [(0, 1)], [8, 8]),
        graph(["conv", "relu"], [(0, 1)], [9, 9]),
    )
    graphs = [thin, wide, thin]
    assert cosines(width_histogram(graphs))[0] == pytest.approx([1, 0, 1])
    assert cosines(wl_histogram(graphs, depth=1))[0] == pytest.approx([1, 1, 1])
    assert cosines(wl_histogram(graphs, depth=1, attributes=True))[0] == pytest.approx([1, 0, 1])
    assert cosines(wl_beside_widths(graphs, depth=1))[0] == pytest.approx([1, 0.5, 1])


def test_random_rows_are_of_length_one_and_repeat():
    graphs = [graph(["conv"], [])] * 5
    np.testing.assert_allclose(np.diag(cosines(random_rows(graphs))), 1, rtol=1e-6)
    np.testing.assert_array_equal(random_rows(graphs), random_rows(graphs))


def test_graphs_without_widths_meet_nowhere():
    rows = width_histogram([graph(["relu"], []), graph(["relu", "add"], [(0, 1)])])
    assert cosines(rows).tolist() == [[0, 0], [0, 0]]
