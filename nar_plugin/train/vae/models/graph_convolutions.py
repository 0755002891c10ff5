"""The encoder of GCN and GCN-EMB: graph convolutions (Kipf & Welling, ICLR 2017)."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from nar_plugin.train.vae.models.operations import INPUT_SCALE, Operations
from nar_plugin.train.vae.spaces.graphs import Graphs

LAYERS = 3


class ConvolutionEncoder(nn.Module):
    """H <- ReLU(D^-1/2 (A + I) D^-1/2 H W), three times, on edges of both directions; then a sum.

    With torch's usual first weights each layer shrinks its rows to a half, after a mean over
    neighbours, and training stands still with no operation known. Here the number of a vertex
    counts as much as its operation, and the layers keep the length of their rows (He et al.,
    ICCV 2015).

    Args:
        operations: The vectors of operations, which the decoder shares.
        vertices: Of each graph; the number of a vertex is a part of its input, as in D-VAE.
        hidden: Width of a state.

    Shapes:
        n graphs -> float32[n, hidden]
    """

    def __init__(self, operations: Operations, vertices: int, hidden: int) -> None:
        super().__init__()
        self.operations = operations
        widths = [operations.width + vertices] + [hidden] * LAYERS
        layers = [nn.Linear(one, other) for one, other in pairwise(widths)]
        with torch.no_grad():
            weights = layers[0].weight
            nn.init.normal_(weights[:, : operations.width], std=operations.first_deviation)
            nn.init.normal_(weights[:, operations.width :], std=INPUT_SCALE)  # as strong, one-hot
        for layer in layers[1:]:
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
        self.layers = nn.ModuleList(layers)

    def forward(self, graphs: Graphs) -> Tensor:
        """One vector a graph."""
        numbers = torch.eye(graphs.vertices, device=graphs.types.device)
        both = (graphs.edges | graphs.edges.mT).float() + numbers
        scale = both.sum(1).rsqrt()
        norm = scale[:, :, None] * both * scale[:, None, :]  # [n, v, v]
        rows = torch.cat(
            [self.operations(graphs.types), numbers.expand(len(graphs), -1, -1)], -1
        )  # [n, v, d + v]
        for layer in self.layers:
            rows = torch.relu(norm @ layer(rows))
        return rows.sum(1)
