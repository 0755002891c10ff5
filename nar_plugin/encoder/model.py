"""The two-level encoder of Eq. 8: F(A) = F_m(Agg[F_s(Mss(A))])."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from nar_plugin.encoder.batch import BlockBatch, GraphBatch, graph_batch
from nar_plugin.encoder.features import FEATURES
from nar_plugin.encoder.gcn import GraphConvolutions
from nar_plugin.mining import MacroGraph

DIMENSIONS = 512


class BlockEncoder(nn.Module):
    """F_s: operations of one block to one vector, by learnable operation embeddings and a GCN.

    The embedding of an operation is that of its kind (Operation Embeddings, ICCVW 2021) plus a
    linear map of its attributes.

    Args:
        kinds: Size of the operator vocabulary, the unknown kind included.
        width: Width of the embeddings and of all layers.
        layers: Number of graph convolutions.

    Shapes:
        result: float32[blocks, width].
    """

    def __init__(self, kinds: int, width: int = DIMENSIONS, layers: int = 3) -> None:
        super().__init__()
        self.kind = nn.Embedding(kinds, width)
        self.attributes = nn.Linear(len(FEATURES), width)
        self.convolutions = GraphConvolutions(width, layers)

    def forward(self, batch: BlockBatch) -> Tensor:
        """Embed each block."""
        table = self.kind(batch.kind) + self.attributes(batch.attributes)  # [u, width]
        blocks: Tensor = self.convolutions(
            table[batch.op], batch.adjacency, batch.owner, batch.blocks
        )
        return blocks


class ArchitectureEncoder(nn.Module):
    """Macro graphs to unit vectors: `BlockEncoder` on the motifs, a second GCN on the macro graph.

    Args:
        kinds: The operator vocabulary, without the unknown kind.
        width: Width of the vectors.
        layers: Graph convolutions in each level (Table 5: 3).
        dropout: In the macro graph's level (Table 5: 0.1).

    Shapes:
        result: float32[graphs, width], rows of length 1.
    """

    def __init__(
        self, kinds: Sequence[str], width: int = DIMENSIONS, layers: int = 3, dropout: float = 0.1
    ) -> None:
        super().__init__()
        self.kinds = {kind: number for number, kind in enumerate(kinds, start=1)}
        self.config = {"kinds": list(kinds), "width": width, "layers": layers, "dropout": dropout}
        self.blocks = BlockEncoder(len(kinds) + 1, width, layers)
        self.convolutions = GraphConvolutions(width, layers, dropout)

    def forward(self, batch: GraphBatch) -> Tensor:
        """Embed each graph."""
        motifs = self.blocks(batch.motifs)  # [m, width]
        return self.graph_level(motifs, batch)

    def graph_level(self, motifs: Tensor, batch: GraphBatch) -> Tensor:
        """F_m alone, on motif vectors float32[m, width] that are already there."""
        nodes = motifs[batch.motif]  # [M, width]
        graphs = self.convolutions(nodes, batch.adjacency, batch.owner, batch.graphs)
        return functional.normalize(graphs, dim=1)

    @torch.no_grad()
    def encode(self, graphs: Sequence[MacroGraph], batch_size: int = 64) -> Tensor:
        """Unit vectors of macro graphs, as in eval mode.

        Returns:
            float32[len(graphs), width] on the CPU.
        """
        self.eval()
        device = next(self.parameters()).device
        chunks = [graphs[start : start + batch_size] for start in range(0, len(graphs), batch_size)]
        vectors = [self(graph_batch(chunk, self.kinds, device)).cpu() for chunk in chunks]
        return torch.cat(vectors) if vectors else torch.zeros(0, int(str(self.config["width"])))
