"""Asynchronous message passing of D-VAE (Zhang et al., NeurIPS 2019, equations 6 to 8)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

INPUT_SCALE = 0.5  # of first weights on one-hot numbers and on operation embeddings


class Propagation(nn.Module):
    """The state of a vertex from its operation and the states of the vertices that it reads.

    h_v = GRU(x_v, sum over u of g(h_u, u) * m(h_u, u)), where the gate g is a sigmoid of a linear
    layer, m is linear, and both know which vertex u is.

    D-VAE's code has torch's usual first weights. With them a message is about a sixth as long as
    the state that it comes from, and an operation moves a state by a few hundredths. The wiring is
    then learned at once, and training stands still with no operation known. Here m is orthogonal
    at first, the GRU keeps most of what it reads, and the weights on operations are large, so that
    an operation moves a state as much as an edge does.

    Args:
        inputs: Numbers of an operation's vector.
        vertices: Of each graph.
        hidden: Width of a state.
    """

    def __init__(self, inputs: int, vertices: int, hidden: int) -> None:
        super().__init__()
        self.cell = nn.GRUCell(inputs, hidden)
        self.gate = nn.Linear(hidden + vertices, hidden)
        self.mapper = nn.Linear(hidden + vertices, hidden, bias=False)
        self.hidden, self.vertices = hidden, vertices
        with torch.no_grad():
            nn.init.orthogonal_(self.mapper.weight[:, :hidden])
            self.cell.bias_hh[hidden : 2 * hidden] += 1  # of the update gate
            nn.init.normal_(self.cell.weight_ih, std=INPUT_SCALE)

    def message(self, states: Tensor, vertex: int) -> Tensor:
        """What vertex number `vertex` tells those that read it.

        Shapes:
            states float32[n, hidden] -> float32[n, hidden]
        """
        return torch.sigmoid(_with_number(self.gate, states, vertex)) * _with_number(
            self.mapper, states, vertex
        )

    def state(self, operations: Tensor, told: Tensor) -> Tensor:
        """The states of vertices.

        Shapes:
            operations float32[n, inputs], told float32[n, hidden] -> float32[n, hidden]
        """
        return self.cell(operations, told)  # type: ignore[no-any-return]


def _with_number(layer: nn.Linear, states: Tensor, vertex: int) -> Tensor:
    """The layer on states beside a one-hot vertex number, of which one column is enough."""
    hidden = states.shape[-1]
    own = layer.weight[:, hidden + vertex]
    bias = own if layer.bias is None else own + layer.bias
    return nn.functional.linear(states, layer.weight[:, :hidden], bias)
