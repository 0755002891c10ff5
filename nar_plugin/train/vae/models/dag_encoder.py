"""The encoder of D-VAE: a state for each vertex in turn, from both ends of the graph."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nar_plugin.train.vae.models.operations import Operations
from nar_plugin.train.vae.models.propagation import Propagation
from nar_plugin.train.vae.spaces.graphs import Graphs


class DagEncoder(nn.Module):
    """States along the edges end at the output, those against them at the input; both speak.

    Args:
        operations: The vectors of operations, which the decoder shares.
        vertices: Of each graph.
        hidden: Width of a state.

    Shapes:
        n graphs -> float32[n, hidden]
    """

    def __init__(self, operations: Operations, vertices: int, hidden: int) -> None:
        super().__init__()
        self.operations = operations
        self.forwards = Propagation(operations, vertices, hidden)
        self.backwards = Propagation(operations, vertices, hidden)
        self.unify = nn.Sequential(nn.Linear(2 * hidden, hidden), nn.Tanh())

    def forward(self, graphs: Graphs) -> Tensor:
        """One vector a graph."""
        inputs = self.operations(graphs.types)  # [n, v, d]
        order = list(range(graphs.vertices))
        output = _last_state(self.forwards, inputs, graphs.edges, order)
        first = _last_state(self.backwards, inputs, graphs.edges.mT, order[::-1])
        return self.unify(torch.cat([output, first], -1))  # type: ignore[no-any-return]


def _last_state(passes: Propagation, inputs: Tensor, edges: Tensor, order: list[int]) -> Tensor:
    """float32[n, hidden]: the state of the last vertex in this order, all graphs in step."""
    told: list[Tensor] = []
    state = inputs.new_zeros(len(inputs), passes.hidden)
    for place, vertex in enumerate(order):
        if place == 0:
            heard = torch.zeros_like(state)
        else:
            read = edges[:, order[:place], vertex].float()  # [n, place]
            heard = torch.einsum("np,pnh->nh", read, torch.stack(told))
        state = passes.state(inputs[:, vertex], heard, vertex)
        told.append(passes.message(state, vertex))
    return state
