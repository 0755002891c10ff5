"""What is put behind layers is what a model with such layers gives, and nothing else changes."""

import numpy as np
import pytest
import torch
from torch import nn

from nar_plugin.tracing import trace
from nar_plugin.tracing.graph import Op
from nar_plugin.tracing.insertions import insertions
from nar_plugin.train.inserted import LAYERS, adapter, behind, gate, inserted, single

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


class Sine(nn.Module):
    """A sine."""

    def forward(self, x):
        return x.sin()


class Adapted(nn.Module):
    """A layer and a perceptron of an eighth of its width beside a shortcut."""

    def __init__(self):
        super().__init__()
        self.layer, self.narrow, self.back = nn.Linear(8, 64), nn.Linear(64, 8), nn.Linear(8, 64)

    def forward(self, x):
        x = self.layer(x)
        return (x + self.back(self.narrow(x).relu())).sin()


def test_an_adapter_is_an_eighth_as_wide_as_its_layer():
    bare = trace(nn.Sequential(nn.Linear(8, 64), Sine()), (X,))
    assert behind(bare, LAYERS, adapter).fingerprint == trace(Adapted(), (X,)).fingerprint


def test_what_is_behind_a_sum_is_as_wide_as_what_is_summed():
    graph = behind(
        trace(Layers(), (X,)), ("add",), lambda width: single(Op("marked", (("n", width),)))
    )
    assert [op for op in graph.ops if op.kind == "marked"] == [Op("marked", (("n", 8),))]


class Shortcuts(nn.Module):
    """Three layers, each beside a shortcut."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x).sin()
        return x.exp()


def test_each_sort_of_insertion_is_drawn_and_can_be_taken_out_again():
    graph = trace(Shortcuts(), (X,))
    drawn = [inserted(graph, np.random.default_rng(seed)) for seed in range(200)]
    for other in drawn:
        assert graph.fingerprint in {rest.graph.fingerprint for rest in insertions(other)}
    again = [inserted(graph, np.random.default_rng(seed)).fingerprint for seed in range(200)]
    assert again == [other.fingerprint for other in drawn]
    # behind layers and behind sums: one operation, a gate, an adapter
    assert {(len(other) - len(graph)) // 3 for other in drawn} == {1, 3, 4}
    assert {last_shared(graph, other).kind for other in drawn} == {"linear", "add"}


def last_shared(graph, other):
    """The operation behind which two graphs go on differently."""
    pairs = zip(graph.ops, other.ops, strict=False)
    first = next(place for place, (one, two) in enumerate(pairs) if one != two)
    return graph.ops[first - 1]


def test_nothing_is_inserted_where_nothing_is_a_layer_or_a_sum():
    graph = trace(nn.Sequential(nn.ReLU(), nn.Tanh()), (X,))
    assert inserted(graph, np.random.default_rng(0)) is graph
