"""Vocoders and other generators of waveforms."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.parametrizations import weight_norm


class MelGANBlock(nn.Module):
    """A residual block of a dilated convolution (Kumar 2019, figure 1 and appendix A)."""

    def __init__(self, width: int, dilation: int) -> None:
        super().__init__()
        self.block = nn.Sequential(
            nn.LeakyReLU(0.2),
            nn.ReflectionPad1d(dilation),
            weight_norm(nn.Conv1d(width, width, 3, dilation=dilation)),
            nn.LeakyReLU(0.2),
            weight_norm(nn.Conv1d(width, width, 1)),
        )
        self.shortcut = weight_norm(nn.Conv1d(width, width, 1))

    def forward(self, x: Tensor) -> Tensor:
        """Add the block to the shortcut. Shapes: [b, c, t]."""
        return self.shortcut(x) + self.block(x)


class MelGANGenerator(nn.Module):
    """MelGAN's generator (Kumar et al. 2019): 8, 8, 2 and 2 times as many steps.

    Shapes: log-mel spectrogram [b, 80, t] to waveform [b, 1, 256 t].
    """

    def __init__(self, mels: int = 80, width: int = 512) -> None:
        super().__init__()
        layers: list[nn.Module] = [
            nn.ReflectionPad1d(3),
            weight_norm(nn.Conv1d(mels, width, 7)),
        ]
        for stride in (8, 8, 2, 2):
            up = nn.ConvTranspose1d(
                width, width // 2, 2 * stride, stride, stride // 2 + stride % 2, stride % 2
            )
            width //= 2
            layers += [nn.LeakyReLU(0.2), weight_norm(up)]
            layers += [MelGANBlock(width, 3**power) for power in range(3)]
        layers += [
            nn.LeakyReLU(0.2),
            nn.ReflectionPad1d(3),
            weight_norm(nn.Conv1d(width, 1, 7)),
            nn.Tanh(),
        ]
        self.layers = nn.Sequential(*layers)

    def forward(self, mels: Tensor) -> Tensor:
        """Turn a spectrogram into a waveform."""
        return self.layers(mels)


class WaveGANGenerator(nn.Module):
    """WaveGAN's generator (Donahue 2018, table 3): filters of length 25, four times the steps."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.width = width
        self.dense = nn.Linear(100, 256 * width)
        widths = [16 * width, 8 * width, 4 * width, 2 * width, width, 1]
        self.ups = nn.ModuleList(
            nn.ConvTranspose1d(a, b, 25, 4, padding=11, output_padding=1)
            for a, b in itertools.pairwise(widths)
        )

    def forward(self, noise: Tensor) -> Tensor:
        """Shapes: [b, 100] to waveform [b, 1, 16384]."""
        x = self.dense(noise).view(len(noise), 16 * self.width, 16)
        for up in self.ups:
            x = up(F.relu(x))
        return torch.tanh(x)


class InvertibleMixing(nn.Module):
    """WaveGlow's step: an invertible 1x1 convolution and an affine coupling (Prenger 2018)."""

    def __init__(self, channels: int, width: int, mels: int, layers: int = 8) -> None:
        super().__init__()
        self.mix = nn.Conv1d(channels, channels, 1, bias=False)
        self.start = weight_norm(nn.Conv1d(channels // 2, width, 1))
        self.condition = weight_norm(nn.Conv1d(mels * 8, 2 * width * layers, 1))
        self.dilated = nn.ModuleList(
            weight_norm(nn.Conv1d(width, 2 * width, 3, padding=2**k, dilation=2**k))
            for k in range(layers)
        )
        sizes = [2 * width] * (layers - 1) + [width]
        self.out = nn.ModuleList(weight_norm(nn.Conv1d(width, size, 1)) for size in sizes)
        self.end = nn.Conv1d(width, channels, 1)
        self.width = width

    def forward(self, x: Tensor, mels: Tensor) -> Tensor:
        """Shapes: [b, c, t] and [b, 640, t] to [b, c, t]."""
        kept, moved = self.mix(x).chunk(2, dim=1)
        h, total = self.start(kept), torch.zeros_like(self.start(kept))
        conditions = self.condition(mels).chunk(len(self.out), dim=1)
        for conv, out, condition in zip(self.dilated, self.out, conditions, strict=True):
            a, b = (conv(h) + condition).chunk(2, dim=1)
            z = out(torch.tanh(a) * torch.sigmoid(b))
            if z.shape[1] == self.width:
                total = total + z
            else:
                h, total = h + z[:, : self.width], total + z[:, self.width :]
        shift, scale = self.end(total).chunk(2, dim=1)
        return torch.cat([kept, moved * torch.exp(scale) + shift], dim=1)


class WaveGlow(nn.Module):
    """WaveGlow (Prenger et al. 2018, section 3): 12 couplings, 2 channels leave after every 4.

    The paper has 512 channels; the published weights, which others count, have 256.

    Shapes: waveform [b, 256 n] and mel spectrogram [b, 80, n] to latents [b, 8, 32 n].
    """

    def __init__(self, width: int = 256, mels: int = 80) -> None:
        super().__init__()
        self.upsample = nn.ConvTranspose1d(mels, mels, 1024, 256)
        left = [8 - 2 * (step // 4) for step in range(12)]
        self.steps = nn.ModuleList(InvertibleMixing(size, width, mels) for size in left)

    def forward(self, wave: Tensor, mels: Tensor) -> Tensor:
        """Map a waveform to noise."""
        condition = self.upsample(mels)[:, :, : wave.shape[1]]
        condition = condition.unfold(2, 8, 8).transpose(2, 3).flatten(1, 2)
        x, early = wave.unfold(1, 8, 8).transpose(1, 2), []
        for number, step in enumerate(self.steps):
            if number and number % 4 == 0:
                early.append(x[:, :2])
                x = x[:, 2:]
            x = step(x, condition)
        return torch.cat([*early, x], dim=1)
