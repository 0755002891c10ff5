import math

import numpy as np
import pytest

from nar_plugin.likeness import DIFFERENT, likeness


def test_by_hand():
    overlap = np.array([0.5, 0.75, 0, 0.36, 0, 0.75], np.float32)
    cosine = np.array([0, 0, 0, -0.9, 1, 0.5], np.float32)
    found = likeness(overlap, cosine)
    # Apart by sqrt(.5), sqrt(.25), 1, sqrt(.64), e^-2 and sqrt(.25) e^-.5; near by the rest, at 1.7
    # times the odds.
    near = [1 - 0.5**0.5, 0.5, 0, 0.2, 1 - math.exp(-2), 1 - 0.5 * math.exp(-0.5)]
    assert found == pytest.approx([1.7 * x / (1 + 0.7 * x) for x in near], abs=1e-6)
    assert found.dtype == np.float32


def test_the_scale_changes_no_order():
    overlap = np.linspace(0, 0.98, 50, dtype=np.float32)
    found = likeness(overlap, np.full(50, 0.5, np.float32))
    assert (np.diff(found) > 0).all()


def test_the_encoder_counts_as_it_is_certain():
    overlap = np.full(3, 0.3, np.float32)
    nothing, little, much = likeness(overlap, np.array([0, 0.15, 0.6], np.float32))
    assert little - nothing < 0.05 < 0.3 < much - nothing


def test_two_designs_that_differ_are_never_one():
    almost = np.array([1 + 1e-6], np.float32)
    assert likeness(almost, almost) == pytest.approx(DIFFERENT)
