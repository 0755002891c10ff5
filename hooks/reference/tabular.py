"""Tables and clicks: DLRM, AutoRec, Deep Crossing, TabPFN, KAN, SELU networks, additive models."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def _relu(*widths: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for a, b in itertools.pairwise(widths):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers)


class DLRM(nn.Module):
    """DLRM (Naumov et al. 2019, section 2 and 5.1): products of all pairs of embeddings.

    Sizes as in section 5.1 for the Criteo data: 512-256-64-16 below, 512-256-1 above.

    Shapes: numbers [b, 13] and categories int64[b, 26] to [b, 1].
    """

    pairs: Tensor

    def __init__(self, rows: int = 1000, width: int = 16) -> None:
        super().__init__()
        self.bottom = _relu(13, 512, 256, 64, width)
        self.tables = nn.ModuleList(nn.Embedding(rows, width) for _ in range(26))
        self.top = nn.Sequential(_relu(width + 27 * 26 // 2, 512, 256), nn.Linear(256, 1))
        self.register_buffer("pairs", torch.tril_indices(27, 27, -1))

    def forward(self, numbers: Tensor, categories: Tensor) -> Tensor:
        """Predict a click."""
        dense = self.bottom(numbers)
        looked = [table(ids) for table, ids in zip(self.tables, categories.unbind(1), strict=True)]
        vectors = torch.stack([dense, *looked], dim=1)
        products = (vectors @ vectors.transpose(1, 2))[:, self.pairs[0], self.pairs[1]]
        return torch.sigmoid(self.top(torch.cat([dense, products], dim=1)))


class AutoRec(nn.Module):
    """I-AutoRec (Sedhain et al. 2015, section 2 and 3): an autoencoder of an item's ratings.

    500 hidden units, sigmoid, then the identity; 6,040 users as in MovieLens 1M.

    Shapes: [b, 6040] to [b, 6040].
    """

    def __init__(self, users: int = 6040, hidden: int = 500) -> None:
        super().__init__()
        self.encode, self.decode = nn.Linear(users, hidden), nn.Linear(hidden, users)

    def forward(self, ratings: Tensor) -> Tensor:
        """Fill in the ratings that are missing."""
        return self.decode(torch.sigmoid(self.encode(ratings)))


class DeepCrossing(nn.Module):
    """Deep Crossing (Shan et al. 2016, section 4 and 6): five residual units on stacked features.

    Embeddings of 256 are learned from one-hot features; the units have 512, 512, 256, 128 and 64.

    Shapes: categories int64[b, 8] and numbers [b, 16] to [b, 1].
    """

    units: Iterable[Any]  # pairs of nn.Linear

    def __init__(self, features: int = 8, rows: int = 1000, numbers: int = 16) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, 256) for _ in range(features))
        size = 256 * features + numbers
        self.units = nn.ModuleList(
            nn.ModuleList([nn.Linear(size, hidden), nn.Linear(hidden, size)])
            for hidden in (512, 512, 256, 128, 64)
        )
        self.head = nn.Linear(size, 1)

    def forward(self, categories: Tensor, numbers: Tensor) -> Tensor:
        """Predict a click."""
        looked = [table(ids) for table, ids in zip(self.tables, categories.unbind(1), strict=True)]
        x = torch.cat([*map(F.relu, looked), numbers], dim=1)
        for narrow, widen in self.units:
            x = F.relu(x + widen(F.relu(narrow(x))))
        return torch.sigmoid(self.head(x))


class TabPFN(nn.Module):
    """TabPFN of 2022 (Hollmann et al., appendix): a transformer over the rows of a table.

    Twelve layers of 512 with four heads and 1,024 hidden units. Rows to predict see the rows of the
    training alone.

    Shapes: rows [n, 1, 100] and labels of the first of them [t, 1] to logits [n - t, 1, 10].
    """

    layers: Iterable[Any]  # nn.TransformerEncoderLayer

    def __init__(self, features: int = 100, width: int = 512, layers: int = 12) -> None:
        super().__init__()
        self.of_rows, self.of_labels = nn.Linear(features, width), nn.Linear(1, width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 4, 1024, 0.0, "gelu") for _ in range(layers)
        )
        self.head = nn.Sequential(nn.Linear(width, 1024), nn.GELU(), nn.Linear(1024, 10))

    def forward(self, rows: Tensor, labels: Tensor) -> Tensor:
        """Classify the rows without a label."""
        known = len(labels)
        x = self.of_rows(rows)
        x = torch.cat([x[:known] + self.of_labels(labels[..., None]), x[known:]])
        for layer in self.layers:
            seen = layer.self_attn(x, x[:known], x[:known], need_weights=False)[0]
            x = layer.norm1(x + seen)
            x = layer.norm2(x + layer.linear2(F.gelu(layer.linear1(x))))
        return self.head(x[known:])


class KANLayer(nn.Module):
    """A function for each edge: w_b silu(x) + w_s spline(x) (Liu et al. 2024, section 2.3)."""

    knots: Tensor

    def __init__(self, a: int, b: int, grid: int, order: int) -> None:
        super().__init__()
        knots = torch.arange(-order, grid + order + 1) * (2 / grid) - 1
        self.register_buffer("knots", knots)
        self.coefficients = nn.Parameter(torch.zeros(b, a, grid + order).normal_(0, 0.1))
        self.base, self.spline = nn.Parameter(torch.ones(b, a)), nn.Parameter(torch.ones(b, a))
        self.order = order

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: [n, a] to [n, b]."""
        splines = torch.einsum("nag,bag->nba", self.basis(x), self.coefficients)
        return (self.base * F.silu(x)[:, None] + self.spline * splines).sum(2)

    def basis(self, x: Tensor) -> Tensor:
        """B-splines by the recursion of Cox and de Boor. Shapes: [n, a] to [n, a, grid + order]."""
        x, t = x[..., None], self.knots
        basis = ((x >= t[:-1]) & (x < t[1:])).to(x.dtype)
        for k in range(1, self.order + 1):
            left = (x - t[: -k - 1]) / (t[k:-1] - t[: -k - 1]) * basis[..., :-1]
            right = (t[k + 1 :] - x) / (t[k + 1 :] - t[1:-k]) * basis[..., 1:]
            basis = left + right
        return basis


