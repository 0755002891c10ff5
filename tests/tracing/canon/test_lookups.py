"""What is read at known places, such as the nodes at the ends of known edges, leaves no node."""

import pytest
import torch
from torch import nn

from nar_plugin.tracing import trace


class Ends(nn.Module):
    """A function of the nodes at both ends of the edges of a graph that is known."""

    def __init__(self, function, of_input=False):
        super().__init__()
        self.layer, self.function, self.of_input = nn.Linear(8, 8), function, of_input
        self.register_buffer("edges", torch.tensor([[0, 1, 2, 3, 5], [3, 4, 5, 0, 1]]))

    def forward(self, x):
        nodes, made = (x, self.layer(x).sum()) if self.of_input else (self.layer(x), 0)
        return self.function(nodes, self.edges) + made


def kinds(function, of_input):
    return [op.kind for op in trace(Ends(function, of_input), torch.empty(16, 8)).ops]


@pytest.mark.parametrize("of_input", [False, True])
def test_nodes_at_one_end_are_one_however_often_it_is_looked_up(in_this_process, of_input):
    square = kinds(lambda x, edges: x[edges[0]] * x[edges[0]], of_input)
    assert square == kinds(lambda x, edges: x[edges[0]] ** 2, of_input)
    assert "pow" in square


@pytest.mark.parametrize("of_input", [False, True])
def test_nodes_at_both_ends_are_two(in_this_process, of_input):
    product = kinds(lambda x, edges: x[edges[0]] * x[edges[1]], of_input)
    assert "mul" in product and "pow" not in product
