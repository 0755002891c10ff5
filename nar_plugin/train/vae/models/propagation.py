"""Asynchronous message passing of D-VAE (Zhang et al., NeurIPS 2019, equations 6 to 8)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nar_plugin.train.vae.models.operations import INPUT_SCALE, Operations


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
        operations: The vectors of operations, of which only the size is read.
        vertices: Of each graph.
        hidden: Width of a state.
        numbered: Whether x_v tells the number of v too. D-VAE's does not.
    """

    def __init__(
        self, operations: Operations, vertices: int, hidden: int, *, numbered: bool = False
    ) -> None:
        super().__init__()
        self.numbered = numbered
        self.cell = nn.GRUCell(operations.width + vertices * numbered, hidden)
        self.speak = nn.Linear(hidden, 2 * hidden, bias=False)  # the gate g, then m
        self.numbers = nn.Parameter(torch.empty(vertices, 2 * hidden))
        self.hidden, self.vertices = hidden, vertices
        with torch.no_grad():
            nn.init.uniform_(self.numbers, -(hidden**-0.5), hidden**-0.5)
            nn.init.orthogonal_(self.speak.weight[hidden:])
            self.cell.bias_hh[hidden : 2 * hidden] += 1  # of the update gate
            weights = self.cell.weight_ih
            nn.init.normal_(weights[:, : operations.width], std=operations.first_deviation)
            nn.init.normal_(weights[:, operations.width :], std=INPUT_SCALE)

    def message(self, states: Tensor, vertex: int) -> Tensor:
        """What vertex number `vertex` tells those that read it.

        Shapes:
            states float32[n, hidden] -> float32[n, hidden]
        """
        both = nn.functional.linear(states, self.speak.weight, self.numbers[vertex])
        gate, told = both.chunk(2, -1)
        return torch.sigmoid(gate) * told

    def state(self, operations: Tensor, told: Tensor, vertex: int) -> Tensor:
        """The states that vertex number `vertex` has.

        Shapes:
            operations float32[n, d], told float32[n, hidden] -> float32[n, hidden]
        """
        if self.numbered:
            number = torch.arange(self.vertices, device=told.device) == vertex
            operations = torch.cat([operations, number.float().expand(len(told), -1)], 1)
        return self.cell(operations, told)  # type: ignore[no-any-return]
