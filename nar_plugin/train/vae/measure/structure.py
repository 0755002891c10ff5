"""Two properties of a wiring that go with accuracy (section 4.4)."""

from __future__ import annotations

import torch
from torch import Tensor

from nar_plugin.train.vae.spaces.graphs import Graphs


def path_length(graphs: Graphs) -> Tensor:
    """float64[g]: the mean length of the shortest paths along the edges, over pairs that have one.

    As `igraph.Graph.average_path_length`. Read both ways, its correlation with accuracy is another.
    """
    step = graphs.edges.double()
    reached = torch.zeros_like(step)
    length = torch.zeros_like(step)
    walks = step
    for edges in range(1, graphs.vertices):
        new = (walks > 0) & (reached == 0)
        length = torch.where(new, edges, length)
        reached = torch.where(new, 1.0, reached)
        walks = walks @ step
    return length.sum((1, 2)) / reached.sum((1, 2))


def clustering(graphs: Graphs) -> Tensor:
    """float64[g]: global transitivity, 3 x triangles / connected triples, of edges both ways."""
    both = (graphs.edges | graphs.edges.mT).double()
    paths = both @ both
    triangles = (paths * both).sum((1, 2))  # each six times
    degree = both.sum(1)
    triples = (degree * (degree - 1)).sum(1)  # each twice
    return triangles / triples.clamp(min=1)


def correlation(one: Tensor, other: Tensor) -> float:
    """Pearson's r."""
    return float(torch.corrcoef(torch.stack([one.double(), other.double()]))[0, 1])
