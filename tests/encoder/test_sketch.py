"""Sketches: what is told of an operation, labels by hand, cosines that projection keeps."""

import itertools
import math

import numpy as np
import pytest
import torch
from models import NanoGPT
from torch import nn
from torch.nn import functional

from nar_plugin.encoder import words
from nar_plugin.encoder.relabelling import hash_of, nodes_of, relabelled, skipped, walks
from nar_plugin.encoder.sketch import VIEWS, WIDTH, frequencies, sketch
from nar_plugin.tracing import trace
from nar_plugin.tracing.graph import ArchitectureGraph, Op


def chain(*kinds, order=None):
    """A chain of operations; `order` says in which order they are listed."""
    order = order or range(len(kinds))
    place = {node: position for position, node in enumerate(order)}
    edges = [(place[node], place[node + 1]) for node in range(len(kinds) - 1)]
    ops = tuple(Op(kinds[node]) for node in order)
    return ArchitectureGraph(ops, np.array(edges, dtype=np.int32).reshape(-1, 2), ("",) * len(ops))


def conv(**attributes):
    return Op("conv", tuple(sorted(attributes.items())))


@pytest.mark.parametrize(
    ("op", "word"),
    [
        (conv(**{"in": 64, "out": 128, "groups": 1, "kernel": "3x3"}), "conv kernel=3x3 x2.00"),
        (conv(**{"in": 64, "out": 64, "groups": 64}), "conv depthwise x1.00"),
        (conv(**{"in": 64, "out": 90, "groups": 2}), "conv grouped x1.41"),  # half an octave
        (Op("relu"), "relu"),
        (Op("gelu", (("approximate", "tanh"),)), "gelu"),
    ],
)
def test_the_shape_of_an_operation_by_hand(op, word):
    assert words.shape(op) == word


def test_a_scaled_layer_has_the_same_shape_and_another_width():
    narrow = conv(**{"in": 64, "out": 256, "kernel": "1x1"})
    wide = conv(**{"in": 96, "out": 384, "kernel": "1x1"})
    assert words.shape(narrow) == words.shape(wide)
    assert (words.width(narrow), words.width(wide)) == ("conv 256", "conv 384")
    assert words.width(Op("relu")) == ""


def test_labels_know_their_neighbourhood_and_direction():
    nodes = nodes_of([chain("a", "b", "a"), chain("b", "a")], words.kind)
    assert nodes.labels[0] == nodes.labels[2] == nodes.labels[4] == hash_of("a")
    first = relabelled(nodes.labels, nodes.edges)
    assert first[0] != first[2]  # before b, behind b
    assert first[2] == first[4]  # behind b, both
    assert relabelled(first, nodes.edges)[2] != relabelled(first, nodes.edges)[4]


def test_walks_of_a_diamond():
    # a leads to b and c, and both lead to d: four edges, two walks of two edges, none of three.
    ops = tuple(Op(kind) for kind in "abcd")
    edges = np.array([[0, 1], [0, 2], [1, 3], [2, 3]], np.int32)
    nodes = nodes_of([chain("a", "b"), ArchitectureGraph(ops, edges, ("",) * 4)], words.kind)
    lengths = list(walks(nodes, 3))
    assert [graphs.tolist() for graphs, _ in lengths] == [[0, 1, 1, 1, 1], [1, 1], []]
    single, double, _ = (labels for _, labels in lengths)
    assert single[0] == single[1]  # a to b in both graphs
    assert len(set(single.tolist())) == 4
    assert len(set(double.tolist())) == 2  # a b d and a c d


def test_a_walk_knows_how_far_it_skips():
    # Behind a chain of five and an edge over two steps, one over three and one over four.
    ops = (*(Op("a"),) * 4, Op("b"))
    chained = [[0, 1], [1, 2], [2, 3], [3, 4]]
    graphs = [
        ArchitectureGraph(ops, np.array([*chained, *skipping], np.int32), ("",) * 5)
        for skipping in ([], [[2, 4]], [[1, 4]], [[0, 4]])
    ]
    nodes = nodes_of(graphs, words.kind)
    assert skipped(nodes)[skipped(nodes) > 0].tolist() == [2, 2, 3]  # as 2 and 3, and 4 to 7
    owners, labels = next(walks(nodes, 1))
    said = [set(labels[owners == graph].tolist()) for graph in range(4)]  # a to a, a to b, skips
    assert [len(one) for one in said] == [2, 3, 3, 3]
    assert said[0] < said[1] == said[2] != said[3]


def test_residual_connections_skip_and_a_norm_in_them_is_no_step():
    graph = trace(NanoGPT(layers=2), torch.arange(8)[None])
    nodes = nodes_of([graph], words.role)
    longest = [0] * len(graph)  # by hand, one operation after the other
    for place in range(len(graph)):
        before = [longest[start] for start, end in nodes.edges.tolist() if end == place]
        longest[place] = 1 + max(before, default=-1)
    steps = [longest[end] - longest[start] for start, end in nodes.edges.tolist()]
    skipping = [
        graph.ops[end].kind for (_, end), far in zip(nodes.edges, steps, strict=True) if far > 1
    ]
    assert skipping == ["add"] * 4  # two a layer
    assert skipped(nodes).tolist() == [int(math.log2(far)) + 1 if far > 1 else 0 for far in steps]


