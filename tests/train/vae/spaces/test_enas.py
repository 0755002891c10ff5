"""The ENAS space: a network by hand, which graphs belong to it, and D-VAE's split."""

import pytest
import torch

pytest.importorskip("tqdm")

from nar_plugin.errors import NarError
from nar_plugin.train.vae.spaces import enas, networks
from nar_plugin.train.vae.spaces.graphs import END, START, Graphs

NETWORK = [[1], [4, 0], [5, 1, 0], [0, 0, 1, 1], [2, 0, 0, 0, 0], [3, 1, 0, 0, 0, 1]]


def test_a_network_by_hand():
    graphs = enas.graphs_of([NETWORK])
    assert graphs.types.tolist() == [[START, 3, 6, 7, 2, 4, 5, END]]
    chain = {(vertex, vertex + 1) for vertex in range(7)}
    # Layer 2 (vertex 3) reads the input, layer 3 (vertex 4) reads vertices 1 and 2, which is not
    # the chain's 3, and layer 5 (vertex 6) reads the input and vertex 4.
    more = {(0, 3), (1, 4), (2, 4), (0, 6), (4, 6)}
    assert set(map(tuple, graphs.edges[0].nonzero().tolist())) == chain | more
    numbers = enas.one_hot(graphs)
    assert numbers.shape == (1, 51)
    assert numbers.sum() == 6 + len(more)


def graph(types, edges):
    full = torch.zeros(1, 8, 8, dtype=torch.bool)
    for start, end in edges:
        full[0, start, end] = True
    return Graphs(torch.tensor([types + [START] * (8 - len(types))]), full, enas.KINDS)


def test_which_graphs_are_networks():
    chain = [(0, 1), (1, 2), (2, 3)]
    assert enas.valid(enas.graphs_of([NETWORK])).all()
    assert enas.valid(graph([0, 2, 3, 1], chain)).all()  # a shorter one
    assert enas.valid(graph([0, 2, 3, 1], [*chain, (0, 2)])).all()
    assert not enas.valid(graph([0, 2, 3, 1], [(0, 1), (0, 2), (1, 3), (2, 3)])).any()  # no chain
    assert not enas.valid(graph([0, 2, 3, 1], [*chain, (0, 3)])).any()  # the output reads two
    assert not enas.valid(graph([0, 2, 0, 1], chain)).any()  # a second input


def test_which_networks_have_six_layers():
    assert enas.whole(enas.graphs_of([NETWORK])).tolist() == [True]
    shorter = graph([0, 2, 3, 1], [(0, 1), (1, 2), (2, 3)])
    assert enas.valid(shorter).tolist() == [True] and enas.whole(shorter).tolist() == [False]


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(NarError, match=r"enas_final_structures6\.txt is missing.*--data"):
        enas.read(tmp_path)


def test_the_data_and_its_split(enas_data):
    train, test = networks.split(enas_data)
    assert (len(train.graphs), len(test.graphs)) == (17_118, 1_902)
    assert enas.valid(train.graphs).all()
    assert 0.5 < train.accuracy.min() < train.accuracy.max() < 0.8
