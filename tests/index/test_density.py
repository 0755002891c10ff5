"""How crowded a row's neighbourhood is: values worked by hand."""

import numpy as np
import pytest

from nar_plugin.index import density
from nar_plugin.index.density import densities

CROWDED = np.array([[1, 0], [1, 0], [1, 0], [0.28, 0.96]], dtype=np.float32)


def test_all_others_where_they_are_few():
    found = densities(CROWDED, CROWDED, np.arange(4))
    assert found.dtype == np.float32
    # The first has cosines 1, 1 and .28 to the others, the last .28 three times.
    assert found == pytest.approx([0.76, 0.76, 0.76, 0.28], abs=1e-6)


def test_the_thirty_nearest_where_there_are_more():
    rows = np.array([[1, 0], *[[0.6, 0.8]] * 30, [-1, 0]], dtype=np.float32)
    found = densities(rows, rows, np.arange(32))
    assert found[0] == pytest.approx(0.6)  # without the opposite one
    assert found[1:31] == pytest.approx([0.9867] * 30)  # 29 of 1, one of .6
    assert len(set(found[1:31].tolist())) == 1
    assert found[31] == pytest.approx(-0.6)


def test_rows_that_are_not_among_them():
    rows = np.array([[0, 1], [0.28, 0.96]], dtype=np.float32)
    assert densities(rows, CROWDED) == pytest.approx([0.24, 0.46])
    assert densities(rows, CROWDED, np.array([-1, 3])) == pytest.approx([0.24, 0.28])


def test_halves_are_as_good():
    found = densities(CROWDED.astype(np.float16), CROWDED.astype(np.float16), np.arange(4))
    assert found == pytest.approx([0.76, 0.76, 0.76, 0.28], abs=1e-3)


def test_a_lone_row_and_none():
    assert densities(CROWDED[:1], CROWDED[:1], np.arange(1)).tolist() == [0]
    assert densities(CROWDED[:1], CROWDED[:0]).tolist() == [0]
    assert densities(CROWDED[:0], CROWDED).tolist() == []


def test_a_large_index_is_sampled(monkeypatch):
    """Of every second row, the fifteen nearest."""
    rows = np.array([[1, 0], [0, 1]] * 20, dtype=np.float32)
    monkeypatch.setattr(density, "MOST", 20)
    found = densities(rows, rows, np.arange(40))
    assert found.tolist() == [1, 0] * 20
