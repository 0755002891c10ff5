"""Small directed acyclic graphs of one size, many at once: types of vertices and edges."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

START, END = 0, 1  # the first two types of vertices; operations come after them


@dataclass(frozen=True)
class Graphs:
    """A batch of graphs whose vertices stand in topological order.

    Vertex 0 is the input. A graph that ends before the last vertex has type `START` there, which
    no later vertex of a valid graph has.

    Attributes:
        types: int64[g, v], the type of each vertex.
        edges: bool[g, v, v]; `edges[g, u, w]` is an edge from u to w, with u < w.
        kinds: How many types there are.
    """

    types: Tensor
    edges: Tensor
    kinds: int

    def __len__(self) -> int:
        """The number of graphs."""
        return len(self.types)

    @property
    def vertices(self) -> int:
        """The number of vertices of each graph."""
        return self.types.shape[1]

    @property
    def chained(self) -> bool:
        """Whether each vertex of each graph reads the one before it."""
        return bool(self.edges.diagonal(1, 1, 2).all())

    def __getitem__(self, chosen: Tensor | slice) -> Graphs:
        """Some of the graphs."""
        return Graphs(self.types[chosen], self.edges[chosen], self.kinds)

    def to(self, device: torch.device) -> Graphs:
        """The same on another device."""
        return Graphs(self.types.to(device), self.edges.to(device), self.kinds)

    def same(self, other: Graphs) -> Tensor:
        """bool[g]: which graphs equal the one at the same place, vertex by vertex."""
        types = (self.types == other.types).all(1)
        return types & (self.edges == other.edges).flatten(1).all(1)

    def keys(self) -> list[bytes]:
        """What is equal for equal graphs."""
        rows = torch.cat([self.types, self.edges.flatten(1).long()], 1).to(torch.uint8)
        return [row.tobytes() for row in rows.cpu().numpy()]
