"""Where a design stands that the map of an index does not hold."""

import numpy as np
import pytest
import torch
from torch import nn

from nar_plugin.errors import NarError
from nar_plugin.index.places import all_places, mean_of_nearest, placed, stored_places
from nar_plugin.index.ranking import Subject
from nar_plugin.index.store.label_counts import to_table
from nar_plugin.likeness import LabelTable
from nar_plugin.tracing import trace

IMAGE = torch.empty(1, 4, 8, 8)
CONVOLVES = nn.Sequential(*[nn.Conv2d(4, 4, 3), nn.ReLU()] * 2)
POOLS = nn.Sequential(nn.MaxPool2d(2), nn.Sigmoid(), nn.AvgPool2d(2), nn.Tanh())
MARGIN = 0.02 * np.log(2)  # a likeness lower by this weighs half as much


@pytest.fixture
def mapped(build, row):
    places = [(0.0, 0.0), (3.0, 0.0), (0.0, 9.0), (None, None)]
    rows = [row(f"timm:{i}", design=f"{i}", x=x, y=y) for i, (x, y) in enumerate(places)]
    return build(rows, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]])


def test_nearer_rows_pull_more():
    scores = np.array([[0.9, 0.9 - MARGIN, -1.0]], np.float32)
    places = np.array([[0, 0], [3, 6], [1000, 1000]], np.float32)
    np.testing.assert_allclose(mean_of_nearest(scores, places), [[1, 2]], atol=1e-4)


def test_only_the_nearest_five_count():
    scores = np.full((1, 7), 0.5, np.float32)
    places = np.array([[i, 10 * i] for i in range(7)], np.float32)
    np.testing.assert_allclose(mean_of_nearest(scores, places), [[2, 20]], atol=1e-5)


def test_a_row_without_a_place_is_placed_by_the_others(mapped):
    assert np.isnan(stored_places(mapped.contents)[3]).all()
    np.testing.assert_allclose(all_places(mapped)[:3], [[0, 0], [3, 0], [0, 9]])
    np.testing.assert_allclose(all_places(mapped)[3], [0, 0], atol=1e-5)


def test_a_design_between_two_rows_lies_between_them(mapped):
    halfway = np.array([1, 1, 0], np.float32) / np.sqrt(np.float32(2))
    subject = Subject(halfway, None, "new")
    np.testing.assert_allclose(placed(mapped, [subject]), [[1.5, 0]], atol=1e-4)


def test_a_design_lies_by_its_hits_and_not_by_its_vector_alone(build, row):
    conv, pool = (LabelTable.of([trace(net, IMAGE)]).compared() for net in (CONVOLVES, POOLS))
    rows = [row("timm:conv", x=0.0, y=0.0), row("timm:pool", x=100.0, y=0.0)]
    labels = to_table([row.fingerprint for row in rows], LabelTable.joined([conv, pool]))
    index = build(rows, [[1, 0], [0, 1]], labels=labels)
    nearer_by_vector = np.array([0.8, 0.6], np.float32)
    without = placed(index, [Subject(nearer_by_vector, None, "new")])
    by_hits = placed(index, [Subject(nearer_by_vector, pool, "new")])
    assert without[0, 0] < 10 and by_hits[0, 0] > 90


def test_coordinates_that_are_no_places_count_as_none(build, row):
    odd = [(float("nan"), 0.0), (0.0, float("inf")), (1e30, 0.0), (1.0, 2.0)]
    rows = [row(f"timm:{i}", x=x, y=y) for i, (x, y) in enumerate(odd)]
    index = build(rows, np.eye(4))
    assert np.isnan(stored_places(index.contents)[:, 0]).tolist() == [True, True, True, False]
    np.testing.assert_allclose(all_places(index), [[1, 2]] * 4)


def test_an_index_without_a_map_says_what_brings_one(index):
    with pytest.raises(NarError, match=r"has no map.*nar index update"):
        all_places(index)
