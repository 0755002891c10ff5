"""The search space of appendix A.4: its graph by hand, its classes, its speed."""

import time

import numpy as np
import pytest

pytest.importorskip("tqdm")

from nar_plugin.mining import mine
from nar_plugin.train.corpus.splits import families
from nar_plugin.train.paper.nas import (
    CLASSES,
    OPERATIONS,
    architecture,
    darts_architectures,
    darts_corpus,
    distance,
)

CELL = (((0, 0), (1, 1)), ((0, 2), (2, 3)), ((1, 4), (3, 5)), ((2, 6), (4, 0)))


def test_a_cell_by_hand():
    graph = architecture(CELL)
    assert len(graph) == 1 + 8 * 13 + 2
    assert [op.kind for op in graph.ops[1:14]] == [
        *("skip_connect", "max_pool", "add"),
        *("avg_pool", "sep_conv_3x3", "add"),
        *("sep_conv_5x5", "dil_conv_3x3", "add"),
        *("dil_conv_5x5", "skip_connect", "add"),
        "cat",
    ]
    assert [op.kind for op in (graph.ops[0], *graph.ops[-2:])] == ["conv", "mean", "linear"]
    edges = set(map(tuple, graph.edges.tolist()))
    assert len(edges) == len(graph.edges) == 8 * 20 + 2
    # The first cell takes both its inputs from the stem, the second the older one, and the third
    # starts at node 27: the cells before end at 13 and 26.
    assert {(0, 1), (0, 2), (0, 14), (13, 15), (13, 27), (26, 28)} <= edges
    # Of the third cell: ADD 0 is node 29, and feeds the second operation of ADD 1, node 31.
    assert {(27, 29), (28, 29), (29, 31), (13, 30), (30, 32), (31, 32)} <= edges
    assert {(29, 39), (32, 39), (35, 39), (38, 39), (104, 105), (105, 106)} <= edges


def test_the_distance_by_hand():
    assert distance(CELL, CELL) == 0
    other = (((0, 3), (1, 1)), ((0, 2), (1, 3)), ((1, 4), (3, 5)), ((2, 6), (4, 0)))
    assert distance(CELL, other) == 2  # an operation of ADD 0 and a start of ADD 1
    # ADD 1 with (0, 3), (1, 2) for (0, 2), (2, 3): three as they stand, and two when crossed.
    assert distance(CELL, (CELL[0], ((0, 3), (1, 2)), *CELL[2:])) == 2


def test_the_distance_does_not_ask_in_which_order_nodes_are_added():
    # ADD 0 and ADD 1 read the cells before alone, ADD 2 both of them, ADD 3 the first of them.
    cell = (((0, 0), (1, 1)), ((0, 2), (1, 3)), ((2, 4), (3, 5)), ((1, 6), (2, 0)))
    swapped = (cell[1], cell[0], ((2, 5), (3, 4)), ((1, 6), (3, 0)))
    assert distance(cell, swapped) == 0
    assert distance(cell, (*swapped[:3], ((1, 6), (2, 0)))) == 1  # ADD 3 reads the other one


def test_cells_without_distance_are_isomorphic():
    """As networkx finds, an operation and an ADD node being nodes of one graph."""
    networkx = pytest.importorskip("networkx")

    def drawn(cell):
        graph = networkx.DiGraph()
        for name in range(6):
            graph.add_node(name, kind="add" if name > 1 else f"before {name}")
        for number, node in enumerate(cell):
            for side, (start, operation) in enumerate(node):
                graph.add_node((number, side), kind=operation)
                graph.add_edges_from([(start, (number, side)), ((number, side), 2 + number)])
        return graph

    def isomorphic(one, other):
        return networkx.is_isomorphic(drawn(one), drawn(other), lambda a, b: a == b)

    random = np.random.default_rng(0)
    for cell in map(cell_of, darts_architectures(30, seed=5)[0]):
        order = random.permutation(4).tolist()
        place = [0, 1, *(2 + number for number in order)]
        moved = [()] * 4
        for node, number in zip(cell, order, strict=True):
            moved[number] = tuple((place[start], operation) for start, operation in node[::-1])
        assert distance(cell, tuple(moved)) == 0
        assert isomorphic(cell, moved)
        start, operation = moved[2][0]
        moved[2] = ((start, (operation + 1) % len(OPERATIONS)), moved[2][1])
        assert distance(cell, tuple(moved)) == 1
        assert not isomorphic(cell, moved)


def cell_of(graph):
    """The cell that a graph is made of, read from its last cell."""
    first = 1 + 7 * 13
    sources = {target: source for source, target in graph.edges.tolist() if target < first + 12}
    names = {first - 14: 0, first - 1: 1, **{first + 3 * j + 2: 2 + j for j in range(4)}}
    return tuple(
        tuple(
            (
                names[sources[first + 3 * j + side]],
                OPERATIONS.index(graph.ops[first + 3 * j + side]),
            )
            for side in range(2)
        )
        for j in range(4)
    )


def test_members_are_near_one_another_and_far_from_other_classes():
    graphs, labels = darts_architectures(200, seed=3)
    cells = [cell_of(graph) for graph in graphs]
    assert len(set(cells)) == 200
    assert np.bincount(labels).tolist() == [20] * CLASSES
    for one, label in zip(cells[:40], labels, strict=False):
        for other, second in zip(cells, labels, strict=True):
            if label == second:
                assert distance(one, other) <= 8  # twice four edits
            else:
                assert distance(one, other) >= 1  # nine less twice four


def test_a_seed_repeats():
    one, other = darts_architectures(50, 0)[0], darts_architectures(50, 0)[0]
    for first, second in zip(one, other, strict=True):
        assert first.ops == second.ops
        np.testing.assert_array_equal(first.edges, second.edges)
    assert [graph.ops for graph in darts_architectures(50, 1)[0]] != [graph.ops for graph in one]


@pytest.mark.perf
def test_ten_thousand_are_made_in_seconds():
    started = time.perf_counter()
    graphs, _ = darts_architectures(10_000, 0)
    assert len(graphs) == 10_000
    assert time.perf_counter() - started < 10


def test_they_are_mined_and_form_a_corpus():
    items = darts_corpus(20, 0)
    assert all(item.is_searched for item in items)
    assert set(families(items)) == {f"centre-{label}" for label in range(CLASSES)}
    for item in items:
        assert item.macro().spans.tolist() == mine(item.graph).spans.tolist()
        assert len(item.motifs) < len(item.macro())  # the cells repeat


def test_one_that_is_not_mined_has_the_same_operations_in_one_piece():
    for item, other in zip(darts_corpus(10, 0), darts_corpus(10, 0, mined=False), strict=True):
        assert other.graph.ops == item.graph.ops
        np.testing.assert_array_equal(other.graph.edges, item.graph.edges)
        assert other.fingerprint == item.fingerprint
        assert other.starts.tolist() == [0]
