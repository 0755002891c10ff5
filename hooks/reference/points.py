"""Point clouds, sets and voxels."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def _shared(*widths: int) -> nn.Sequential:
    """A perceptron over each point, with batch norm. Shapes: [b, c, n]."""
    layers: list[nn.Module] = []
    for a, b in itertools.pairwise(widths):
        layers += [nn.Conv1d(a, b, 1), nn.BatchNorm1d(b), nn.ReLU()]
    return nn.Sequential(*layers)


def _dense(*widths: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for a, b in itertools.pairwise(widths):
        layers += [nn.Linear(a, b), nn.BatchNorm1d(b), nn.ReLU()]
    return nn.Sequential(*layers)


class TransformNet(nn.Module):
    """A matrix for a cloud (Qi et al. 2017, section 4.2 and supplement C)."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.points, self.dense = _shared(size, 64, 128, 1024), _dense(1024, 512, 256)
        self.matrix, self.size = nn.Linear(256, size * size), size

    def forward(self, x: Tensor) -> Tensor:
        """Turn a cloud. Shapes: [b, c, n]."""
        matrix = self.matrix(self.dense(self.points(x).amax(2))).view(-1, self.size, self.size)
        return (matrix + torch.eye(self.size, device=x.device)) @ x


class PointNet(nn.Module):
    """PointNet for classification (Qi et al. 2017, figure 2 and supplement C).

    Args:
        transforms: With the two networks that align the cloud and its features.

    Shapes: [b, 3, n] to logits [b, 40].
    """

    def __init__(self, transforms: bool = True, classes: int = 40) -> None:
        super().__init__()
        self.align = TransformNet(3) if transforms else nn.Identity()
        self.first = _shared(3, 64, 64)
        self.align_features = TransformNet(64) if transforms else nn.Identity()
        self.second = _shared(64, 64, 128, 1024)
        self.head = nn.Sequential(_dense(1024, 512, 256), nn.Dropout(0.3), nn.Linear(256, classes))

    def forward(self, points: Tensor) -> Tensor:
        """Classify a cloud, whatever the order of its points."""
        x = self.align_features(self.first(self.align(points)))
        return self.head(self.second(x).amax(2))


class EdgeConv(nn.Module):
    """The maximum over a point's 20 neighbours among the features (Wang et al. 2019, section 3)."""

    def __init__(self, a: int, b: int, neighbours: int = 20) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(2 * a, b, 1, bias=False), nn.BatchNorm2d(b), nn.LeakyReLU(0.2)
        )
        self.neighbours = neighbours

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: [b, c, n] to [b, d, n]."""
        points = x.transpose(1, 2)
        near = torch.cdist(points, points).topk(self.neighbours, largest=False).indices
        batch = torch.arange(len(x), device=x.device)[:, None, None]
        around = points[batch, near]  # [b, n, k, c]
        middle = points[:, :, None].expand_as(around)
        edges = torch.cat([middle, around - middle], dim=3).permute(0, 3, 1, 2)
        return self.layers(edges).amax(3)


class DGCNN(nn.Module):
    """Dynamic graph CNN for classification (Wang et al. 2019, section 5.1).

    Shapes: [b, 3, 1024] to logits [b, 40].
    """

    def __init__(self, classes: int = 40) -> None:
        super().__init__()
        sizes = ((3, 64), (64, 64), (64, 128), (128, 256))
        self.edges = nn.ModuleList(EdgeConv(a, b) for a, b in sizes)
        self.join = nn.Sequential(
            nn.Conv1d(512, 1024, 1, bias=False), nn.BatchNorm1d(1024), nn.LeakyReLU(0.2)
        )
        layers: list[nn.Module] = []
        for a, b in ((2048, 512), (512, 256)):
            layers += [nn.Linear(a, b), nn.BatchNorm1d(b), nn.LeakyReLU(0.2), nn.Dropout(0.5)]
        self.head = nn.Sequential(*layers, nn.Linear(256, classes))

    def forward(self, points: Tensor) -> Tensor:
        """Classify a cloud; the neighbours are found anew in every layer."""
        x, features = points, []
        for layer in self.edges:
            x = layer(x)
            features.append(x)
        x = self.join(torch.cat(features, dim=1))
        return self.head(torch.cat([x.amax(2), x.mean(2)], dim=1))


class DeepSets(nn.Module):
    """Deep sets for point clouds (Zaheer et al. 2017, section 4.1.3 and appendix H).

    Three layers that subtract the maximum over the set, of 256 channels each.

    Shapes: [b, n, 3] to logits [b, 40].
    """

    def __init__(self, width: int = 256, classes: int = 40) -> None:
        super().__init__()
        sizes = (3, width, width, width)
        self.each = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(sizes))
        self.whole = nn.ModuleList(
            nn.Linear(a, b, bias=False) for a, b in itertools.pairwise(sizes)
        )
        self.head = nn.Sequential(
            nn.Dropout(0.5),
            nn.Linear(width, width),
            nn.Tanh(),
            nn.Dropout(0.5),
            nn.Linear(width, classes),
        )

    def forward(self, points: Tensor) -> Tensor:
        """Classify a set."""
        x = points
        for each, whole in zip(self.each, self.whole, strict=True):
            x = torch.tanh(each(x) - whole(x.amax(1, keepdim=True)))
        return self.head(x.amax(1))


class MultiheadBlock(nn.Module):
    """MAB(X, Y) = LN(H + rFF(H)) with H = LN(X + attention) (Lee 2019, equations 6 and 7)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.forward_each = nn.Linear(width, width)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Shapes: [b, n, d] and [b, m, d] to [b, n, d]."""
        h = self.norm1(x + self.attention(x, y, y, need_weights=False)[0])
        return self.norm2(h + F.relu(self.forward_each(h)))


class InducedBlock(nn.Module):
    """ISAB: attention through a few learned points (Lee et al. 2019, equations 9 and 10)."""

    def __init__(self, width: int, heads: int, points: int) -> None:
        super().__init__()
        self.points = nn.Parameter(torch.zeros(1, points, width))
        self.gather, self.spread = MultiheadBlock(width, heads), MultiheadBlock(width, heads)

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: [b, n, d]."""
        return self.spread(x, self.gather(self.points.expand(len(x), -1, -1), x))


