"""The graph convolution of Eq. 3, on many small graphs side by side."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn


class Adjacency(NamedTuple):
    """The normalised adjacency D^-1/2 (M + I) D^-1/2 of n nodes, as weighted edges.

    Attributes:
        source: int64[E].
        target: int64[E].
        weight: float32[E].
        loop: float32[n], the weights of the self loops.
    """

    source: Tensor
    target: Tensor
    weight: Tensor
    loop: Tensor


def normalised_adjacency(edges: Tensor, nodes: int) -> Adjacency:
    """Normalise the edges of a graph, read in both directions.

    Args:
        edges: int64[E, 2], rows (source, target), without loops.
        nodes: The number of nodes n.
    """
    source = torch.cat([edges[:, 0], edges[:, 1]])
    target = torch.cat([edges[:, 1], edges[:, 0]])
    degree = torch.ones(nodes, device=edges.device)
    degree.index_add_(0, target, torch.ones(len(target), device=edges.device))
    root = degree.rsqrt()
    return Adjacency(source, target, root[source] * root[target], root * root)


class GraphConvolution(nn.Module):
    """H' = D^-1/2 (M + I) D^-1/2 H W + b (Kipf & Welling 2017; Eq. 3 without the activation).

    Args:
        wide_in: Width of the node features H.
        wide_out: Width of the result.

    Shapes:
        H: float32[n, wide_in]; result: float32[n, wide_out].
    """

    def __init__(self, wide_in: int, wide_out: int) -> None:
        super().__init__()
        self.linear = nn.Linear(wide_in, wide_out)

    def forward(self, features: Tensor, adjacency: Adjacency) -> Tensor:
        """Mix each node's features with its neighbours'."""
        values = features @ self.linear.weight.T  # [n, wide_out]
        mixed = values * adjacency.loop[:, None]
        messages = values[adjacency.source] * adjacency.weight[:, None]  # [E, wide_out]
        return mixed.index_add(0, adjacency.target, messages) + self.linear.bias


class GraphConvolutions(nn.Module):
    """Several graph convolutions with ReLU between them, and the mean over each graph's nodes.

    Args:
        width: Width of all layers.
        layers: Number of convolutions.
        dropout: Probability of dropping a feature between layers, in training.

    Shapes:
        features: float32[n, width]; owner: int64[n], the graph of each node;
        result: float32[graphs, width].
    """

    def __init__(self, width: int, layers: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.layers = nn.ModuleList(GraphConvolution(width, width) for _ in range(layers))
        self.dropout = nn.Dropout(dropout)

    def forward(self, features: Tensor, adjacency: Adjacency, owner: Tensor, graphs: int) -> Tensor:
        """Embed each graph."""
        hidden = features
        for layer in self.layers:
            hidden = hidden + self.dropout(torch.relu(layer(hidden, adjacency)))  # [n, width]
        total = hidden.new_zeros(graphs, hidden.shape[1]).index_add(0, owner, hidden)
        count = torch.bincount(owner, minlength=graphs).clamp(min=1)
        return total / count[:, None]
