"""Detection, tracking, edges and learning from few examples."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class YOLOv1(nn.Module):
    """YOLO (Redmon et al. 2015, figure 3): 24 convolutions and two dense layers.

    Shapes: [b, 3, 448, 448] to [b, 7, 7, 30].
    """

    PLAN = (
        *((64, 7, 2), "pool", (192, 3, 1), "pool"),
        *((128, 1, 1), (256, 3, 1), (256, 1, 1), (512, 3, 1), "pool"),
        *((256, 1, 1), (512, 3, 1)) * 4,
        *((512, 1, 1), (1024, 3, 1), "pool"),
        *((512, 1, 1), (1024, 3, 1)) * 2,
        *((1024, 3, 1), (1024, 3, 2), (1024, 3, 1), (1024, 3, 1)),
    )

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        before = 3
        for item in self.PLAN:
            if isinstance(item, str):
                layers.append(nn.MaxPool2d(2))
                continue
            width, kernel, stride = item
            layers += [nn.Conv2d(before, width, kernel, stride, kernel // 2), nn.LeakyReLU(0.1)]
            before = width
        self.features = nn.Sequential(*layers, nn.Flatten())
        self.head = nn.Sequential(
            nn.Linear(49 * 1024, 4096), nn.LeakyReLU(0.1), nn.Dropout(0.5), nn.Linear(4096, 1470)
        )

    def forward(self, image: Tensor) -> Tensor:
        """Give two boxes and 20 classes for each cell of a 7x7 grid."""
        return self.head(self.features(image)).view(-1, 7, 7, 30)


class MTCNNStage(nn.Module):
    """P-Net, R-Net and O-Net of MTCNN (Zhang et al. 2016, figure 2).

    Shapes: [b, 3, s, s] to face logits, box and landmarks; of P-Net for every place.
    """

    def __init__(self, plan: list[tuple[int, int, int]], dense: int, flat: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        before = 3
        for width, kernel, pool in plan:
            layers += [nn.Conv2d(before, width, kernel), nn.PReLU(width)]
            layers += [nn.MaxPool2d(pool, 2, ceil_mode=True)] * bool(pool)
            before = width
        if dense:
            layers += [nn.Flatten(), nn.Linear(flat, dense), nn.PReLU(dense)]
        self.features = nn.Sequential(*layers)
        self.heads = nn.ModuleList(
            nn.Linear(dense, size) if dense else nn.Conv2d(before, size, 1) for size in (2, 4, 10)
        )

    def forward(self, image: Tensor) -> tuple[Tensor, ...]:
        """Say whether there is a face, where it is, and where eyes, nose and mouth are."""
        x = self.features(image)
        return tuple(head(x) for head in self.heads)


class SiamFC(nn.Module):
    """Fully-convolutional Siamese tracker (Bertinetto et al. 2016, section 2 and table 1).

    Shapes: exemplar [b, 3, 127, 127] and search image [b, 3, 255, 255] to scores [b, 1, 17, 17].
    """

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            *(nn.Conv2d(3, 96, 11, 2), nn.BatchNorm2d(96), nn.ReLU(), nn.MaxPool2d(3, 2)),
            *(nn.Conv2d(96, 256, 5, groups=2), nn.BatchNorm2d(256), nn.ReLU(), nn.MaxPool2d(3, 2)),
            *(nn.Conv2d(256, 384, 3), nn.BatchNorm2d(384), nn.ReLU()),
            *(nn.Conv2d(384, 384, 3, groups=2), nn.BatchNorm2d(384), nn.ReLU()),
            nn.Conv2d(384, 256, 3, groups=2),
        )
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, exemplar: Tensor, search: Tensor) -> Tensor:
        """Compare the exemplar with every place."""
        kernel, x = self.features(exemplar), self.features(search)
        scores = F.conv2d(x.flatten(0, 1)[None], kernel, groups=len(kernel))
        return scores.transpose(0, 1) + self.bias


class HED(nn.Module):
    """Holistically-nested edges (Xie and Tu 2015, figure 3): VGG-16 with five side outputs.

    Shapes: [b, 3, h, w] to six edge maps [b, 1, h, w], the fused one last.
    """

    def __init__(self) -> None:
        super().__init__()
        stages, before = [], 3
        for number, (width, depth) in enumerate(((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))):
            layers: list[nn.Module] = [nn.MaxPool2d(2)] * bool(number)
            for _ in range(depth):
                layers += [nn.Conv2d(before, width, 3, padding=1), nn.ReLU()]
                before = width
            stages.append(nn.Sequential(*layers))
        self.stages = nn.ModuleList(stages)
        self.sides = nn.ModuleList(nn.Conv2d(width, 1, 1) for width in (64, 128, 256, 512, 512))
        self.fuse = nn.Conv2d(5, 1, 1)

    def forward(self, image: Tensor) -> list[Tensor]:
        """Find edges at five scales, and from all of them."""
        x, sides = image, []
        for stage, side in zip(self.stages, self.sides, strict=True):
            x = stage(x)
            sides.append(F.interpolate(side(x), image.shape[2:], mode="bilinear"))
        return [torch.sigmoid(edge) for edge in (*sides, self.fuse(torch.cat(sides, dim=1)))]


class SiameseNet(nn.Module):
    """Siamese network for one-shot recognition (Koch et al. 2015, figure 4).

    Shapes: two drawings [b, 1, 105, 105] to the logit that they are of one letter [b, 1].
    """

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        before = 1
        for width, kernel in ((64, 10), (128, 7), (128, 4), (256, 4)):
            layers += [nn.Conv2d(before, width, kernel), nn.ReLU(), nn.MaxPool2d(2)]
            before = width
        self.embed = nn.Sequential(
            *layers[:-1], nn.Flatten(), nn.Linear(256 * 36, 4096), nn.Sigmoid()
        )
        self.head = nn.Linear(4096, 1)

    def forward(self, one: Tensor, other: Tensor) -> Tensor:
        """Compare two drawings."""
        return self.head((self.embed(one) - self.embed(other)).abs())


def _conv4(channels: int, width: int, pools: tuple[int, ...], pad: int = 1) -> nn.Sequential:
    """Four blocks of convolution, batch norm, ReLU and pooling, as all few-shot papers have."""
    layers: list[nn.Module] = []
    for pool in pools:
        layers += [nn.Conv2d(channels, width, 3, padding=pad), nn.BatchNorm2d(width), nn.ReLU()]
        layers += [nn.MaxPool2d(2)] * pool
        channels = width
    return nn.Sequential(*layers)


class PrototypicalNet(nn.Module):
    """Prototypical network (Snell et al. 2017, section 2 and 3): the nearest mean of a class.

    Shapes: support [ways, shots, 3, 84, 84] and queries [q, 3, 84, 84] to logits [q, ways].
    """

    def __init__(self) -> None:
        super().__init__()
        self.embed = _conv4(3, 64, (1, 1, 1, 1))

    def forward(self, support: Tensor, queries: Tensor) -> Tensor:
        """Classify each query among the ways."""
        ways, shots = support.shape[:2]
        known = self.embed(support.flatten(0, 1)).flatten(1).view(ways, shots, -1).mean(1)
        asked = self.embed(queries).flatten(1)
        return -(asked[:, None] - known).square().sum(2)


class FewShotRelationNet(nn.Module):
    """Learning to compare (Sung et al. 2018, section 3.4 and figure 2): a learned likeness.

    Shapes: support [ways, shots, 3, 84, 84] and queries [q, 3, 84, 84] to scores [q, ways].
    """

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Sequential(_conv4(3, 64, (1, 1), 0), _conv4(64, 64, (0, 0)))
        self.compare = nn.Sequential(_conv4(128, 64, (1,), 0), _conv4(64, 64, (1,), 0))
        self.head = nn.Sequential(nn.Linear(64 * 9, 8), nn.ReLU(), nn.Linear(8, 1), nn.Sigmoid())

    def forward(self, support: Tensor, queries: Tensor) -> Tensor:
        """Compare each query with the sum of each way."""
        ways, shots = support.shape[:2]
        known = self.embed(support.flatten(0, 1)).unflatten(0, (ways, shots)).sum(1)
        asked = self.embed(queries)
        pairs = torch.cat(
            [
                known.expand(len(asked), -1, -1, -1, -1),
                asked[:, None].expand(-1, ways, -1, -1, -1),
            ],
            dim=2,
        )
        scores = self.head(self.compare(pairs.flatten(0, 1)).flatten(1))
        return scores.view(len(asked), ways)