class SetTransformer(nn.Module):
    """Set transformer for point clouds (Lee et al. 2019, section 3, 5.5 and table 13).

    Shapes: [b, n, 3] to logits [b, 40].
    """

    def __init__(self, width: int = 256, heads: int = 4, classes: int = 40) -> None:
        super().__init__()
        self.embed = nn.Linear(3, width)
        self.encoder = nn.Sequential(*(InducedBlock(width, heads, 16) for _ in range(2)))
        self.seed = nn.Parameter(torch.zeros(1, 1, width))
        self.pool = MultiheadBlock(width, heads)
        self.head = nn.Sequential(nn.Dropout(0.5), nn.Linear(width, classes))

    def forward(self, points: Tensor) -> Tensor:
        """Classify a set."""
        x = self.encoder(self.embed(points))
        return self.head(self.pool(self.seed.expand(len(x), -1, -1), x).squeeze(1))


class VoxNet(nn.Module):
    """VoxNet (Maturana and Scherer 2015, section III-C): C(32,5,2) C(32,3,1) P(2) FC(128) FC(K).

    Shapes: occupancy [b, 1, 32, 32, 32] to logits [b, 40].
    """

    def __init__(self, classes: int = 40) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv3d(1, 32, 5, 2),
            nn.LeakyReLU(0.1),
            nn.Conv3d(32, 32, 3),
            nn.LeakyReLU(0.1),
            nn.MaxPool3d(2),
            nn.Flatten(),
            nn.Linear(32 * 216, 128),
            nn.ReLU(),
            nn.Dropout(0.5),
            nn.Linear(128, classes),
        )

    def forward(self, voxels: Tensor) -> Tensor:
        """Classify an object."""
        return self.layers(voxels)


class FoldingNet(nn.Module):
    """FoldingNet's decoder (Yang et al. 2018, section 3.2): a grid is folded twice.

    Shapes: codeword [b, 512] to points [b, 2025, 3].
    """

    def __init__(self, code: int = 512, side: int = 45) -> None:
        super().__init__()
        self.first, self.second = self._fold(code + 2), self._fold(code + 3)
        self.side = side

    def forward(self, code: Tensor) -> Tensor:
        """Fold a square into a surface."""
        axis = torch.linspace(-0.3, 0.3, self.side, device=code.device)
        grid = torch.cartesian_prod(axis, axis).expand(len(code), -1, -1)
        codes = code[:, None].expand(-1, grid.shape[1], -1)
        once = self.first(torch.cat([codes, grid], dim=2))
        return self.second(torch.cat([codes, once], dim=2))

    @staticmethod
    def _fold(size: int) -> nn.Sequential:
        hidden = [nn.Linear(size, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU()]
        return nn.Sequential(*hidden, nn.Linear(512, 3))
