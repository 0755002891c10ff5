"""Table 5 of the paper, its ablations, and what the paper leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Splitting = Literal["motifs", "nodes", "count", "random"]
Objective = Literal["ce+cl", "ce", "cl"]
Operations = Literal["one-hot", "learned"]


@dataclass(frozen=True)
class Recipe:
    """How the method is trained: the defaults are the recipe `paper`.

    Attributes:
        motif_epochs: Of stage one (Table 5: 5).
        motif_batch: Motifs in a batch of stage one (Table 5: 256).
        motif_rate: Learning rate of stage one (Table 5: 1e-2).
        graph_epochs: Of stage two (Table 5: 15).
        graph_batch: Graphs in a batch of stage two (Table 5: 512).
        graph_rate: Learning rate of stage two (Table 5: 1e-3).
        layers: Graph convolutions of each network (Table 5: 3).
        width: Of every layer and of the embedding (Table 5: 512).
        dropout: Between the layers of stage two (Table 5: 0.1).
        hops: k of the context graph's k-hop neighbours, which the paper leaves open.
        splitting: How graphs are cut: at motifs, or as in the rows of Table 2.
        piece: Operations in a piece when cut by node number; left open.
        pieces: Pieces of a graph when cut by motif number; left open.
        sizes: Fewest and most operations in a piece when cut at random; left open.
        objective: The terms of Eq. 6 that are minimised (Table 3).
        operations: One-hot kinds, or learned vectors for them (Operation Embeddings, ICCVW 2021).
        nas: Architectures of the search space to train on first (Table 4); 0 is from scratch.
    """

    motif_epochs: int = 5
    motif_batch: int = 256
    motif_rate: float = 1e-2
    graph_epochs: int = 15
    graph_batch: int = 512
    graph_rate: float = 1e-3
    layers: int = 3
    width: int = 512
    dropout: float = 0.1
    hops: int = 1
    splitting: Splitting = "motifs"
    piece: int = 10
    pieces: int = 10
    sizes: tuple[int, int] = (5, 10)
    objective: Objective = "ce+cl"
    operations: Operations = "one-hot"
    nas: int = 0
