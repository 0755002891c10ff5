"""What Table 4 compares neural graph embedding with, and the names of all of them.

The paper describes each in a sentence; the widths, X and the last layers are those of the graph
embedding, so that the methods differ in what happens between X and the edges alone.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from nar_plugin.train.nge.cell_space import CellSpace
from nar_plugin.train.nge.embedding import (
    WIDTH,
    EdgeOperations,
    NeuralGraphEmbedding,
    layer,
    one_hot_nodes,
)


class DirectLogits(nn.Module):
    """The baseline: architecture parameters without embeddings, near zero at first, as in DARTS.

    Shapes:
        result: float32[kinds, edges, operations], rows sum to 1; so do the other two.
    """

    def __init__(self, space: CellSpace) -> None:
        super().__init__()
        shape = len(space.kinds), len(space.edges), len(space.operations)
        self.logits = nn.Parameter(1e-3 * torch.randn(shape))

    def forward(self) -> Tensor:
        """The probabilities of operations."""
        return self.logits.softmax(dim=-1)


class PlainEmbedding(nn.Module):
    """Learned vectors of nodes, between which "no relationships" are modelled: Eq. 9 on X."""

    def __init__(self, space: CellSpace) -> None:
        super().__init__()
        self.nodes = one_hot_nodes(space)
        self.edges = EdgeOperations(space)

    def forward(self) -> Tensor:
        """The probabilities of operations."""
        probabilities: Tensor = self.edges(self.nodes)
        return probabilities


class RecurrentEmbedding(nn.Module):
    """Two recurrent layers over the nodes in their order, between X and the edges.

    "RNN layers" are taken literally: Elman's, with tanh, 64 wide and without bias.
    """

    def __init__(self, space: CellSpace) -> None:
        super().__init__()
        self.nodes = one_hot_nodes(space)
        # Input and state side by side: `vmap`, which runs many searches at once, knows no `nn.RNN`.
        self.recurrent = nn.ModuleList(layer(2 * WIDTH, WIDTH) for _ in range(2))
        self.edges = EdgeOperations(space)

    def forward(self) -> Tensor:
        """The probabilities of operations."""
        rows = self.nodes.unbind(1)  # of each node [kinds, 64]
        for cell in self.recurrent:
            state, states = torch.zeros_like(rows[0]), []
            for row in rows:
                state = torch.tanh(cell(torch.cat([row, state], dim=-1)))
                states.append(state)
            rows = tuple(states)
        probabilities: Tensor = self.edges(torch.stack(rows, dim=1))
        return probabilities


METHODS: dict[str, Callable[[CellSpace], nn.Module]] = {
    "baseline": DirectLogits,
    "plain": PlainEmbedding,
    "rnn": RecurrentEmbedding,
    "nge": lambda space: NeuralGraphEmbedding(space, "printed"),
    "nge-mean": lambda space: NeuralGraphEmbedding(space, "mean"),
}
