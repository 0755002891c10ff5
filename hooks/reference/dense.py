"""Restoration and segmentation: an image or a volume from another."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class FSRCNN(nn.Module):
    """FSRCNN(56, 12, 4), three times larger (Dong et al. 2016, section 3.2 and 4.2).

    Shapes: [b, 1, h, w] to [b, 1, 3 h, 3 w].
    """

    def __init__(self, d: int = 56, s: int = 12, m: int = 4, scale: int = 3) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Conv2d(1, d, 5, padding=2), nn.PReLU(d)]
        layers += [nn.Conv2d(d, s, 1), nn.PReLU(s)]
        for _ in range(m):
            layers += [nn.Conv2d(s, s, 3, padding=1), nn.PReLU(s)]
        layers += [nn.Conv2d(s, d, 1), nn.PReLU(d)]
        up = nn.ConvTranspose2d(d, 1, 9, scale, 4, output_padding=scale - 1)
        self.layers = nn.Sequential(*layers, up)

    def forward(self, image: Tensor) -> Tensor:
        """Enlarge the luminance of an image."""
        return self.layers(image)


class DRRN(nn.Module):
    """DRRN_B1U25 (Tai et al. 2017, section 3): 25 residual units of one pair of weights.

    Shapes: an image that was enlarged before, [b, 1, h, w] to [b, 1, h, w].
    """

    def __init__(self, width: int = 128, units: int = 25) -> None:
        super().__init__()
        self.first, self.last = _activated(1, width), _activated(width, 1)
        self.unit = nn.Sequential(_activated(width, width), _activated(width, width))
        self.units = units

    def forward(self, image: Tensor) -> Tensor:
        """Add details."""
        start = x = self.first(image)
        for _ in range(self.units):
            x = start + self.unit(x)
        return image + self.last(x)


def _activated(a: int, b: int) -> nn.Sequential:
    """Batch norm and ReLU before the convolution."""
    return nn.Sequential(nn.BatchNorm2d(a), nn.ReLU(), nn.Conv2d(a, b, 3, padding=1, bias=False))


class MemNet(nn.Module):
    """MemNet_M6R6 (Tai et al. 2017, section 3 and 5): six memory blocks of six recursions.

    The gate of a block reads its six recursions and the outputs of all blocks before. (The
    supervised outputs of every block are left out, as in table 2's basic network.)

    Shapes: [b, 1, h, w] to [b, 1, h, w].
    """

    def __init__(self, width: int = 64, blocks: int = 6, recursions: int = 6) -> None:
        super().__init__()
        self.first, self.last = _activated(1, width), _activated(width, 1)
        self.units = nn.ModuleList(
            nn.Sequential(_activated(width, width), _activated(width, width)) for _ in range(blocks)
        )
        self.gates = nn.ModuleList(
            nn.Sequential(
                nn.BatchNorm2d((recursions + number) * width),
                nn.ReLU(),
                nn.Conv2d((recursions + number) * width, width, 1, bias=False),
            )
            for number in range(1, blocks + 1)
        )
        self.recursions = recursions

    def forward(self, image: Tensor) -> Tensor:
        """Restore an image."""
        x = self.first(image)
        long = [x]
        for unit, gate in zip(self.units, self.gates, strict=True):
            short = []
            for _ in range(self.recursions):
                x = x + unit(x)
                short.append(x)
            x = gate(torch.cat([*short, *long], dim=1))
            long.append(x)
        return image + self.last(x)


class TransformNet(nn.Module):
    """The image transformation network of perceptual losses (Johnson et al. 2016, supplement 1).

    Shapes: [b, 3, 256, 256] to [b, 3, 256, 256].
    """

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Sequential(
            nn.ReflectionPad2d(40),
            *_block(nn.Conv2d(3, 32, 9, 1, 4)),
            *_block(nn.Conv2d(32, 64, 3, 2, 1)),
            *_block(nn.Conv2d(64, 128, 3, 2, 1)),
        )
        self.residual = nn.ModuleList(
            nn.Sequential(*_block(nn.Conv2d(128, 128, 3)), *_block(nn.Conv2d(128, 128, 3))[:2])
            for _ in range(5)
        )
        self.up = nn.Sequential(
            *_block(nn.ConvTranspose2d(128, 64, 3, 2, 1, 1)),
            *_block(nn.ConvTranspose2d(64, 32, 3, 2, 1, 1)),
            nn.Conv2d(32, 3, 9, 1, 4),
            nn.Tanh(),
        )

    def forward(self, image: Tensor) -> Tensor:
        """Paint an image in the style that was learned."""
        x = self.down(image)
        for block in self.residual:
            x = x[:, :, 2:-2, 2:-2] + block(x)
        return self.up(x)


def _block(conv: nn.Conv2d | nn.ConvTranspose2d) -> list[nn.Module]:
    return [conv, nn.BatchNorm2d(conv.out_channels), nn.ReLU()]


class UNet2015(nn.Module):
    """U-Net as first published (Ronneberger et al. 2015, figure 1), without padding.

    Shapes: [b, 1, 572, 572] to logits [b, 2, 388, 388].
    """

    def __init__(self) -> None:
        super().__init__()
        widths = (64, 128, 256, 512, 1024)
        self.down = nn.ModuleList(_twice(a, b) for a, b in zip((1, *widths), widths, strict=False))
        self.up = nn.ModuleList(
            nn.ConvTranspose2d(2 * width, width, 2, 2) for width in widths[-2::-1]
        )
        self.join = nn.ModuleList(_twice(2 * width, width) for width in widths[-2::-1])
        self.head = nn.Conv2d(64, 2, 1)

    def forward(self, image: Tensor) -> Tensor:
        """Segment the middle of an image."""
        x, skips = image, []
        for number, block in enumerate(self.down):
            x = block(F.max_pool2d(x, 2) if number else x)
            skips.append(x)
        for up, block, skip in zip(self.up, self.join, skips[-2::-1], strict=True):
            x = up(x)
            edge = (skip.shape[2] - x.shape[2]) // 2
            side = slice(edge, edge + x.shape[2])
            x = block(torch.cat([skip[:, :, side, side], x], dim=1))
        return self.head(x)


def _twice(a: int, b: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(a, b, 3), nn.ReLU(), nn.Conv2d(b, b, 3), nn.ReLU())


class UNet3D(nn.Module):
    """3D U-Net (Cicek et al. 2016, section 2 and figure 2): batch norm before each ReLU.

    Shapes: [b, 3, 116, 132, 132] to logits [b, 3, 28, 44, 44].
    """

    def __init__(self) -> None:
        super().__init__()
        sizes = ((3, 32, 64), (64, 64, 128), (128, 128, 256), (256, 256, 512))
        self.down = nn.ModuleList(_volumes(*three) for three in sizes)
        self.up = nn.ModuleList(
            nn.ConvTranspose3d(width, width, 2, 2, bias=False) for width in (512, 256, 128)
        )
        self.join = nn.ModuleList(
            _volumes(a + b, b, b) for a, b in ((512, 256), (256, 128), (128, 64))
        )
        self.head = nn.Conv3d(64, 3, 1)

    def forward(self, volume: Tensor) -> Tensor:
        """Segment the middle of a volume."""
        x, skips = volume, []
        for number, block in enumerate(self.down):
            x = block(F.max_pool3d(x, 2) if number else x)
            skips.append(x)
        for up, block, skip in zip(self.up, self.join, skips[-2::-1], strict=True):
            x = up(x)
            for axis in (2, 3, 4):
                edge = (skip.shape[axis] - x.shape[axis]) // 2
                skip = skip.narrow(axis, edge, x.shape[axis])
            x = block(torch.cat([skip, x], dim=1))
        return self.head(x)


def _volumes(a: int, b: int, c: int) -> nn.Sequential:
    first = [nn.Conv3d(a, b, 3), nn.BatchNorm3d(b), nn.ReLU()]
    return nn.Sequential(*first, nn.Conv3d(b, c, 3), nn.BatchNorm3d(c), nn.ReLU())
