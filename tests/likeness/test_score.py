import numpy as np
import pytest

from nar_plugin.likeness import LEARNED, likeness


def test_a_share_of_each_and_no_cosine_counts_against_a_design():
    overlap = np.array([1, 0.5, 0.5, 0], np.float32)
    cosine = np.array([1, 0.5, -0.9, 1], np.float32)
    found = likeness(overlap, cosine)
    assert found == pytest.approx([1, 0.5, 0.5 * (1 - LEARNED), LEARNED])
    assert found.dtype == np.float32


def test_rounding_leaves_none_beyond_one():
    almost = np.array([1 + 1e-6], np.float32)
    assert likeness(almost, almost).tolist() == [1]