class KAN(nn.Module):
    """Kolmogorov-Arnold network (Liu et al. 2024, section 2.2 and 2.3), cubic splines.

    Shapes: [n, widths[0]] to [n, widths[-1]].
    """

    def __init__(self, widths: tuple[int, ...] = (2, 5, 1), grid: int = 5, order: int = 3) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            *(KANLayer(a, b, grid, order) for a, b in itertools.pairwise(widths))
        )

    def forward(self, x: Tensor) -> Tensor:
        """Fit a formula."""
        return self.layers(x)


class SelfNormalizingNet(nn.Module):
    """Self-normalizing network (Klambauer et al. 2017, section 2 and 4): SELU, alpha dropout.

    Eight layers of 512, as found for Tox21.

    Shapes: [n, 801] to logits [n, 12].
    """

    def __init__(self, inputs: int = 801, outputs: int = 12, width: int = 512) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for a in [inputs] + [width] * 7:
            layers += [nn.Linear(a, width), nn.SELU(), nn.AlphaDropout(0.05)]
        self.layers = nn.Sequential(*layers, nn.Linear(width, outputs))

    def forward(self, x: Tensor) -> Tensor:
        """Classify a row."""
        return self.layers(x)


class ExU(nn.Module):
    """exp(w) (x - b), for jumps (Agarwal et al. 2021, section 2, equation 2)."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((units,), 3.5))
        self.bias = nn.Parameter(torch.zeros(units))

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: [n, 1] to [n, units]."""
        return torch.clamp((x - self.bias) * torch.exp(self.weight), 0, 1)


class NeuralAdditiveModel(nn.Module):
    """Neural additive model (Agarwal et al. 2021, section 2): one network for each feature.

    1,024 units with exponential weights and a capped ReLU for each, then a sum.

    Shapes: [n, 8] to [n].
    """

    def __init__(self, features: int = 8, units: int = 1024) -> None:
        super().__init__()
        self.each = nn.ModuleList(
            nn.Sequential(ExU(units), nn.Linear(units, 1, bias=False)) for _ in range(features)
        )
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        """Add up what each feature says."""
        said = [part(x[:, [number]]) for number, part in enumerate(self.each)]
        return torch.cat(said, dim=1).sum(1) + self.bias
