import pytest
from models import BottleneckNet, NanoGPT
from torch import nn

from nar_plugin.likeness import align
from nar_plugin.likeness.numbers import _settings
from nar_plugin.tracing.graph import Op


def told(design, one, other):
    """What differs in the layers, each as sort and text."""
    (stack,) = [pair for pair in align(design(one), design(other)).pairs if pair.a.stacked]
    assert {number for _, number in stack.changes} <= {stack.matched}
    return {(each.sort, str(each)) for each, _ in stack.changes}


GATE = "a squeeze-and-excitation gate after the third convolution"


@pytest.mark.parametrize(
    ("changed", "sort", "text"),
    [
        ({"norm": lambda width: nn.GroupNorm(4, width)}, "replaced", "batch_norm -> group_norm"),
        ({"act": nn.SiLU}, "replaced", "relu -> silu"),
        ({"kernel": 7}, "number", "kernel 7 instead of 3"),
        ({"groups": 4}, "number", "grouped (4) instead of full convolutions"),
        ({"groups": 16}, "number", "depthwise instead of full convolutions"),
        ({"inner": 32}, "number", "twice as wide after the first and second convolution"),
        ({"gate": True}, "inserted", GATE),
    ],
)
def test_what_a_designer_changes_is_said(design, changed, sort, text):
    assert told(design, BottleneckNet(), BottleneckNet(**changed)) == {(sort, text)}


def test_what_was_taken_out_is_said(design):
    assert told(design, BottleneckNet(gate=True), BottleneckNet()) == {
        ("removed", f"without {GATE}")
    }


def test_a_stride_of_1_by_1_is_no_other_than_1():
    sound = Op("conv", (("dilation", "2"), ("kernel", "3"), ("stride", "1")))
    picture = Op("conv", (("dilation", "1x1"), ("kernel", "3x3"), ("stride", "1x1")))
    assert _settings(sound, picture) == [
        "2d instead of 1d convolutions",
        "dilation 1 instead of 2",
    ]


def test_equal_blocks_differ_in_nothing(design):
    assert told(design, BottleneckNet(), BottleneckNet(layers=5)) == set()


def test_heads(design):
    one, other = NanoGPT(layers=2, heads=12), NanoGPT(layers=2, heads=6)
    assert told(design, one, other) == {
        ("number", "6 instead of 12 heads"),
        ("number", "heads of width 64 instead of 32"),
    }


def test_half_the_width_is_said_once(design):
    one, other = NanoGPT(layers=2, heads=12, width=384), NanoGPT(layers=2, heads=6, width=192)
    assert told(design, one, other) == {
        ("number", "6 instead of 12 heads"),
        ("number", "half as wide"),
    }


def test_where_the_norms_stand(design):
    one, other = NanoGPT(layers=3), NanoGPT(layers=3, pre_norm=False)
    assert told(design, one, other) == {
        (
            "order",
            "norm after each sum (post-norm) instead of "
            "norm at the start of each branch (pre-norm)",
        )
    }
