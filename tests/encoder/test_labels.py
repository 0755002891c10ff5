"""Labels by hand: how many there are, what they tell apart, and what they are blind to."""

import numpy as np
import pytest
import torch
from torch import nn

import nar_plugin
from nar_plugin.encoder import load_encoder
from nar_plugin.encoder.labels import COMPARED, VIEWS, counts_of
from nar_plugin.index import EMBEDDED
from nar_plugin.index.store.graphs import bare_graphs
from nar_plugin.likeness import LabelTable
from nar_plugin.tracing import trace
from nar_plugin.tracing.graph import ArchitectureGraph, Op


def graph(kinds, edges):
    ops = tuple(Op(kind) for kind in kinds)
    return ArchitectureGraph(ops, np.array(edges, np.int32).reshape(-1, 2), ("",) * len(ops))


def chain(kinds):
    return graph(kinds, [[place, place + 1] for place in range(len(kinds) - 1)])


def tables(*graphs):
    """By graph and name of the view, how often each label occurs."""
    found = counts_of(graphs)
    views = {name: {} for name in (view.name for view in VIEWS)}
    result = [{name: {} for name in views} for _ in graphs]
    for owner, view, label, count in zip(*(column.tolist() for column in found), strict=True):
        result[owner][VIEWS[view].name][label] = count
    return result


def test_two_operations_by_hand():
    (one,) = tables(chain("ab"))
    # Each operation has a label in each view; none states a width, and a walk has three edges.
    sizes = {name: sorted(labels.values()) for name, labels in one.items()}
    assert sizes.pop("width") == sizes.pop("walk of three") == []
    assert set(map(tuple, sizes.values())) == {(1, 1)} and len(sizes) == 8
    every = [label for labels in one.values() for label in labels]
    assert len(set(every)) == len(every)  # a view's labels are its own


def test_equal_operations_are_counted_and_their_places_told_apart():
    (one,) = tables(chain("aaaa"))
    for name in ("role", "shape", "exact"):
        assert list(one[name].values()) == [4]
    for name in ("role, neighbours", "kind, neighbours", "shape, neighbours"):
        assert sorted(one[name].values()) == [1, 1, 2]  # first, last, two between
    assert sorted(one["role, two steps"].values()) == [1, 1, 1, 1]
    assert list(one["walk of three"].values()) == [1]


def test_which_way_an_edge_leads_is_told():
    forth, back = tables(chain("ab"), chain("ba"))
    assert forth["role"] == back["role"]
    assert not forth["role, neighbours"].keys() & back["role, neighbours"].keys()


def test_norms_are_passed_by_where_roles_are_told():
    op = Op("relu")
    ops = (op, Op("layer_norm", (("affine", True), ("width", 8))), Op("softmax"), op)
    edges = np.array([[0, 1], [1, 2], [2, 3]], np.int32)
    normed = ArchitectureGraph(ops, edges, ("",) * 4)
    plain = ArchitectureGraph((op, ops[2], op), edges[:2], ("",) * 3)
    one, other = tables(normed, plain)
    for name in ("role", "role, neighbours", "role, two steps", "walk of three"):
        assert one[name] == other[name]
    assert one["kind, neighbours"] != other["kind, neighbours"]


def test_the_order_of_calls_changes_nothing():
    edges = [[0, 1], [0, 2], [1, 3], [2, 3]]
    one, other = tables(graph("abcd", edges), graph("acbd", edges))
    assert one == other


def test_graphs_beside_it_change_nothing():
    alone = tables(chain("abc"))
    assert tables(chain("xy"), chain("abc"), chain("aa"))[1:2] == alone


@pytest.mark.parametrize("readout", [None, nn.Softmax(-1), nn.Sigmoid()])
def test_classes_vocabulary_and_readout_are_not_told(readout):
    def model(words, classes, *last):
        layers = nn.Embedding(words, 8), nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, classes), *last
        return trace(nn.Sequential(*layers), torch.arange(6)[None])

    plain, other = model(10, 3), model(5000, 700, *([readout] if readout else []))
    assert plain.fingerprint != other.fingerprint
    one, two = tables(plain, other)
    assert one == two
    wider = trace(nn.Sequential(nn.Embedding(10, 8), nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3)))
    (three,) = tables(wider)
    assert three["exact"] != one["exact"] and three["role"] == one["role"]


def test_counts_are_sorted_by_graph_view_and_label():
    found = counts_of([chain("cab"), chain("ba")])
    keys = list(zip(*(column.tolist() for column in found[:3]), strict=True))
    assert keys == sorted(set(keys))
    assert found.counts.min() >= 1
    assert COMPARED <= len(VIEWS)
    assert [len(column) for column in counts_of([chain("a")])] == [8] * 4


def test_labels_and_vectors_are_those_that_came_with_the_index():
    """An earlier version counted and embedded them: the labels are equal to the last bit.

    The vectors are as far as float16 goes: they were summed on another machine, in other batches.
    """
    index = nar_plugin.load_index(EMBEDDED)
    some = np.arange(7, len(index), 400)
    graphs = list(bare_graphs(index.graphs().take(some)))
    mine, kept = LabelTable.of(graphs), index.contents.labels.taken(some)
    for name in ("starts", "labels", "counts", "views"):
        np.testing.assert_array_equal(getattr(mine.compared(), name), getattr(kept, name))
    vectors = load_encoder(EMBEDDED).encode_graphs(graphs).numpy()
    np.testing.assert_allclose(vectors, index.contents.vectors[some], atol=2e-4)


def test_a_large_batch_and_single_graphs_have_the_same_labels():
    every = [chain("abcab"), graph("abcd", [[0, 1], [0, 2], [1, 3], [2, 3]]), chain("b")]
    assert tables(*every) == [tables(one)[0] for one in every]


def test_equal_operations_may_be_several_objects():
    texts = "conv", (("groups", 1), ("in", 8), ("kernel", "3x3"), ("out", 8), ("stride", "1x1"))
    edges = np.array([[0, 1], [1, 2]], np.int32)
    one = ArchitectureGraph((Op(*texts),) * 3, edges, ("",) * 3)
    other = ArchitectureGraph(tuple(Op(*texts) for _ in range(3)), edges, ("",) * 3)
    assert tables(one) == tables(other)
