"""The operations that the three search spaces share."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def image_stem(width: int) -> nn.Sequential:
    """What comes before the first cell: a 3x3 convolution of the image, batch norm."""
    return nn.Sequential(nn.Conv2d(3, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))


def conv_bn(wide_in: int, wide_out: int, kernel: int, affine: bool = True) -> nn.Sequential:
    """ReLU, a convolution that keeps the positions, batch norm."""
    return nn.Sequential(
        nn.ReLU(),
        nn.Conv2d(wide_in, wide_out, kernel, padding=kernel // 2, bias=False),
        nn.BatchNorm2d(wide_out, affine=affine),
    )


def separable(width: int, kernel: int, stride: int, dilation: int, affine: bool) -> nn.Sequential:
    """ReLU, a convolution of each channel, one of each point, batch norm."""
    around = dilation * (kernel // 2)
    return nn.Sequential(
        nn.ReLU(),
        nn.Conv2d(*(width, width, kernel, stride, around, dilation), groups=width, bias=False),
        nn.Conv2d(width, width, 1, bias=False),
        nn.BatchNorm2d(width, affine=affine),
    )


class HalvedPositions(nn.Module):
    """Two convolutions of one point, over the even and the odd positions, concatenated.

    The skip connection of a reduction cell: "factorized reduction" of ENAS and DARTS.

    Shapes:
        images: float32[n, wide_in, 2h, 2w]; result: float32[n, wide_out, h, w].
    """

    def __init__(self, wide_in: int, wide_out: int, affine: bool = True) -> None:
        super().__init__()
        half = wide_out // 2
        self.even = nn.Conv2d(wide_in, half, 1, stride=2, bias=False)
        self.odd = nn.Conv2d(wide_in, wide_out - half, 1, stride=2, bias=False)
        self.norm = nn.BatchNorm2d(wide_out, affine=affine)

    def forward(self, images: Tensor) -> Tensor:
        """The images at half the size."""
        images = torch.relu(images)
        halves = torch.cat([self.even(images), self.odd(images[:, :, 1:, 1:])], dim=1)
        result: Tensor = self.norm(halves)
        return result


def average_pool(stride: int = 1) -> nn.AvgPool2d:
    """Over 3x3 positions, those outside not counted."""
    return nn.AvgPool2d(3, stride, 1, count_include_pad=False)
