"""The shipped encoder: a graph's sketch, projected twice, and a small network on the first part."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from nar_plugin.encoder.sketch import SKETCH, WIDTHLESS, Frequencies, sketch
from nar_plugin.mining import MacroGraph
from nar_plugin.tracing.graph import ArchitectureGraph

_BATCH = 64  # graphs that are sketched at once


class Families(nn.Module):
    """Projected sketches to vectors that lie close for graphs of one family.

    A linear map and a perceptron with one hidden layer beside it, added.

    Args:
        width: Numbers of the projected sketch.
        dimensions: Dimensions of the vectors.
        dropout: In the hidden layer, in training.

    Shapes:
        projected: float32[graphs, width]; result: float32[graphs, dimensions], rows of length 1.
    """

    def __init__(self, width: int, dimensions: int, dropout: float = 0.3) -> None:
        super().__init__()
        self.linear = nn.Linear(width, dimensions, bias=False)
        self.inner = nn.Linear(width, width)
        self.outer = nn.Linear(width, dimensions)
        self.dropout = nn.Dropout(dropout)

    def forward(self, projected: Tensor) -> Tensor:
        """Embed each graph."""
        width = projected.shape[1]
        rows = functional.normalize(projected, dim=1) * width**0.5  # about one each
        hidden = self.dropout(functional.gelu(self.inner(rows)))
        return functional.normalize(self.linear(rows) + self.outer(hidden), dim=1)


class ArchitectureEncoder(nn.Module):
    """Graphs to unit vectors: `families` dimensions tell families apart, `designs` exact designs.

    Each part begins with a linear projection of the sketch and has a length of its own, so that
    the cosine of two graphs is `1 - share` times that of the first parts and `share` times that of
    the second. The first sees the views that are blind to widths, the second sees all. How both
    are learned: `nar_plugin.train.projection`.

    Args:
        labels: The number of labels whose document frequency is known.
        width: Numbers of the first projection.
        families: Dimensions of the first part.
        designs: Dimensions of the second part.

    Shapes:
        sketches: float32[graphs, SKETCH]; result: float32[graphs, families + designs].
    """

    def __init__(
        self, labels: int, width: int = 1024, families: int = 256, designs: int = 256
    ) -> None:
        super().__init__()
        self.config = {"labels": labels, "width": width, "families": families, "designs": designs}
        self.dimensions = families + designs
        self.labels = nn.Buffer(torch.zeros(labels, dtype=torch.int64))  # the bits of uint64
        self.frequency = nn.Buffer(torch.ones(labels, dtype=torch.int32))
        self.total = nn.Buffer(torch.ones((), dtype=torch.int32))
        self.share = nn.Buffer(torch.zeros(()))
        self.widthless = nn.Linear(WIDTHLESS, width)
        self.families = Families(width, families)
        self.designs = nn.Linear(SKETCH, designs)

    def know(self, known: Frequencies, share: float) -> None:
        """Set the document frequencies, and the part of the cosine that `designs` has."""
        self.labels.copy_(torch.from_numpy(known.labels.view(np.int64)))
        self.frequency.copy_(torch.from_numpy(known.graphs))
        self.total.fill_(known.total)
        self.share.fill_(share)

    def forward(self, sketches: Tensor) -> Tensor:
        """Embed each graph."""
        first = self.families(self.widthless(sketches[:, :WIDTHLESS])) * (1 - self.share).sqrt()
        second = functional.normalize(self.designs(sketches), dim=1) * self.share.sqrt()
        return functional.normalize(torch.cat([first, second], dim=1), dim=1)

    def encode(self, graphs: Sequence[MacroGraph]) -> Tensor:
        """Unit vectors of macro graphs.

        Returns:
            float32[len(graphs), families + designs] on the CPU.
        """
        return self.encode_graphs([macro.graph for macro in graphs])

    @torch.no_grad()
    def encode_graphs(self, graphs: Sequence[ArchitectureGraph]) -> Tensor:
        """As `encode`, of graphs that need not be cut into motifs."""
        self.eval()
        device = self.share.device
        known = Frequencies(
            self.labels.cpu().numpy().view(np.uint64),
            self.frequency.cpu().numpy(),
            int(self.total),
        )
        parts = [torch.zeros(0, self.dimensions)]
        for start in range(0, len(graphs), _BATCH):
            rows = torch.from_numpy(sketch(graphs[start : start + _BATCH], known))
            parts.append(self(rows.to(device)).cpu())
        return torch.cat(parts)


def fill(layer: nn.Linear, projection: Tensor, mean: Tensor) -> None:
    """Make a layer project rows whose mean is taken off, scaled so that halves can hold it.

    Args:
        layer: From d to k numbers.
        projection: float32[d, k].
        mean: float32[d].
    """
    scaled = projection / projection.abs().max().clamp(min=1e-12)
    with torch.no_grad():
        layer.weight.copy_(scaled.T)
        layer.bias.copy_(-(mean @ scaled))
