"""The encoder: learned vectors of a graph's labels, summed, and a perceptron."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from nar_plugin.encoder.config import LABELS
from nar_plugin.encoder.graph_encoder import GraphEncoder
from nar_plugin.encoder.labels import VIEWS, Counts, counts_of
from nar_plugin.encoder.relabelling import Hashes
from nar_plugin.tracing.graph import ArchitectureGraph

_BATCH = 64  # graphs that are labelled at once


class ArchitectureEncoder(GraphEncoder):
    """Graphs to unit vectors whose cosine says how near the field puts two designs.

    A label that occurs c times in a graph, and in g of N graphs of the training, weighs
    ln(1 + c) ln((1 + N) / (1 + g)); the weights of one view are scaled to length 1. Labels that the
    training did not see, or seldom, have no vector and are left out. The sum of the vectors goes
    through a linear map and a perceptron with one hidden layer beside it.

    Args:
        labels: The number L of labels that have a vector.
        width: Dimensions of these vectors.
        hidden: Width of the hidden layer.
        dimensions: Dimensions of the result.
        dropout: In the hidden layer, in training.

    Shapes:
        places: int64[T], numbers of labels; starts: int64[n], where those of each graph begin;
        weights: float32[T]; result: float32[n, dimensions], rows of length 1.
    """

    kind = LABELS

    def __init__(
        self,
        labels: int,
        width: int = 128,
        hidden: int = 512,
        dimensions: int = 512,
        dropout: float = 0.3,
    ) -> None:
        super().__init__()
        self.config = {
            "labels": labels,
            "width": width,
            "hidden": hidden,
            "dimensions": dimensions,
        }
        self.dimensions = dimensions
        self.labels = nn.Buffer(torch.zeros(labels, dtype=torch.int64))  # the bits of uint64
        self.rarity = nn.Buffer(torch.ones(labels))
        self.vectors = nn.EmbeddingBag(labels, width, mode="sum")
        self.norm = nn.LayerNorm(width)
        self.linear = nn.Linear(width, dimensions, bias=False)
        self.inner = nn.Linear(width, hidden)
        self.outer = nn.Linear(hidden, dimensions)
        self.dropout = nn.Dropout(dropout)
        nn.init.normal_(self.vectors.weight, std=width**-0.5)

    def know(self, labels: Hashes, rarity: NDArray[np.float32]) -> None:
        """Set the labels, ascending, and how rare each is."""
        self.labels.copy_(torch.from_numpy(labels.view(np.int64)))
        self.rarity.copy_(torch.from_numpy(rarity))

    def forward(self, places: Tensor, starts: Tensor, weights: Tensor) -> Tensor:
        """Embed graphs."""
        summed = self.norm(self.vectors(places, starts, per_sample_weights=weights))  # [n, width]
        hidden = self.dropout(functional.gelu(self.inner(summed)))  # [n, hidden]
        return functional.normalize(self.linear(summed) + self.outer(hidden), dim=1)

    def encode_graphs(self, graphs: Sequence[ArchitectureGraph]) -> Tensor:
        """Unit vectors of graphs.

        Returns:
            float32[len(graphs), dimensions] on the CPU.
        """
        parts = [torch.zeros(0, self.dimensions)]
        for start in range(0, len(graphs), _BATCH):
            batch = graphs[start : start + _BATCH]
            parts.append(self.encode_counts(counts_of(batch), len(batch)))
        return torch.cat(parts)

    def encode_labelled(self, graphs: Sequence[ArchitectureGraph], counts: Counts) -> Tensor:
        """As `encode_graphs`, where the labels of the graphs are counted already."""
        return self.encode_counts(counts, len(graphs))

    @torch.no_grad()
    def encode_counts(self, counts: Counts, graphs: int) -> Tensor:
        """As `encode_graphs`, of nothing but labels that are counted already; see `counts_of`."""
        self.eval()
        known = self.labels.cpu().numpy().view(np.uint64)
        read = weighed(counts, graphs, known, self.rarity.cpu().numpy())
        device = self.rarity.device
        vectors: Tensor = self(*(torch.from_numpy(part).to(device) for part in read))
        return vectors.cpu()


def weighed(
    counts: Counts, graphs: int, known: Hashes, rarity: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """What the encoder reads: places, starts and weights of the labels that it knows.

    Args:
        counts: The labels of the graphs.
        graphs: How many graphs there are.
        known: uint64[L], ascending.
        rarity: float32[L].
    """
    places = np.searchsorted(known, counts.labels).clip(max=max(len(known) - 1, 0))
    kept = known[places] == counts.labels if len(known) else np.zeros(len(places), bool)
    rare = np.where(kept, rarity[places] if len(rarity) else 0.0, rarity.max(initial=1.0))
    weights = np.log1p(counts.counts) * rare
    cells = counts.graphs * len(VIEWS) + counts.views
    lengths = np.sqrt(np.bincount(cells, weights**2, minlength=graphs * len(VIEWS)))
    weights = (weights / np.maximum(lengths, 1e-12)[cells])[kept].astype(np.float32)
    starts = np.searchsorted(counts.graphs[kept], np.arange(graphs))
    return places[kept].astype(np.int64), starts.astype(np.int64), weights
