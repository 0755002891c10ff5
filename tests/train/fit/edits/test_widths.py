"""Widths inside perceptrons: which they are, and what other ones give."""

import torch
from torch import nn

from nar_plugin.tracing import trace
from nar_plugin.train.fit.edits.widths import inner_widths, rewidened


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
