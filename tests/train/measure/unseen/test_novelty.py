import numpy as np
import pytest

from nar_plugin.train.measure.unseen.novelty import STEPS, NoveltyFigures


def test_auc_counts_pairs_in_order_and_ties_as_a_half():
    # Pairs (unseen, size): .5>.1, .5>.5 tie, .9>.1, .9>.5: 3.5 of 4.
    found = NoveltyFigures(np.array([0.5, 0.9]), np.array([0.1, 0.5]))
    assert found.auc == pytest.approx(3.5 / 4)


def test_quantiles_run_from_the_least_to_the_greatest():
    found = NoveltyFigures(np.array([0.2, 0.0, 1.0]), np.array([0.3]))
    unseen = found.quantiles["unseen_families"]
    assert (len(unseen), unseen[0], unseen[STEPS // 2], unseen[-1]) == (STEPS, 0.0, 0.2, 1.0)
    assert found.quantiles["new_sizes"] == [0.3] * STEPS
