"""Where a design stands that the map of an index does not hold."""

import numpy as np
import pytest

from nar_plugin.errors import NarError
from nar_plugin.index.places import all_places, mean_of_nearest, placed, stored_places

MARGIN = 0.05 * np.log(2)  # a cosine lower by this weighs half as much


@pytest.fixture
def mapped(build, row):
    places = [(0.0, 0.0), (3.0, 0.0), (0.0, 9.0), (None, None)]
    rows = [row(f"timm:{i}", x=x, y=y) for i, (x, y) in enumerate(places)]
    return build(rows, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]])


def test_nearer_rows_pull_more():
    cosines = np.array([[0.9, 0.9 - MARGIN, -1.0]], np.float32)
    places = np.array([[0, 0], [3, 6], [1000, 1000]], np.float32)
    np.testing.assert_allclose(mean_of_nearest(cosines, places), [[1, 2]], atol=1e-4)


def test_only_the_nearest_five_count():
    cosines = np.full((1, 7), 0.5, np.float32)
    places = np.array([[i, 10 * i] for i in range(7)], np.float32)
    np.testing.assert_allclose(mean_of_nearest(cosines, places), [[2, 20]], atol=1e-5)


def test_a_row_without_a_place_is_placed_by_the_others(mapped):
    assert np.isnan(stored_places(mapped.contents)[3]).all()
    np.testing.assert_allclose(all_places(mapped)[:3], [[0, 0], [3, 0], [0, 9]])
    np.testing.assert_allclose(all_places(mapped)[3], [0, 0], atol=1e-5)


def test_a_vector_between_two_rows_lies_between_them(mapped):
    np.testing.assert_allclose(
        placed(mapped, np.array([[1, 1, 0]], np.float32)), [[1.5, 0]], atol=1e-4
    )


def test_coordinates_that_are_no_places_count_as_none(build, row):
    odd = [(float("nan"), 0.0), (0.0, float("inf")), (1e30, 0.0), (1.0, 2.0)]
    rows = [row(f"timm:{i}", x=x, y=y) for i, (x, y) in enumerate(odd)]
    index = build(rows, np.eye(4))
    assert np.isnan(stored_places(index.contents)[:, 0]).tolist() == [True, True, True, False]
    np.testing.assert_allclose(all_places(index), [[1, 2]] * 4)


def test_an_index_without_a_map_says_what_brings_one(index):
    with pytest.raises(NarError, match=r"has no map.*nar index update"):
        all_places(index)
