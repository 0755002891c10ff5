"""The shipped encoder: a graph's sketch, projected and put through two small networks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from nar_plugin.encoder.sizes import log_weights, waves
from nar_plugin.encoder.sketch import LABELS, SKETCH, WIDTHLESS, Frequencies, sketch
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
    """Graphs to unit vectors of four parts, each with a share of the cosine.

    `families` and `variants` are networks that bring the graphs of a family together: the first is
    blind to widths and sees walks, the second sees everything but walks, as does `designs`, a
    projection. `sizes` compares the numbers of weights. How they are learned:
    `nar_plugin.train.projection`.

    Args:
        labels: The number of labels whose document frequency is known.
        width: Numbers that either network sees.
        families: Dimensions of the first part.
        variants: Dimensions of the second part.
        designs: Dimensions of the third part.
        sizes: Dimensions of the fourth part, even.

    Shapes:
        sketches: float32[graphs, SKETCH]; logarithms: float64[graphs] (`log_weights`), on the CPU;
        result: float32[graphs, families + variants + designs + sizes].
    """

    def __init__(
        self,
        labels: int,
        width: int = 1024,
        families: int = 160,
        variants: int = 96,
        designs: int = 208,
        sizes: int = 48,
    ) -> None:
        super().__init__()
        parts = {"families": families, "variants": variants, "designs": designs, "sizes": sizes}
        self.config = {"labels": labels, "width": width, **parts}
        self.dimensions = sum(parts.values())
        self.labels = nn.Buffer(torch.zeros(labels, dtype=torch.int64))  # the bits of uint64
        self.frequency = nn.Buffer(torch.ones(labels, dtype=torch.int32))
        self.total = nn.Buffer(torch.ones((), dtype=torch.int32))
        self.shares = nn.Buffer(torch.full((len(parts),), 1 / len(parts)))
        self.widthless = nn.Linear(WIDTHLESS + SKETCH - LABELS, width)
        self.families = Families(width, families)
        self.whole = nn.Linear(LABELS, width)
        self.variants = Families(width, variants)
        self.designs = nn.Linear(LABELS, designs)

    def know(self, known: Frequencies, shares: Sequence[float]) -> None:
        """Set the document frequencies, and the share of the cosine that each part has."""
        self.labels.copy_(torch.from_numpy(known.labels.view(np.int64)))
        self.frequency.copy_(torch.from_numpy(known.graphs))
        self.total.fill_(known.total)
        self.shares.copy_(torch.tensor(shares))

    def forward(self, sketches: Tensor, logarithms: Tensor) -> Tensor:
        """Embed each graph."""
        labels = sketches[:, :LABELS]
        parts = (
            self.families(self.widthless(widthless(sketches))),
            self.variants(self.whole(labels)),
            functional.normalize(self.designs(labels), dim=1),
            waves(logarithms, self.config["sizes"]).to(sketches.device),
        )
        lengths = self.shares.sqrt()
        scaled = [part * length for part, length in zip(parts, lengths, strict=True)]
        return functional.normalize(torch.cat(scaled, dim=1), dim=1)

    def encode(self, graphs: Sequence[MacroGraph]) -> Tensor:
        """Unit vectors of macro graphs.

        Returns:
            float32[len(graphs), dimensions] on the CPU.
        """
        return self.encode_graphs([macro.graph for macro in graphs])

    @torch.no_grad()
    def encode_graphs(self, graphs: Sequence[ArchitectureGraph]) -> Tensor:
        """As `encode`, of graphs that need not be cut into motifs."""
        self.eval()
        device = self.shares.device
        known = Frequencies(
            self.labels.cpu().numpy().view(np.uint64),
            self.frequency.cpu().numpy(),
            int(self.total),
        )
        parts = [torch.zeros(0, self.dimensions, device="cpu")]
        for start in range(0, len(graphs), _BATCH):
            batch = graphs[start : start + _BATCH]
            rows = torch.from_numpy(sketch(batch, known)).to(device)
            parts.append(self(rows, torch.from_numpy(log_weights(batch))).cpu())
        return torch.cat(parts)


def widthless(sketches: Tensor) -> Tensor:
    """What of the sketches is blind to widths: two views of labels, and the walks."""
    return torch.cat([sketches[:, :WIDTHLESS], sketches[:, LABELS:]], dim=1)


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
