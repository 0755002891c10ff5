"""Models written by hand, to be drawn: a U-Net, and a hybrid of convolution, scan and attention."""

from itertools import pairwise

import torch
from torch import nn


class DoubleConv(nn.Module):
    """Two convolutions of 3x3."""

    def __init__(self, inside: int, out: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(inside, out, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(out)
        self.second = nn.Conv2d(out, out, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(out)
        self.act = nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """float[n, inside, h, w] to float[n, out, h, w]."""
        x = self.act(self.norm1(self.first(x)))
        return self.act(self.norm2(self.second(x)))


class OwnUNet(nn.Module):
    """The U-Net of Ronneberger, Fischer & Brox (2015) with padding, four levels deep."""

    def __init__(self, widths: tuple[int, ...] = (64, 128, 256, 512, 1024)) -> None:
        super().__init__()
        self.down = nn.ModuleList(
            DoubleConv(one, other) for one, other in zip((3, *widths), widths, strict=False)
        )
        self.pool = nn.MaxPool2d(2)
        turned = widths[::-1]
        self.up = nn.ModuleList(
            nn.ConvTranspose2d(one, other, 2, stride=2) for one, other in pairwise(turned)
        )
        self.join = nn.ModuleList(DoubleConv(2 * width, width) for width in turned[1:])
        self.head = nn.Conv2d(widths[0], 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """float[n, 3, h, w] to float[n, 2, h, w], with h and w multiples of 16."""
        kept = []
        for level, block in enumerate(self.down):
            x = block(self.pool(x) if level else x)
            kept.append(x)
        for up, join, skip in zip(self.up, self.join, kept[-2::-1], strict=True):
            x = join(torch.cat([skip, up(x)], 1))
        return self.head(x)


class ConvLayer(nn.Module):
    """A gated depthwise convolution along the sequence."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.enter = nn.Linear(width, 2 * width)
        self.conv = nn.Conv1d(width, width, 5, padding=2, groups=width)
        self.leave = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """float[n, length, width] to the same."""
        value, gate = self.enter(self.norm(x)).chunk(2, -1)
        value = self.conv(value.transpose(1, 2)).transpose(1, 2)
        return x + self.leave(value * torch.sigmoid(gate))


class AttentionLayer(nn.Module):
    """Attention and a feed-forward part, each after its norm."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.feed = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """float[n, length, width] to the same."""
        n, length, width = x.shape
        parts = self.qkv(self.norm1(x)).view(n, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(*parts.unbind(0))
        x = x + self.out(mixed.transpose(1, 2).reshape(n, length, width))
        return x + self.feed(self.norm2(x))


class OwnHybrid(nn.Module):
    """Three convolutional layers, then one of attention, six times over."""

    def __init__(self, width: int = 256) -> None:
        super().__init__()
        self.embed = nn.Embedding(32_000, width)
        self.layers = nn.ModuleList(
            AttentionLayer(width, 8) if number % 4 == 3 else ConvLayer(width)
            for number in range(24)
        )
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 32_000)

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        """int64[n, length] to float[n, length, 32000]."""
        x = self.embed(input_ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))
