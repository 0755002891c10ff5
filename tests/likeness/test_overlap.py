"""What two graphs have in common, worked by hand."""

import math

import numpy as np
import pytest

from nar_plugin.likeness import LabelTable, Postings, overlaps
from nar_plugin.tracing.graph import ArchitectureGraph, Op


def chain(kinds):
    ops = tuple(Op(kind) for kind in kinds)
    edges = [[place, place + 1] for place in range(len(ops) - 1)]
    return ArchitectureGraph(ops, np.array(edges, np.int32).reshape(-1, 2), ("",) * len(ops))


def table_of(*texts):
    return LabelTable.of([chain(text) for text in texts]).compared()


def overlap(one, other):
    (found,) = overlaps(table_of(one, other), np.array([0]), np.array([1]))
    return float(found)


@pytest.fixture(scope="module")
def texts():
    random = np.random.default_rng(0)
    return ["".join(random.choice(list("abc"), random.integers(1, 9))) for _ in range(20)]


@pytest.fixture(scope="module")
def table(texts):
    return table_of(*texts)


def equal(one, other):
    columns = ("starts", "labels", "counts", "views")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in columns)


def test_one_operation_in_common_of_two():
    # Six views, a sixth of the mass each. In three of them labels are of operations alone, and `a`
    # is a half of both; in the others they tell of neighbours, which differ.
    assert overlap("ab", "ac") == pytest.approx(3 / 6 / 2)


def test_a_label_weighs_the_root_of_its_count():
    # a a a a b: 2/3 and 1/3 of the operations' labels, of which `ab` has 1/2 and 1/2. With
    # neighbours: first, two between (root of 2), the last `a`, and `b`, which `ab` has as its half.
    alone, around = 1 / 2 + 1 / 3, 1 / (3 + math.sqrt(2))
    assert overlap("ab", "aaaab") == pytest.approx(3 / 6 * alone + 3 / 6 * around)


def test_strangers_have_nothing_in_common():
    assert overlap("ab", "xyz") == 0


def test_a_graph_has_all_in_common_with_itself_and_both_ways_are_one(table):
    one, other = np.indices((20, 20)).reshape(2, -1)
    found = overlaps(table, one, other).reshape(20, 20)
    np.testing.assert_allclose(np.diag(found), 1, atol=1e-6)
    np.testing.assert_allclose(found, found.T, atol=1e-6)
    assert 0 <= found.min() and found.max() <= 1 + 1e-6


def test_all_at_once_are_what_pairs_are(table):
    postings, every = Postings(table), np.arange(20)
    for number in range(20):
        expected = overlaps(table, np.full(20, number), every)
        np.testing.assert_allclose(postings.overlaps(table, number), expected, atol=1e-6)


def test_what_asks_may_have_labels_that_no_graph_has(table):
    found = Postings(table).overlaps(table_of("xay"), 0)
    assert found.shape == (20,) and 0 < found.max() < 1
    assert Postings(table).overlaps(table_of("x"), 0).tolist() == [0] * 20
    assert Postings(table_of()).overlaps(table, 0).shape == (0,)


def test_tables_are_joined_and_taken_from(table, texts):
    parts = [table_of(*texts[:7]), table_of(), table_of(*texts[7:])]
    assert equal(LabelTable.joined(parts), table)
    numbers = np.array([5, 0, 5, 19])
    assert equal(table.taken(numbers), table_of(*(texts[number] for number in numbers)))
    assert len(LabelTable.joined([])) == len(table.taken(numbers[:0])) == 0


def test_only_the_views_that_are_compared_are_kept():
    whole = LabelTable.of([chain("abcd"), chain("a")])
    assert set(whole.views.tolist()) > set(range(6))
    assert set(whole.compared().views.tolist()) == set(range(6))
    assert equal(whole.compared().compared(), whole.compared())


def test_labels_that_differ_in_their_lowest_bits_keep_apart():
    """Eight places take four bits: the sort sees three of these labels as one, and sorts anew."""
    one = LabelTable(
        np.array([0, 3, 5, 8]),
        np.array([16, 17, 19, 17, 18, 16, 18, 19], np.uint64),
        np.ones(8, np.int64),
        np.zeros(8, np.uint8),
    )
    assert Postings(one).overlaps(one, 0).tolist() == pytest.approx([1, 1 / 3, 2 / 3])
