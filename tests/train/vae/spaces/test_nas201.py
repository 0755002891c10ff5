"""NAS-Bench-201 as line graphs: a cell by hand, which graphs are cells, and the table."""

import pytest
import torch

pytest.importorskip("tqdm")

from nar_plugin.train.vae.spaces import nas201
from nar_plugin.train.vae.spaces.graphs import END, START, Graphs
from nar_plugin.train.vae.spaces.networks import Networks

# The operations of the edges 01, 02, 12, 03, 13, 23.
CELL = ("nor_conv_3x3", "none", "skip_connect", "avg_pool_3x3", "nor_conv_1x1", "none")
OTHER = ("none", *CELL[1:])


def test_a_cell_by_hand():
    graphs = nas201.graphs_of([CELL])
    assert graphs.types.tolist() == [[START, 5, 2, 3, 6, 4, 2, END]]
    # Vertices 1 to 6 are the edges in this order: 12 and 13 read 01, and 23 reads 02 and 12.
    inside = {(1, 3), (1, 5), (2, 6), (3, 6)}
    assert set(map(tuple, graphs.edges[0].nonzero().tolist())) == inside | {
        *((0, first) for first in (1, 2, 4)),
        *((last, 7) for last in (4, 5, 6)),
    }
    assert nas201.one_hot(graphs).nonzero()[:, 1].tolist() == [3, 5, 11, 19, 22, 25]


def test_which_graphs_are_cells():
    graphs = nas201.graphs_of([CELL, OTHER])
    assert nas201.valid(graphs).tolist() == [True, True]
    more = graphs.edges.clone()
    more[0, 1, 4] = True
    assert nas201.valid(Graphs(graphs.types, more, nas201.KINDS)).tolist() == [False, True]
    fewer = graphs.types.clone()
    fewer[1, 3] = END
    assert nas201.valid(Graphs(fewer, graphs.edges, nas201.KINDS)).tolist() == [True, False]


def test_the_oracle_has_the_accuracy_of_each_cell():
    pytest.importorskip("gpytorch")
    from nar_plugin.train.vae.search import oracle

    graphs = nas201.graphs_of([CELL, OTHER])
    ask = oracle.exact(Networks(graphs, torch.tensor([90.0, 10.0], dtype=torch.float64)))
    answers = ask(graphs[[1, 0]])
    assert answers.accuracy.tolist() == [10, 90]
    assert answers.known.all()


def test_the_table_has_every_cell_once(data_folder):
    data = nas201.read(data_folder)
    assert len(set(data.graphs.keys())) == 5**6
    best = data.graphs.types[data.accuracy.argmax()]  # published: 94.37, by this cell
    assert data.accuracy.max().item() == pytest.approx(94.37, abs=0.01)
    assert nas201.valid(data.graphs).all()
    assert (best[1:-1] > END).all()
