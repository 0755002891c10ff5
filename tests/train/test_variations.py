"""Variations of a graph: what is replaced, what goes, and that nothing else changes."""

from collections import Counter

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from nar_plugin.encoder.words import ACTIVATIONS, NORMS
from nar_plugin.tracing import trace
from nar_plugin.train.variations import inner_widths, rewidened, varied, without_norms


class Block(nn.Module):
    """Two convolutions with norms and a shortcut."""

    def __init__(self, norm=nn.BatchNorm2d, activation=nn.ReLU):
        super().__init__()
        self.first = nn.Conv2d(32, 32, 3, bias=False)
        self.second = nn.Conv2d(32, 32, 3, padding=1)
        self.norms = nn.ModuleList([norm(32), norm(32)])
        self.activation = activation()

    def forward(self, x):
        x = self.activation(self.norms[0](self.first(x)))
        return x + self.activation(self.norms[1](self.second(x)))


def graph_of(model):
    return trace(model, torch.zeros(1, 32, 9, 9))


def skeleton(graph):
    """Kinds with every activation and norm under one word, and the edges."""
    words = {**dict.fromkeys(ACTIVATIONS, "activation"), **dict.fromkeys(NORMS, "norm")}
    return [words.get(op.kind, op.kind) for op in graph.ops], graph.edges.tolist()


def test_only_activations_and_norms_change_and_each_change_is_drawn():
    graph = graph_of(Block())
    bare = without_norms(graph).fingerprint
    seen = Counter()
    for seed in range(60):
        other = varied(graph, np.random.default_rng(seed))
        if other.fingerprint == bare:
            seen["without"] += 1
            continue
        assert skeleton(other) == skeleton(graph)
        kinds = {op.kind for op in other.ops}
        seen["relu" in kinds, "batch_norm" in kinds] += 1
        assert all(op.get("width", 32) == 32 for op in other.ops if op.kind in NORMS)
    assert set(seen) == {"without", (False, True), (True, False), (False, False)}


@pytest.mark.parametrize(
    ("norm", "activation"),
    [
        (nn.BatchNorm2d, nn.GELU),
        (nn.InstanceNorm2d, nn.ReLU),
        (lambda width: nn.GroupNorm(32, width), nn.SiLU),
    ],
)
def test_a_variation_is_what_the_model_with_other_layers_gives(norm, activation):
    graph = graph_of(Block())
    drawn = [varied(graph, np.random.default_rng(seed)) for seed in range(200)]
    wanted = graph_of(Block(norm, activation))
    assert wanted.fingerprint in {other.fingerprint for other in drawn}


def test_without_norms_is_what_fusing_them_gives():
    block = Block().eval()
    fused = Block().eval()
    fused.first = fuse_conv_bn_eval(block.first, block.norms[0])
    fused.second = fuse_conv_bn_eval(block.second, block.norms[1])
    fused.norms = nn.ModuleList([nn.Identity(), nn.Identity()])
    assert without_norms(graph_of(block)).fingerprint == graph_of(fused).fingerprint


def test_a_graph_with_neither_stays_as_it_is():
    graph = trace(nn.Sequential(nn.Linear(4, 4), nn.Sigmoid(), nn.Linear(4, 2)))
    assert varied(graph, np.random.default_rng(0)) is graph
    assert without_norms(graph).fingerprint == graph.fingerprint


class Perceptrons(nn.Module):
    """Shortcuts around perceptrons, the second one gated."""

    def __init__(self, width=16, inner=64, gated=24):
        super().__init__()
        self.wide, self.back = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm = nn.LayerNorm(inner)
        self.gate, self.value = nn.Linear(width, gated), nn.Linear(width, gated)
        self.out = nn.Linear(gated, width)
        self.first = nn.Linear(8, width)

    def forward(self, x):
        x = self.first(x)
        x = x + self.back(self.norm(self.wide(x).relu()))
        return x + self.out(self.gate(x).sigmoid() * self.value(x))


def test_inner_widths_are_those_of_perceptrons():
    graph = trace(Perceptrons(), torch.zeros(1, 8))
    assert inner_widths(graph) == {64: False, 24: True}
    wider = trace(Perceptrons(inner=128, gated=48), torch.zeros(1, 8))
    assert rewidened(graph, inner_widths(graph), 2).fingerprint == wider.fingerprint
    narrower = trace(Perceptrons(inner=22, gated=8), torch.zeros(1, 8))  # 22.4, 8.4
    assert rewidened(graph, inner_widths(graph), 0.35).fingerprint == narrower.fingerprint


def test_other_inner_widths_are_drawn():
    graph = trace(Perceptrons(), torch.zeros(1, 8))
    drawn = {varied(graph, np.random.default_rng(seed)).fingerprint for seed in range(200)}
    wider = trace(Perceptrons(inner=128, gated=48), torch.zeros(1, 8))
    narrower = trace(Perceptrons(inner=32, gated=12), torch.zeros(1, 8))
    assert {wider.fingerprint, narrower.fingerprint} <= drawn


def test_what_goes_through_a_bottleneck_is_no_inner_width():
    # from 64 to 16 and back, with a sum between: 64 is what goes through a ResNet
    bottleneck = nn.Sequential(nn.Conv2d(64, 16, 1), nn.ReLU(), nn.Conv2d(16, 64, 1))

    class Shortcut(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Conv2d(3, 64, 1)
            self.blocks = nn.ModuleList([bottleneck, bottleneck])

        def forward(self, x):
            x = self.stem(x)
            for block in self.blocks:
                x = x + block(x)
            return x

    assert inner_widths(trace(Shortcut(), torch.zeros(1, 3, 4, 4))) == {16: False}


def test_the_same_seed_draws_the_same():
    graph = graph_of(Block())
    one, other = (varied(graph, np.random.default_rng(7)) for _ in range(2))
    assert one.fingerprint == other.fingerprint