def test_the_order_of_a_concatenation_changes_nothing():
    class Shortcut(nn.Module):
        def __init__(self, turned):
            super().__init__()
            self.down, self.up = nn.Conv2d(3, 16, 3, 2, 1), nn.ConvTranspose2d(16, 3, 2, 2)
            self.last, self.turned = nn.Conv2d(6, 2, 3, padding=1), turned

        def forward(self, x):
            x = functional.relu(x)
            both = (x, self.up(functional.relu(self.down(x))))
            return self.last(torch.cat(both[::-1] if self.turned else both, 1))

    graphs = [trace(Shortcut(turned), torch.zeros(1, 3, 8, 8)) for turned in (False, True)]
    assert graphs[0].fingerprint != graphs[1].fingerprint
    rows = sketch(graphs, frequencies(graphs * 2)._replace(total=9))
    np.testing.assert_array_equal(rows[0], rows[1])


def test_a_graph_of_too_many_walks_is_walked_no_further():
    # Six layers of 64 operations, each leading to all of the next: 64 ** 4 walks of three edges.
    layers = np.arange(6 * 64).reshape(6, 64)
    pairs = [np.stack(np.meshgrid(*pair), -1).reshape(-1, 2) for pair in itertools.pairwise(layers)]
    edges = np.concatenate(pairs).astype(np.int32)
    dense = ArchitectureGraph((Op("add"),) * layers.size, edges, ("",) * layers.size)
    nodes = nodes_of([dense, chain("a", "b", "c")], words.kind)
    counts = [np.bincount(graphs, minlength=2).tolist() for graphs, _ in walks(nodes, 3)]
    assert counts == [[5 * 64**2, 2], [0, 1], [0, 0]]  # 4 * 64 ** 3 of two edges would be a million


def test_the_order_of_calls_changes_nothing():
    graph, other = chain("a", "b", "c"), chain("a", "b", "c", order=[2, 0, 1])
    known = frequencies([graph] * 3)
    rows = sketch([graph, other], known)
    np.testing.assert_array_equal(rows[0], rows[1])


def test_cosines_are_those_of_tf_idf_by_hand():
    # One operation each, so all depths of a view are one token and both graphs have the view of
    # kinds alone in common, where they differ in attributes.
    narrow = ArchitectureGraph((Op("l2_norm", (("width", 8),)),), np.zeros((0, 2), np.int32), ("",))
    wide = ArchitectureGraph((Op("l2_norm", (("width", 16),)),), np.zeros((0, 2), np.int32), ("",))
    known = frequencies([])._replace(total=9)
    rows = sketch([narrow, wide], known).reshape(2, len(VIEWS), WIDTH)
    cosines = (rows[0] * rows[1]).sum(axis=1)
    # There are no walks; kind and shape agree, all attributes and widths do not: noise of about
    # 1 / sqrt(WIDTH).
    np.testing.assert_allclose(cosines, [1, 1, 0, 0, 0], atol=4 / math.sqrt(WIDTH))
    np.testing.assert_allclose(cosines[[0, 1, 4]], [1, 1, 0], atol=1e-5)


def test_what_all_graphs_have_weighs_little():
    graphs = [chain("a", "b"), chain("a", "c"), chain("a", "d"), chain("a", "b")]
    known = frequencies(graphs)
    rows = sketch(graphs, known)[:, :WIDTH]
    assert rows[0] @ rows[3] == pytest.approx(1, abs=1e-5)
    assert rows[0] @ rows[1] < 0.3  # `a` is in all four


def test_frequencies_count_graphs_and_leave_out_rare_labels():
    known = frequencies([chain("a", "a", "b"), chain("a", "a", "b"), chain("a")])
    # In three graphs: the kind `a` in its view, in that of shapes and in that of all attributes.
    assert known.total == 3
    assert known.graphs.tolist() == [3, 3, 3]
    assert (np.diff(known.labels.view(np.uint64)) > 0).all()


def test_a_real_model_in_a_row_of_parts_of_length_one():
    graph = trace(NanoGPT(layers=2), torch.arange(8)[None])
    row = sketch([graph], frequencies([graph] * 4)._replace(total=9))
    views = row.reshape(len(VIEWS), WIDTH)
    assert row.dtype == np.float32
    lengths = np.linalg.norm(views, axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-5)


def test_a_transposed_convolution_enlarges_as_an_upsample_does():
    up, plain = conv(transposed=True, out=8), conv(transposed=False, out=8)
    assert (words.role(up), words.role(plain)) == ("upsample", "conv")
    edges = np.array([[0, 1], [1, 2]], np.int32)
    decoders = [
        ArchitectureGraph((Op("relu"), larger, Op("cat")), edges, ("",) * 3)
        for larger in (up, Op("upsample"), plain)
    ]
    rows = sketch(decoders, frequencies([])._replace(total=9)).reshape(3, len(VIEWS), WIDTH)
    for view in (0, 4):  # the labels that are blind to widths, and the walks
        np.testing.assert_array_equal(rows[0, view], rows[1, view])
        assert rows[0, view] @ rows[2, view] < 0.9


