"""Other heads: each change is what a model with that head gives, and the trunk stays."""

import numpy as np
import pytest
import torch
from torch import nn

from nar_plugin.tracing import trace
from nar_plugin.train.heads import reheaded


class Net(nn.Module):
    """A trunk of 16 features, and some heads."""

    def __init__(self, *heads):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
        self.heads = nn.ModuleList(heads)

    def forward(self, x):
        features = self.trunk(x).flatten(1)
        return tuple(head(features) for head in self.heads) or features


def graph_of(*heads):
    return trace(Net(*heads), torch.zeros(1, 3, 16, 16))


def mlp(hidden, activation):
    return nn.Sequential(nn.Linear(16, hidden), activation, nn.Linear(hidden, 10))


def drawn(graph, draws=200):
    return {reheaded(graph, np.random.default_rng(seed)).fingerprint for seed in range(draws)}


@pytest.mark.parametrize(
    "heads",
    [
        (),
        (nn.Linear(16, 10), nn.Linear(16, 10)),
        tuple(nn.Linear(16, 10) for _ in range(4)),
        (mlp(128, nn.ReLU()),),
        (mlp(1024, nn.Tanh()),),
    ],
)
def test_a_change_is_what_the_model_with_that_head_gives(heads):
    assert graph_of(*heads).fingerprint in drawn(graph_of(nn.Linear(16, 10)))


def test_softmax_goes_with_the_head():
    softmax = nn.Sequential(nn.Linear(16, 10), nn.Softmax(-1))
    assert drawn(graph_of(softmax)) == drawn(graph_of(nn.Linear(16, 10)))


def test_a_graph_without_a_head_gets_one():
    assert drawn(graph_of(), 5) == {graph_of(nn.Linear(16, 10)).fingerprint}


def test_a_single_operation_stays_as_it_is():
    graph = trace(nn.Conv2d(3, 8, 3))
    assert reheaded(graph, np.random.default_rng(0)) is graph
