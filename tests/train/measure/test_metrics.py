"""The measures by hand, and beside trec's own through ir-measures."""

import math

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import sparse

from nar_plugin.train.measure.metrics import nearest, retrieval_quality


def line(*places):
    """Unit vectors on a quarter circle: the nearer the places, the larger the cosine."""
    angles = np.array(places) * math.pi / 200
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_one_query_by_hand():
    # From the query at 0 the candidates lie in order: B, A, B, A, and A has two others.
    labels = np.array([0, 1, 0, 1, 0])
    every = np.arange(5)
    quality = retrieval_quality(line(0, 10, 20, 30, 40), labels, np.array([0]), every, (2, 3, 4))
    assert quality.mrr == pytest.approx({2: 1 / 2, 3: 1 / 2, 4: 1 / 2})
    # Hits at ranks 2 and 4, divided by min(2, k) = 2.
    assert quality.map == pytest.approx({2: 1 / 4, 3: 1 / 4, 4: (1 / 2 + 2 / 4) / 2})
    ideal = 1 + 1 / math.log2(3)
    assert quality.ndcg[2] == pytest.approx(1 / math.log2(3) / ideal)
    assert quality.ndcg[4] == pytest.approx((1 / math.log2(3) + 1 / math.log2(5)) / ideal)
    assert (quality.queries, quality.left_out) == (1, 0)


def test_more_relevant_than_k_can_hold_still_reach_one():
    labels = np.zeros(6, dtype=np.int64)
    quality = retrieval_quality(line(*range(6)), labels, np.arange(6), np.arange(6), (3,))
    assert quality.mrr[3] == quality.map[3] == pytest.approx(1)
    assert quality.ndcg[3] == pytest.approx(1)


def test_queries_without_a_relevant_candidate_are_counted_apart():
    labels = np.array([0, 1, 1, 2])
    quality = retrieval_quality(line(0, 1, 2, 3), labels, np.arange(4), np.arange(4), (2,))
    assert (quality.queries, quality.left_out) == (2, 2)


def test_a_query_outside_the_candidates_takes_none_of_them_away():
    labels = np.array([0, 0, 1])
    quality = retrieval_quality(line(0, 1, 2), labels, np.array([0]), np.array([1, 2]), (2,))
    assert quality.map[2] == pytest.approx(1)


def test_ties_keep_the_order_of_the_candidates():
    vectors = np.ones((50, 1), dtype=np.float32)
    order = np.random.default_rng(0).permutation(50)
    top = nearest(vectors, np.array([7]), order, 10)
    assert top[0].tolist() == [row for row in order.tolist() if row != 7][:10]


def test_fewer_candidates_than_k_leave_empty_places():
    assert nearest(line(0, 1), np.array([0]), np.arange(2), 3).tolist() == [[1, -1, -1]]


def test_sparse_rows_give_what_dense_ones_give():
    dense = np.abs(np.random.default_rng(1).normal(size=(40, 8))).astype(np.float32)
    dense /= np.linalg.norm(dense, axis=1, keepdims=True)
    every = np.arange(40)
    expected = nearest(dense, every, every, 5)
    np.testing.assert_array_equal(nearest(sparse.csr_array(dense), every, every, 5), expected)


def test_trec_agrees_where_the_definitions_meet():
    ir_measures = pytest.importorskip("ir_measures")
    random = np.random.default_rng(2)
    vectors = random.normal(size=(300, 12)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    labels = np.arange(300) % 20  # each query has 14 others: never more than k
    queries, every = np.arange(0, 300, 3), np.arange(300)
    quality = retrieval_quality(vectors, labels, queries, every)
    cosines = vectors @ vectors.T
    others = {query: every[every != query] for query in queries.tolist()}
    run = {
        str(query): {str(row): float(cosines[query, row]) for row in rows}
        for query, rows in others.items()
    }
    relevant = {
        str(query): {str(row): 1 for row in rows if labels[row] == labels[query]}
        for query, rows in others.items()
    }
    for k in (20, 50, 100):
        measures = [ir_measures.AP @ k, ir_measures.nDCG @ k, ir_measures.RR @ k]
        trec = ir_measures.calc_aggregate(measures, relevant, run)
        ours = (quality.map[k], quality.ndcg[k], quality.mrr[k])
        np.testing.assert_allclose([trec[measure] for measure in measures], ours, rtol=1e-6)
