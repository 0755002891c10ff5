"""What stands alike in several places is found and taken out; the graphs are worked by hand."""

import numpy as np
import pytest
import torch
from torch import nn

from nar_plugin.tracing import ArchitectureGraph, trace
from nar_plugin.tracing.insertions import insertions


class Inserted(nn.Module):
    """A layer with something behind it."""

    def __init__(self, layer, how):
        super().__init__()
        self.layer, self.how = layer, how

    def forward(self, x):
        return self.how(self.layer(x))


class Transformer(nn.Module):
    """Blocks of attention and a gated perceptron, each layer with something behind it."""

    def __init__(self, how=None, width=16):
        super().__init__()
        make = nn.Linear if how is None else lambda *sizes: Inserted(nn.Linear(*sizes), how)
        self.first = nn.Linear(width, width)
        self.blocks = nn.ModuleList()
        for _ in range(3):
            sizes = {name: (width, width) for name in "qkvo"}
            sizes |= {"gate": (width, 24), "up": (width, 24), "down": (24, width)}
            self.blocks.append(nn.ModuleDict({name: make(*size) for name, size in sizes.items()}))

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            q, k, v = (block[name](x).unflatten(-1, (2, -1)).transpose(1, 2) for name in "qkv")
            mixed = nn.functional.scaled_dot_product_attention(q, k, v)
            x = x + block["o"](mixed.transpose(1, 2).flatten(2))
            x = x + block["down"](nn.functional.silu(block["gate"](x)) * block["up"](x))
        return x


def chain(how, places=4):
    layers = [Inserted(nn.Linear(8, 8), how if place < places else nn.ReLU()) for place in range(6)]
    return nn.Sequential(*layers)


def gate(x):
    return x * torch.sigmoid(x.mean(-1, keepdim=True))


@pytest.mark.parametrize(
    ("how", "kinds"),
    [
        (torch.tanh, ("tanh",)),
        (gate, ("mean", "sigmoid", "mul")),
        (lambda x: x * (x.abs() > 0.1), ("abs", "gt", "mul")),
        (lambda x: x + torch.randn_like(x), ("add const",)),
    ],
    ids=["tanh", "gate", "sparse", "noise"],
)
def test_what_is_left_is_the_design_without(how, kinds):
    bare, x = trace(Transformer(), (torch.zeros(1, 5, 16),)), torch.zeros(1, 5, 16)
    graph = trace(Transformer(how), (x,))
    found = {insertion.kinds: insertion for insertion in insertions(graph)}
    assert found[kinds].count == 3 * 7
    # q, k and v are one layer again, as are the gate and what it gates
    assert found[kinds].graph.fingerprint == bare.fingerprint


def test_in_fewer_than_three_places_it_is_none():
    x = torch.zeros(1, 8)
    assert ("tanh",) in {each.kinds for each in insertions(trace(chain(torch.tanh, 3), (x,)))}
    assert ("tanh",) not in {each.kinds for each in insertions(trace(chain(torch.tanh, 2), (x,)))}


def test_layers_are_none_and_most_of_a_graph_is_none():
    graph = trace(nn.Sequential(*(nn.Linear(8, 8) for _ in range(6))), (torch.zeros(1, 8),))
    assert insertions(graph) == []

    def sines(x):  # four behind each layer: a fifth would be left
        return torch.sin(torch.sin(torch.sin(torch.sin(x))))

    assert insertions(trace(chain(sines, 6), (torch.zeros(1, 8),))) == []


def test_a_value_that_no_single_input_leads_to_is_not_passed_by():
    """The factors of a gated perceptron come from one value, and neither from the other."""
    graph = trace(Transformer(), (torch.zeros(1, 5, 16),))
    assert ("mul",) not in {insertion.kinds for insertion in insertions(graph)}


def test_what_has_the_most_operations_comes_first_and_nothing_is_changed():
    graph = trace(Transformer(gate), (torch.zeros(1, 5, 16),))
    before = graph.to_dict()
    (first, *others) = insertions(graph)
    assert (first.kinds, first.count) == (("mean", "sigmoid", "mul"), 21)
    assert all(len(first.kinds) * 21 >= len(each.kinds) * each.count for each in others)
    assert graph.to_dict() == before


def test_a_graph_that_is_too_long_is_not_looked_at(monkeypatch):
    monkeypatch.setattr("nar_plugin.tracing.insertions._LONGEST", 10)
    assert insertions(trace(Transformer(gate), (torch.zeros(1, 5, 16),))) == []


def test_an_empty_graph():
    assert insertions(ArchitectureGraph((), np.zeros((0, 2), np.int32), ())) == []
