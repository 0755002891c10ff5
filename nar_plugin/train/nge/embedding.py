"""Neural graph embedding: nodes by graph convolutions, edges by an MLP, operations by a softmax."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn

from nar_plugin.train.nge.cell_space import CellSpace

Mixing = Literal["printed", "mean"]
WIDTH = 64  # D, F and K of the paper
_HIDDEN = 128  # between the graph convolutions


def adjacency(space: CellSpace, mixing: Mixing) -> Tensor:
    """A of Eq. 6, without the identity that Eq. 7 adds.

    `printed`, with nodes counted from 1 as the paper counts them: 1 / (i + 1) where i < j and
    i > 1. Row i of A then mixes the nodes *after* i, so information runs against the edges.
    `mean`: row i is the mean over the nodes that node i has an edge from, and zero for inputs.

    Shapes:
        result: float32[nodes, nodes].
    """
    found = torch.zeros(space.nodes, space.nodes)
    if mixing == "printed":
        for i in range(2, space.nodes + 1):
            found[i - 1, i:] = 1 / (i + 1)
        return found
    for source, target in space.edges:
        found[target, source] = 1 / target  # its predecessors are all nodes before it
    return found


class NeuralGraphEmbedding(nn.Module):
    """Eq. 5 to 10: P = softmax(FC(MLP(concat(z_i, z_j)))), Z = GCN(X).

    Each layer of the GCN is relu((A + I) H W); three layers of widths 128, 128, 64. The MLP has two
    layers of 64. No layer has a bias ("All the FC layers use no bias"). X is learned, one for each
    kind of cell, and starts as a one-hot row for each node; all other weights are shared by all
    kinds.

    Left open and chosen: the variance of the normal distribution that all weights start in is
    2 / inputs (He et al., ICCV 2015), that of the layer of Eq. 10 is 0.01 squared, so that the
    search starts near equal probabilities, as that of DARTS does. The MLP has a ReLU after both
    layers: without the second one, the layer of Eq. 10 would add nothing to the layer before it.

    Args:
        space: The cells.
        mixing: How Eq. 6 is read (`adjacency`).

    Shapes:
        result: float32[kinds, edges, operations], rows sum to 1.

    Source:
        Li, Gong & Zhu, Neural Graph Embedding for Neural Architecture Search, AAAI 2020.
    """

    def __init__(self, space: CellSpace, mixing: Mixing) -> None:
        super().__init__()
        self.nodes = one_hot_nodes(space)
        widths = (WIDTH, _HIDDEN, _HIDDEN, WIDTH)
        self.convolutions = nn.ModuleList(layer(a, b) for a, b in pairwise(widths))
        self.edges = EdgeOperations(space)
        self.mix: Tensor
        self.register_buffer("mix", adjacency(space, mixing) + torch.eye(space.nodes))  # Eq. 7

    def forward(self) -> Tensor:
        """The probabilities of operations."""
        hidden: Tensor = self.nodes  # [kinds, nodes, D]
        for convolution in self.convolutions:
            hidden = torch.relu(convolution(self.mix @ hidden))  # Eq. 8
        probabilities: Tensor = self.edges(hidden)
        return probabilities


class EdgeOperations(nn.Module):
    """Eq. 9 and 10: from the vectors of the nodes to the operations of the edges.

    Shapes:
        nodes: float32[kinds, nodes, 64]; result: float32[kinds, edges, operations].
    """

    def __init__(self, space: CellSpace) -> None:
        super().__init__()
        self.first, self.second = layer(2 * WIDTH, WIDTH), layer(WIDTH, WIDTH)
        self.operations = layer(WIDTH, len(space.operations))
        nn.init.normal_(self.operations.weight, std=0.01)
        self.ends: Tensor
        self.register_buffer("ends", torch.tensor(space.edges).T)  # [2, edges]

    def forward(self, nodes: Tensor) -> Tensor:
        """The probabilities of operations."""
        sources, targets = self.ends
        pairs = torch.cat([nodes[:, sources], nodes[:, targets]], dim=-1)  # [kinds, edges, 128]
        edges = torch.relu(self.second(torch.relu(self.first(pairs))))  # [kinds, edges, 64]
        logits: Tensor = self.operations(edges)
        return logits.softmax(dim=-1)


def one_hot_nodes(space: CellSpace) -> nn.Parameter:
    """X: a learned vector for each node, one-hot at first.

    Shapes:
        result: float32[kinds, nodes, 64].
    """
    return nn.Parameter(torch.eye(space.nodes, WIDTH).repeat(len(space.kinds), 1, 1))


def layer(inputs: int, outputs: int) -> nn.Linear:
    """A layer without bias, of normally distributed weights."""
    made = nn.Linear(inputs, outputs, bias=False)
    nn.init.kaiming_normal_(made.weight, nonlinearity="relu")
    return made
