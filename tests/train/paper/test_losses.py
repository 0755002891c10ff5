"""The losses of Eq. 4 and 5, by hand."""

import math

import pytest
import torch
from torch.nn import functional

from nar_plugin.train.paper.losses import family_loss, motif_loss


def test_equation_4_by_hand():
    # The first motif meets its context (cosine 1), the second stands across its own.
    motifs = torch.tensor([[2.0, 0], [3, 0]])
    contexts = torch.tensor([[1.0, 0], [0, 5]])
    first = -math.log(math.e / (math.e + 1))
    second = -math.log(1 / (math.e + 1))
    assert float(motif_loss(motifs, contexts)) == pytest.approx((first + second) / 2)


def test_a_temperature_divides_the_cosines_of_equation_4():
    motifs = torch.tensor([[1.0, 0], [0, 1]])
    found = float(motif_loss(motifs, motifs, temperature=0.5))
    assert found == pytest.approx(-math.log(math.e**2 / (math.e**2 + 1)))


def test_equation_5_by_hand():
    # Vectors of any length: a, b alike (cosine 1), c at a right angle; a and b are one family.
    vectors = torch.tensor([[1.0, 0], [7, 0], [0, 1]])
    loss = family_loss(vectors, torch.tensor([0, 0, 1]))
    # For a and b: -log(e / (e + 1)); c has no partner and does not count.
    assert float(loss) == pytest.approx(-math.log(math.e / (math.e + 1)))


def test_equation_5_equals_cross_entropy_when_each_has_one_partner():
    torch.manual_seed(0)
    vectors = torch.randn(8, 16)
    rows = functional.normalize(vectors, dim=1)
    logits = (rows @ rows.T / 0.1).fill_diagonal_(-torch.inf)
    expected = functional.cross_entropy(logits, torch.arange(8).roll(4))
    found = family_loss(vectors, torch.arange(4).repeat(2), temperature=0.1)
    torch.testing.assert_close(found, expected)


def test_a_batch_without_pairs_has_no_loss():
    assert float(family_loss(torch.eye(3), torch.arange(3))) == 0


def test_a_batch_without_a_pair_of_one_family_has_a_loss_that_can_be_minimised():
    vectors = torch.randn(3, 4, requires_grad=True)
    loss = family_loss(vectors, torch.tensor([0, 1, 2]))
    loss.backward()
    assert loss.item() == 0
    assert not vectors.grad.any()
