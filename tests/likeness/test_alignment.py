from itertools import pairwise

import numpy as np
import pytest
import torch
from models import ConvNet, NanoGPT, UNet
from torch import nn

from nar_plugin.likeness import LabelTable, align, overlaps
from nar_plugin.likeness.alignment import Lone

PAIRS = [
    (lambda: NanoGPT(layers=2), lambda: NanoGPT(layers=5, width=192)),
    (lambda: NanoGPT(layers=3), lambda: NanoGPT(layers=3, pre_norm=False)),
    (lambda: ConvNet(), lambda: UNet()),
    (lambda: NanoGPT(layers=3), lambda: UNet()),
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_what_is_moved_sums_to_the_overlap(design, one, other):
    a, b = design(one()), design(other())
    counted = overlaps(LabelTable.of([a.graph, b.graph]).compared(), np.array([0]), np.array([1]))[
        0
    ]
    assert align(a, b).overlap == pytest.approx(float(counted), abs=1e-6)


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_swapped_designs_give_the_mirrored_alignment(design, one, other):
    a, b = design(one()), design(other())
    there, back = align(a, b), align(b, a)
    assert np.allclose(there.moved, back.moved.T)
    told = [(pair.a.blocks, pair.b.blocks, pair.likeness, pair.matched) for pair in there.pairs]
    turned = [(pair.b.blocks, pair.a.blocks, pair.likeness, pair.matched) for pair in back.pairs]
    assert [names(row) for row in told] == [names(row) for row in turned]
    assert len(there.lone) == len(back.lone)


def names(row):
    one, other, likeness, matched = row
    paths = [block.path for block in one], [block.path for block in other]
    return *paths, round(likeness, 6), matched


def test_no_part_gives_more_than_it_has(design):
    alignment = align(design(NanoGPT(layers=2)), design(NanoGPT(layers=5, width=192)))
    for side, axis in (("a", 1), ("b", 0)):
        shares = [getattr(pair, side).share for pair in alignment.pairs]
        assert not alignment.lone
        assert (alignment.moved.sum(axis=axis) <= np.array(shares) + 1e-9).all()
        assert sum(shares) == pytest.approx(1)


def test_a_deeper_design_has_more_of_the_same(design):
    alignment = align(design(NanoGPT(layers=2)), design(NanoGPT(layers=5)))
    (stack,) = [pair for pair in alignment.pairs if pair.a.stacked]
    assert (len(stack.a), len(stack.b), stack.matched) == (2, 5, 2)
    assert stack.changes == ()
    assert [block.path for block in stack.b.blocks] == [f"h.{n}" for n in range(5)]


def test_the_same_design_corresponds_wholly(design):
    alignment = align(design(NanoGPT(layers=2)), design(NanoGPT(layers=2)))
    assert alignment.overlap == pytest.approx(1)
    assert not alignment.lone
    assert all(pair.likeness == pytest.approx(1) for pair in alignment.pairs)


class Tail(nn.Module):
    """A body, then operations that repeat nothing, more than are cut as one rest."""

    KINDS = "sin exp tanh cos relu erf sigmoid silu sqrt log abs atan sinh asinh cosh expm1".split()

    def forward(self, x):
        x = self.body(x)
        for place, kind in enumerate(self.KINDS):
            function = getattr(torch, kind, None) or getattr(nn.functional, kind)
            x = torch.cat([function(x)] * 2, -1).cumsum(-1) if place % 3 else function(x)
        return x

    def __init__(self):
        super().__init__()
        self.body = ConvNet()


def test_what_is_no_layer_and_has_no_partner_is_one_row(design):
    rows = align(design(Tail()), design(NanoGPT(layers=3))).rows
    lone = [row.part for row in rows if isinstance(row, Lone) and not row.second]
    assert all(one.stacked or other.stacked for one, other in pairwise(lone))
    assert any(len(part) > 1 and not part.stacked for part in lone)