@pytest.mark.parametrize(
    ("first", "second"),
    [("relu", "quick_gelu"), ("batch_norm", "rms_norm"), ("prelu", "hardswish")],
)
def test_another_activation_or_norm_has_the_same_role_and_another_shape(first, second):
    known = frequencies([])._replace(total=9)
    graphs = [chain("conv", kind, "conv", "add") for kind in (first, second, "sigmoid")]
    swapped, original, gate = sketch(graphs, known).reshape(3, len(VIEWS), WIDTH)
    cosines = (swapped * original).sum(axis=1)
    np.testing.assert_allclose(cosines[[0, 4]], 1, atol=1e-5)  # labels of roles, and walks
    assert (cosines[[1, 2]] < 0.9).all()
    assert ((swapped * gate).sum(axis=1)[[0, 4]] < 0.9).all()


def test_a_pointwise_convolution_is_a_linear_layer_and_no_other_is():
    dense = {
        "in": 64,
        "out": 256,
        "groups": 1,
        "bias": True,
        "transposed": False,
        "dilation": "1x1",
    }
    linear = Op("linear", (("bias", True), ("in", 64), ("out", 256)))
    assert words.pointwise(conv(kernel="1x1", stride="1x1", **dense)) == linear
    assert words.pointwise(conv(kernel="1x1x1", stride="1x1x1", **dense)) == linear
    others = (
        conv(kernel="3x3", stride="1x1", **dense),
        conv(kernel="1x3", stride="1x1", **dense),
        conv(kernel="1x1", stride="2x2", **dense),
        conv(kernel="1x1", stride="1x1", **dense | {"groups": 64}),
        conv(kernel="1x1", stride="1x1", **dense | {"transposed": True}),
        Op("relu"),
    )
    assert [words.pointwise(op) for op in others] == list(others)


def test_a_block_of_pointwise_convolutions_has_the_row_of_one_of_linear_layers():
    class Convolutional(nn.Module):
        def __init__(self):
            super().__init__()
            self.mix = nn.Conv2d(16, 16, 7, padding=3, groups=16)
            self.up, self.down = nn.Conv2d(16, 64, 1), nn.Conv2d(64, 16, 1)

        def forward(self, x):
            return x + self.down(functional.gelu(self.up(self.mix(x))))

    class Linear(Convolutional):
        def __init__(self):
            super().__init__()
            self.up, self.down = nn.Linear(16, 64), nn.Linear(64, 16)

        def forward(self, x):
            y = self.down(functional.gelu(self.up(self.mix(x).permute(0, 2, 3, 1))))
            return x + y.permute(0, 3, 1, 2)

    graphs = [trace(made, torch.zeros(1, 16, 8, 8)) for made in (Convolutional(), Linear())]
    assert graphs[0].fingerprint != graphs[1].fingerprint
    rows = sketch(graphs, frequencies(graphs * 2)._replace(total=9))
    np.testing.assert_array_equal(rows[0], rows[1])


def test_a_norm_is_passed_by():
    known = frequencies([])._replace(total=9)
    graphs = [
        chain("conv", "batch_norm", "relu", "conv", "layer_norm"),
        chain("conv", "relu", "conv"),
        chain("layer_norm", "rms_norm", "conv", "gelu", "batch_norm", "group_norm", "conv"),
    ]
    rows = sketch(graphs, known).reshape(3, len(VIEWS), WIDTH)
    for view in (0, 4):
        np.testing.assert_array_equal(rows[0, view], rows[1, view])
        np.testing.assert_array_equal(rows[2, view], rows[1, view])


def test_what_reads_an_operation_without_a_label_reads_its_first_input():
    # a and b lead to x, x to c, and c to d by way of y and z; w leads to d and comes from nowhere.
    ops = tuple(Op(kind) for kind in "abxcyzwd")
    edges = [(0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (5, 7), (6, 7)]
    graph = ArchitectureGraph(ops, np.array(edges, np.int32), ("",) * len(ops))
    nodes = nodes_of([graph], lambda op: "" if op.kind in "xyzw" else op.kind)
    assert nodes.edges.tolist() == [[0, 3], [3, 7]]


def test_classes_and_vocabulary_are_not_told_and_widths_are():
    def model(words, width, classes):
        return nn.Sequential(nn.Embedding(words, 8), nn.Linear(8, width), nn.Linear(width, classes))

    graphs = [
        trace(model(*sizes), torch.arange(6)[None])
        for sizes in ((10, 16, 3), (5000, 16, 700), (10, 32, 3))
    ]
    assert len({graph.fingerprint for graph in graphs}) == 3
    few, many, wide = sketch(graphs, frequencies(graphs))
    np.testing.assert_array_equal(few, many)
    assert not np.array_equal(few, wide)
