"""Directions that vary inside classes shrink, on data worked by hand."""

import torch

from nar_plugin.train.whitening import inside_families, principal, scattered, whitening_factor


def test_what_varies_inside_classes_shrinks():
    # Classes differ along the first axis, members along the second, ten times as much.
    random = torch.Generator().manual_seed(0)
    labels = torch.arange(40).repeat_interleave(5)
    rows = torch.randn(200, 6, generator=random) * 0.1
    rows[:, 0] += labels - 19.5
    rows[:, 1] += 100 * torch.randn(200, generator=random)
    factor = whitening_factor(inside_families(rows, labels), 1e-6)
    found = principal(rows, factor, 2)
    first = found[:, 0] / found[:, 0].norm()
    assert abs(float(first[0])) > 0.95  # not the axis of largest variance


def test_differences_inside_families_by_hand():
    rows = torch.tensor([[1.0, 0], [3, 0], [7, 7]])
    inside = inside_families(rows, torch.tensor([0, 0, 1]))
    torch.testing.assert_close(
        inside, torch.tensor([[-1.0, 0], [1, 0]])
    )  # a single one says nothing


def test_without_differences_every_direction_counts_alike():
    torch.testing.assert_close(whitening_factor(torch.zeros(0, 3), 0.1), torch.eye(3))


def test_a_factor_by_hand():
    # Second moments 8 and 4, over their mean 4/3 and 2/3; a quarter of the unit matrix beside them.
    differences = torch.tensor([[2.0, 0], [2, 0], [0, 2]])
    wanted = torch.tensor([[1.25, 0], [0, 0.75]]).sqrt()
    torch.testing.assert_close(whitening_factor(differences, 0.25), wanted)


def test_scattered_directions_keep_every_cosine():
    rows = torch.tensor([[2.0, 0], [0, 1], [2, 1]])  # (1, 0), (0, 1), (1, 1) where all vary alike
    found = rows @ scattered(torch.tensor([[2.0, 0], [0, 1]]), 2)
    torch.testing.assert_close(found @ found.T, torch.tensor([[1.0, 0, 1], [0, 1, 1], [1, 1, 2]]))
