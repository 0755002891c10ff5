import pytest
from models import BottleneckNet, NanoGPT, UNet
from torch import nn

from nar_plugin.likeness import align, verdict_of
from nar_plugin.likeness.idioms import chain


def one_replaced():
    net = BottleneckNet(layers=5)
    net.layers[2].conv2 = nn.Sequential(net.layers[2].conv2, nn.GELU(), nn.Conv2d(16, 16, 1))
    return net


def with_head():
    net = BottleneckNet()
    net.head = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 10))
    return net


def with_classes(count):
    net = BottleneckNet()
    net.head = nn.Linear(32, count)
    return net


GATE = "a squeeze-and-excitation gate after the third convolution"


@pytest.mark.parametrize(
    ("one", "other", "kind", "text"),
    [
        (BottleneckNet, BottleneckNet, "same design", "same architecture"),
        (BottleneckNet, lambda: with_classes(7), "same design", "classifier or vocabulary"),
        (BottleneckNet, with_head, "same backbone", "another head"),
        (
            BottleneckNet,
            lambda: BottleneckNet(layers=6),
            "same blocks, other numbers",
            "6 instead of 3 blocks in layers",
        ),
        (
            BottleneckNet,
            lambda: BottleneckNet(kernel=5),
            "same blocks, other numbers",
            "kernel 5 instead of 3",
        ),
        (
            BottleneckNet,
            lambda: BottleneckNet(act=nn.SiLU),
            "one kind of part replaced",
            "relu -> silu",
        ),
        (BottleneckNet, lambda: BottleneckNet(gate=True), "with an insertion", f"with {GATE}"),
        (lambda: BottleneckNet(gate=True), BottleneckNet, "with an omission", f"without {GATE}"),
        (
            lambda: BottleneckNet(layers=5),
            one_replaced,
            "all but some blocks",
            "4 of 5 blocks are the same",
        ),
        (
            lambda: NanoGPT(layers=3),
            lambda: NanoGPT(layers=3, pre_norm=False),
            "same parts, another order",
            "post-norm",
        ),
        (lambda: NanoGPT(layers=3), UNet, "nothing near", "no block of one corresponds"),
    ],
)
def test_the_first_rule_that_holds(design, one, other, kind, text):
    verdict = verdict_of(align(design(one()), design(other())))
    assert verdict.kind == kind
    assert text in verdict.text


def test_designs_alike_without_a_common_block_are_not_called_far(design):
    parts = align(design(NanoGPT(layers=3)), design(UNet()))
    assert verdict_of(parts, 0.2).text.startswith("Nothing near: no block")
    alike = verdict_of(parts, 0.7)
    assert alike.text.startswith("Alike in single operations alone: no block")
    assert alike.kind == verdict_of(parts, 0.2).kind


def test_a_long_chain_of_operations_is_cut():
    assert chain(["add"] * 6) == "add, add, add, add, add, add"
    assert chain(list("abcdefgh")) == "a, b, c, d and 4 more"
