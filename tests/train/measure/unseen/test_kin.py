"""The figures of `kin`, worked by hand."""

from collections import Counter
from math import log2

import numpy as np
import pytest

from nar_plugin.train.measure.unseen.kin import Kin, kin_quality, measured
from nar_plugin.train.measure.unseen.scoring import ByCosine


def test_figures_of_five_hits():
    first, precision, ndcg, foreign, first_foreign = measured(
        [3, 0, 2, 3, 1], Counter({3: 2, 2: 1, 1: 2, 0: 9})
    )
    gained = 7 + 3 / log2(4) + 7 / log2(5) + 1 / log2(6)
    ideal = 7 + 7 / log2(3) + 3 / log2(4) + 1 / log2(5) + 1 / log2(6)
    assert (first, precision, first_foreign) == (1, 1, 0)  # both of the two that there are
    assert ndcg == pytest.approx(gained / ideal)
    assert foreign == pytest.approx(1 / 5)


def test_hits_that_must_be_foreign_do_not_count():
    # Three families are no strangers: two of the five have to be.
    assert measured([0, 3, 0, 3, 1], Counter({3: 2, 1: 1, 0: 9}))[3] == 0
    assert measured([0, 3, 0, 0, 1], Counter({3: 2, 1: 1, 0: 9}))[3] == pytest.approx(1 / 3)


def test_one_hit_a_family_and_none_of_its_own():
    # Graphs of families 0, 0, 1, 1, 2: the query 0 is nearest to its own, then to both of 1.
    angles = np.array([0.0, 0.05, 0.1, 0.2, 0.9])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    kin = Kin(
        labels=np.array([0, 0, 1, 1, 2]),
        queries=np.array([0]),
        grades=np.array([[3, 0, 3]], dtype=np.int8),
        siblings=np.array([[True, False, True]]),
        unseen=np.array([False]),
        train=np.arange(5),
    )
    found = kin_quality(ByCosine(vectors), kin)
    assert found.unseen.queries == 0
    assert found.seen.first == found.seen.same_parent == 0  # family 1 comes first, once
    assert found.seen.precision == 1  # and family 2 behind it
    assert found.seen.ndcg == pytest.approx(1 / log2(3))
