"""Speech and sound: networks on waveforms and on spectrograms."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class CausalConv1d(nn.Conv1d):
    """A dilated convolution that sees no later sample. Shapes: [b, c, t] to [b, d, t]."""

    def forward(self, x: Tensor) -> Tensor:
        """Pad on the left alone."""
        return super().forward(F.pad(x, ((self.kernel_size[0] - 1) * self.dilation[0], 0)))


class WaveNetLayer(nn.Module):
    """A gated activation unit with residual and skip (van den Oord 2016, equation 2, figure 4)."""

    def __init__(self, residual: int, skip: int, dilation: int) -> None:
        super().__init__()
        self.gates = CausalConv1d(residual, 2 * residual, 2, dilation=dilation)
        self.residual = nn.Conv1d(residual, residual, 1)
        self.skip = nn.Conv1d(residual, skip, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return what the next layer reads and what goes to the output. Shapes: [b, c, t]."""
        filtered, gate = self.gates(x).chunk(2, dim=1)
        z = torch.tanh(filtered) * torch.sigmoid(gate)
        return x + self.residual(z), self.skip(z)


class WaveNet(nn.Module):
    """WaveNet (van den Oord et al. 2016): dilations 1 to 512, three times, filters of length 2.

    Shapes: one-hot samples of 256 levels [b, 256, t] to logits [b, 256, t].
    """

    def __init__(self, residual: int = 64, skip: int = 256, cycles: int = 3) -> None:
        super().__init__()
        self.first = CausalConv1d(256, residual, 2)
        dilations = [2**power for power in range(10)] * cycles
        self.layers = nn.ModuleList(WaveNetLayer(residual, skip, step) for step in dilations)
        self.head = nn.Sequential(
            nn.ReLU(), nn.Conv1d(skip, 256, 1), nn.ReLU(), nn.Conv1d(256, 256, 1)
        )

    def forward(self, samples: Tensor) -> Tensor:
        """Predict the next sample at every time step."""
        x = self.first(samples)
        total = None
        for layer in self.layers:
            x, skip = layer(x)
            total = skip if total is None else total + skip
        return self.head(total)


class RawWaveConvNet(nn.Module):
    """M3, M11, M18: deep convolutions on waveforms (Dai et al. 2016, table 1).

    Args:
        groups: Width and number of layers of each group; a pooling by 4 stands between two.

    Shapes: [b, 1, 32000] to logits [b, 10].
    """

    def __init__(self, first: int, groups: Sequence[tuple[int, int]], last_pool: bool) -> None:
        super().__init__()
        layers = [*_normed(1, first, 80, 4), nn.MaxPool1d(4)]
        width = first
        for number, (own, depth) in enumerate(groups, 1):
            for _ in range(depth):
                layers += _normed(width, own, 3)
                width = own
            if number < len(groups) or last_pool:
                layers.append(nn.MaxPool1d(4))
        self.features = nn.Sequential(*layers)
        self.head = nn.Linear(width, 10)

    def forward(self, wave: Tensor) -> Tensor:
        """Classify a sound of four seconds at 8 kHz."""
        return self.head(self.features(wave).mean(2))


def _normed(a: int, b: int, kernel: int, stride: int = 1) -> list[nn.Module]:
    conv = nn.Conv1d(a, b, kernel, stride, kernel // 2, bias=False)
    return [conv, nn.BatchNorm1d(b), nn.ReLU()]


class SincConv1d(nn.Module):
    """Band-pass filters of which only the two cut-offs are learned (Ravanelli 2018, equation 4)."""

    window: Tensor
    times: Tensor

    def __init__(self, filters: int = 80, length: int = 251, rate: int = 16000) -> None:
        super().__init__()
        self.rate, self.length = rate, length
        hertz = torch.linspace(30, rate / 2 - 100, filters + 1)
        self.low = nn.Parameter(hertz[:-1, None].clone())
        self.band = nn.Parameter((hertz[1:] - hertz[:-1])[:, None].clone())
        self.register_buffer("window", torch.hamming_window(length))
        self.register_buffer("times", torch.arange(-(length // 2), length // 2 + 1) / rate)

    def forward(self, wave: Tensor) -> Tensor:
        """Filter a waveform. Shapes: [b, 1, t] to [b, filters, t - length + 1]."""
        low = self.low.abs()
        high = low + self.band.abs()
        filters = 2 * high * torch.sinc(2 * high * self.times)
        filters = filters - 2 * low * torch.sinc(2 * low * self.times)
        filters = filters / self.rate * self.window
        return F.conv1d(wave, filters[:, None])


class SincNet(nn.Module):
    """SincNet (Ravanelli and Bengio 2018, section 3.2), for 462 speakers of TIMIT.

    Shapes: 200 ms at 16 kHz [b, 1, 3200] to logits [b, 462].
    """

    def __init__(self, speakers: int = 462) -> None:
        super().__init__()
        convs: list[nn.Module] = [SincConv1d(), nn.Conv1d(80, 60, 5), nn.Conv1d(60, 60, 5)]
        steps = 3200
        layers: list[nn.Module] = []
        for conv, width, length in zip(convs, (80, 60, 60), (251, 5, 5), strict=True):
            steps = (steps - length + 1) // 3
            layers += [conv, nn.MaxPool1d(3), nn.LayerNorm([width, steps]), nn.LeakyReLU(0.2)]
        self.features = nn.Sequential(*layers, nn.Flatten(), nn.LayerNorm(60 * steps))
        dense: list[nn.Module] = []
        for width in (60 * steps, 2048, 2048):
            dense += [nn.Linear(width, 2048), nn.BatchNorm1d(2048), nn.LeakyReLU(0.2)]
        self.head = nn.Sequential(*dense, nn.Linear(2048, speakers))

    def forward(self, wave: Tensor) -> Tensor:
        """Identify the speaker."""
        return self.head(self.features(wave))


class DSCNN(nn.Module):
    """DS-CNN-S for keyword spotting (Zhang et al. 2017, "Hello Edge", section 3.5, table 8).

    Shapes: 49 frames of 10 MFCC [b, 1, 49, 10] to logits [b, 12].
    """

    def __init__(self, width: int = 64, depth: int = 4, words: int = 12) -> None:
        super().__init__()
        layers: list[nn.Module] = [
            nn.Conv2d(1, width, (10, 4), 2, (5, 1), bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
        ]
        for _ in range(depth):
            for kernel, groups in ((3, width), (1, 1)):
                conv = nn.Conv2d(width, width, kernel, 1, kernel // 2, groups=groups, bias=False)
                layers += [conv, nn.BatchNorm2d(width), nn.ReLU()]
        self.features = nn.Sequential(*layers)
        self.head = nn.Linear(width, words)

    def forward(self, mfcc: Tensor) -> Tensor:
        """Classify a second of sound."""
        return self.head(self.features(mfcc).mean((2, 3)))


class TimeDelayNet(nn.Module):
    """The time-delay network for the phonemes b, d, g (Waibel et al. 1989, figure 2).

    Shapes: 15 frames of 16 mel coefficients [b, 16, 15] to [b, 3].
    """

    def __init__(self) -> None:
        super().__init__()
        self.hidden1 = nn.Conv1d(16, 8, 3)
        self.hidden2 = nn.Conv1d(8, 3, 5)

    def forward(self, mels: Tensor) -> Tensor:
        """Sum the squared activations over time."""
        x = torch.sigmoid(self.hidden1(mels))
        return torch.sigmoid(self.hidden2(x)).square().sum(2)
