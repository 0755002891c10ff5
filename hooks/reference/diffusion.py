"""The U-Net of denoising diffusion, and flows over images."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .generative import sine_times


class ResidualBlock(nn.Module):
    """Group norm, swish and convolution, twice; the time is added between (Ho 2020, appendix B)."""

    def __init__(self, a: int, b: int, times: int) -> None:
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(32, a), nn.Conv2d(a, b, 3, padding=1)
        self.time, self.norm2 = nn.Linear(times, b), nn.GroupNorm(32, b)
        self.conv2 = nn.Conv2d(b, b, 3, padding=1)
        self.shortcut = nn.Identity() if a == b else nn.Conv2d(a, b, 1)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        """Shapes: [b, c, h, w], [b, t]."""
        h = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(time))[..., None, None]
        h = F.dropout(F.silu(self.norm2(h)), 0.1, self.training)
        return self.shortcut(x) + self.conv2(h)


class PixelAttention(nn.Module):
    """Self-attention of one head over all places."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(32, width)
        self.queries, self.keys, self.values, self.out = (
            nn.Conv2d(width, width, 1) for _ in range(4)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: [b, c, h, w]."""
        h = self.norm(x)
        q, k, v = (part(h).flatten(2) for part in (self.queries, self.keys, self.values))
        weights = (q.transpose(1, 2) @ k * q.shape[1] ** -0.5).softmax(2)
        return x + self.out((v @ weights.transpose(1, 2)).view_as(x))


class Stage(nn.Module):
    """A residual block, and an attention where the picture is 16 wide."""

    def __init__(self, a: int, b: int, times: int, attends: bool) -> None:
        super().__init__()
        self.block = ResidualBlock(a, b, times)
        self.attention = PixelAttention(b) if attends else nn.Identity()

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        """Shapes: [b, c, h, w], [b, t]."""
        return self.attention(self.block(x, time))


class DDPM(nn.Module):
    """The U-Net for CIFAR-10 of denoising diffusion models (Ho et al. 2020, appendix B).

    Shapes: noisy image [b, 3, 32, 32] and step [b] to noise [b, 3, 32, 32].
    """

    def __init__(self, width: int = 128, multiples: tuple[int, ...] = (1, 2, 2, 2)) -> None:
        super().__init__()
        times, self.width = 4 * width, width
        self.time = nn.Sequential(nn.Linear(width, times), nn.SiLU(), nn.Linear(times, times))
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.down, self.shrink, sizes, before = nn.ModuleList(), nn.ModuleList(), [width], width
        for level, multiple in enumerate(multiples):
            for _ in range(2):
                self.down.append(Stage(before, width * multiple, times, level == 1))
                before = width * multiple
                sizes.append(before)
            if level < len(multiples) - 1:
                self.shrink.append(nn.Conv2d(before, before, 3, 2))
                sizes.append(before)
        self.middle = nn.ModuleList(
            [Stage(before, before, times, True), Stage(before, before, times, False)]
        )
        self.up, self.grow = nn.ModuleList(), nn.ModuleList()
        for level, multiple in reversed(list(enumerate(multiples))):
            for _ in range(3):
                self.up.append(Stage(before + sizes.pop(), width * multiple, times, level == 1))
                before = width * multiple
            if level:
                self.grow.append(nn.Conv2d(before, before, 3, padding=1))
        self.norm, self.last = nn.GroupNorm(32, before), nn.Conv2d(before, 3, 3, padding=1)

    def forward(self, image: Tensor, step: Tensor) -> Tensor:
        """Predict the noise."""
        time = self.time(sine_times(step, self.width))
        x = self.first(image)
        skips = [x]
        for number, stage in enumerate(self.down):
            x = stage(x, time)
            skips.append(x)
            if number % 2 and number < len(self.down) - 1:
                x = self.shrink[number // 2](F.pad(x, (0, 1, 0, 1)))
                skips.append(x)
        for stage in self.middle:
            x = stage(x, time)
        for number, stage in enumerate(self.up, 1):
            x = stage(torch.cat([x, skips.pop()], dim=1), time)
            if number % 3 == 0 and number < len(self.up):
                x = self.grow[number // 3 - 1](F.interpolate(x, scale_factor=2.0))
        return self.last(F.silu(self.norm(x)))


def squeeze(x: Tensor) -> Tensor:
    """Four neighbours become channels (Dinh et al. 2017, section 3.6)."""
    return F.pixel_unshuffle(x, 2)


class GlowStep(nn.Module):
    """Actnorm, an invertible 1x1 convolution and an affine coupling (Kingma 2018, table 1)."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(channels, 1, 1))
        self.scale = nn.Parameter(torch.ones(channels, 1, 1))
        self.mix = nn.Parameter(torch.eye(channels))
        self.network = nn.Sequential(
            *(nn.Conv2d(channels // 2, width, 3, padding=1), nn.ReLU()),
            *(nn.Conv2d(width, width, 1), nn.ReLU()),
            nn.Conv2d(width, channels, 3, padding=1),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: [b, c, h, w]."""
        x = F.conv2d((x + self.shift) * self.scale, self.mix[..., None, None])
        a, b = x.chunk(2, dim=1)
        log_scale, shift = self.network(b).chunk(2, dim=1)
        return torch.cat([(a + shift) * torch.sigmoid(log_scale + 2), b], dim=1)


class Glow(nn.Module):
    """Glow for CIFAR-10 (Kingma and Dhariwal 2018, section 3, table 4): L = 3, K = 32, 512 wide.

    Shapes: [b, 3, 32, 32] to latents [b, 3072].
    """

    def __init__(self, levels: int = 3, steps: int = 32, width: int = 512) -> None:
        super().__init__()
        sizes = [12 * 2**level for level in range(levels)]
        self.levels = nn.ModuleList(
            nn.Sequential(*(GlowStep(size, width) for _ in range(steps))) for size in sizes
        )

    def forward(self, image: Tensor) -> Tensor:
        """Map an image to noise; half of the channels leave after each level."""
        x, left = image, []
        for number, level in enumerate(self.levels):
            x = level(squeeze(x))
            if number < len(self.levels) - 1:
                x, leaving = x.chunk(2, dim=1)
                left.append(leaving.flatten(1))
        return torch.cat([*left, x.flatten(1)], dim=1)


class CouplingNet(nn.Module):
    """The residual network of a coupling (Dinh et al. 2017, section 4.1): eight blocks of 64."""

    def __init__(self, channels: int, width: int = 64, blocks: int = 8) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, width, 3, padding=1)
        self.blocks = nn.ModuleList(
            nn.Sequential(
                *(nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1)),
                *(nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1)),
            )
            for _ in range(blocks)
        )
        self.last = nn.Conv2d(width, 2 * channels, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Give log-scale and shift. Shapes: [b, c, h, w]."""
        x = self.first(x)
        for block in self.blocks:
            x = x + block(x)
        scale, shift = self.last(F.relu(x)).chunk(2, dim=1)
        return torch.tanh(scale), shift


class RealNVP(nn.Module):
    """Real NVP for CIFAR-10 (Dinh et al. 2017, section 3.4 to 3.6 and 4.1).

    Three couplings with checkered masks, three with masks over channels, and four more checkered
    ones at half the size.

    Shapes: [b, 3, 32, 32] to latents [b, 3072].
    """

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.ModuleList(CouplingNet(3) for _ in range(3))
        self.second = nn.ModuleList(CouplingNet(12) for _ in range(3))
        self.third = nn.ModuleList(CouplingNet(6) for _ in range(4))

    def forward(self, image: Tensor) -> Tensor:
        """Map an image to noise; half of the channels leave after six couplings."""
        x = _coupled(image, self.first, _checkers)
        x = _coupled(squeeze(x), self.second, _channels)
        x, leaving = x.chunk(2, dim=1)
        x = _coupled(x, self.third, _checkers)
        return torch.cat([leaving.flatten(1), x.flatten(1)], dim=1)


def _coupled(x: Tensor, networks: nn.ModuleList, mask_of: object) -> Tensor:
    for number, network in enumerate(networks):
        mask = mask_of(x)  # type: ignore[operator]
        mask = 1 - mask if number % 2 else mask
        scale, shift = network(x * mask)
        x = x * mask + (1 - mask) * (x * torch.exp(scale) + shift)
    return x


def _checkers(x: Tensor) -> Tensor:
    rows, columns = (torch.arange(size, device=x.device) for size in x.shape[2:])
    return ((rows[:, None] + columns) % 2).to(x.dtype)


def _channels(x: Tensor) -> Tensor:
    half = x.shape[1] // 2
    return (torch.arange(x.shape[1], device=x.device) < half).to(x.dtype)[:, None, None]
