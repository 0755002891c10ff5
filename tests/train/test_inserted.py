"""What is put behind layers is what a model with such layers gives, and nothing else changes."""

import pytest
import torch
from torch import nn

from nar_plugin.tracing import trace
from nar_plugin.tracing.graph import Op
from nar_plugin.tracing.insertions import insertions
from nar_plugin.train.inserted import LAYERS, behind, gate, single

X = torch.zeros(2, 8)


class Layers(nn.Module):
    """Three layers and a shortcut, each layer with something behind it."""

    def __init__(self, how=lambda y: y):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])
        self.how = how

    def forward(self, x):
        x = self.how(self.layers[0](x)).sin().exp().cos()
        return self.how(self.layers[2](x + self.how(self.layers[1](x))))


@pytest.mark.parametrize(
    ("how", "chain"),
    [
        (torch.asin, single(Op("asin"))),
        (lambda y: y * (y.abs() > 1), gate(Op("abs"), Op("gt"))),
    ],
    ids=["single", "gate"],
)
def test_a_chain_behind_each_layer(how, chain):
    graph = behind(trace(Layers(), (X,)), LAYERS, lambda _: chain)
    assert graph.fingerprint == trace(Layers(how), (X,)).fingerprint
    assert (graph.edges[:, 0] < graph.edges[:, 1]).all()


def test_a_graph_without_layers_stays_as_it_is():
    graph = trace(nn.Sequential(nn.ReLU(), nn.Tanh()), (X,))
    assert behind(graph, LAYERS, lambda _: single(Op("asin"))).fingerprint == graph.fingerprint


@pytest.mark.parametrize("chain", [single(Op("asin")), gate(Op("abs"), Op("gt"))], ids=str)
def test_what_is_put_behind_layers_can_be_taken_out_again(chain):
    graph = trace(Layers(), (X,))
    other = behind(graph, LAYERS, lambda _: chain)
    assert graph.fingerprint in {rest.graph.fingerprint for rest in insertions(other)}
