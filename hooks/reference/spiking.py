"""Spiking networks, trained by surrogate gradients."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Spike(torch.autograd.Function):
    """A step whose gradient is that of a fast sigmoid (Neftci et al. 2019, section "surrogate")."""

    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, x: Tensor) -> Tensor:
        """Fire above the threshold."""
        ctx.save_for_backward(x)
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, gradient: Tensor) -> Tensor:
        """1 / (1 + 100 |x|)^2."""
        (x,) = ctx.saved_tensors  # type: ignore[attr-defined]
        return gradient / (1 + 100 * x.abs()) ** 2


class SpikingMLP(nn.Module):
    """Leaky integrate-and-fire units with currents (Neftci et al. 2019, equations 5 and 6).

    Shapes: spikes [b, t, 784] to the greatest potential of each output [b, 10].
    """

    def __init__(self, hidden: int = 100, beta: float = 0.9, alpha: float = 0.8) -> None:
        super().__init__()
        self.hidden = nn.Linear(784, hidden, bias=False)
        self.output = nn.Linear(hidden, 10, bias=False)
        self.beta, self.alpha = beta, alpha

    def forward(self, spikes: Tensor) -> Tensor:
        """Classify a train of spikes."""
        currents = self.hidden(spikes)
        current = potential = torch.zeros_like(currents[:, 0])
        fired = []
        for given in currents.unbind(1):
            out = Spike.apply(potential - 1)
            current = self.alpha * current + given
            potential = (self.beta * potential + current) * (1 - out)
            fired.append(out)
        given_out = self.output(torch.stack(fired, dim=1))
        current = potential = torch.zeros_like(given_out[:, 0])
        potentials = []
        for given in given_out.unbind(1):
            current = self.alpha * current + given
            potential = self.beta * potential + current
            potentials.append(potential)
        return torch.stack(potentials, dim=1).amax(1)


class SpikingLayer(nn.Module):
    """Leaky units over time: u decays where it did not fire (Wu et al. 2018, equations 8 and 9)."""

    def __init__(self, decay: float = 0.2, threshold: float = 0.5) -> None:
        super().__init__()
        self.decay, self.threshold = decay, threshold

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: [t, b, ...]."""
        potential = fired = torch.zeros_like(x[0])
        out = []
        for given in x.unbind(0):
            potential = self.decay * potential * (1 - fired) + given
            fired = Spike.apply(potential - self.threshold)
            out.append(fired)
        return torch.stack(out)


class SpikingConvNet(nn.Module):
    """STBP for MNIST (Wu et al. 2018, section 3.2.1): 15C5-P2-40C5-P2-300-10, mean pooling.

    Shapes: spikes [t, b, 1, 28, 28] to firing rates [b, 10].
    """

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 15, 5), nn.Conv2d(15, 40, 5)
        self.fc1, self.fc2 = nn.Linear(640, 300), nn.Linear(300, 10)
        self.pool, self.fire = nn.AvgPool2d(2), SpikingLayer()

    def forward(self, spikes: Tensor) -> Tensor:
        """Classify a train of pictures."""
        x = self.fire(self._each(self.conv1, spikes))
        x = self.fire(self._each(self.pool, x))
        x = self.fire(self._each(self.conv2, x))
        x = self.fire(self._each(self.pool, x)).flatten(2)
        return self.fire(self.fc2(self.fire(self.fc1(x)))).mean(0)

    @staticmethod
    def _each(layer: nn.Module, x: Tensor) -> Tensor:
        return layer(x.flatten(0, 1)).unflatten(0, x.shape[:2])


class SpikingResNet(nn.Module):
    """SEW-ResNet (Fang et al. 2021, section 3.3 and figure 1c): spikes are added after the neuron.

    Args:
        blocks: Of the widths 64, 128, 256 and 512; (2, 2, 2, 2) is SEW-ResNet-18.

    Shapes: [t, b, 3, 224, 224] to [b, 1000].
    """

    def __init__(self, blocks: tuple[int, ...], classes: int = 1000) -> None:
        super().__init__()
        self.first = _normed(3, 64, 7, 2)
        self.fire, self.pool = SpikingLayer(), nn.MaxPool2d(3, 2, 1)
        layers, before = [], 64
        for level, depth in enumerate(blocks):
            for number in range(depth):
                width = 64 * 2**level
                layers.append(SpikingBlock(before, width, 2 if level and not number else 1))
                before = width
        self.blocks = nn.Sequential(*layers)
        self.head = nn.Linear(512, classes)

    def forward(self, images: Tensor) -> Tensor:
        """Classify an image that is shown for t steps."""
        x = self.fire(_over_time(self.first, images))
        x = self.blocks(_over_time(self.pool, x))
        return self.head(x.mean((3, 4))).mean(0)


class SpikingBlock(nn.Module):
    """Convolution and neuron, twice, and g(A, S) = A + S."""

    def __init__(self, a: int, b: int, stride: int) -> None:
        super().__init__()
        self.first, self.second = _normed(a, b, 3, stride), _normed(b, b, 3, 1)
        self.shortcut = _normed(a, b, 1, stride) if stride > 1 else None
        self.fire = SpikingLayer()

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: [t, b, c, h, w]."""
        h = self.fire(_over_time(self.first, x))
        h = self.fire(_over_time(self.second, h))
        return h + (x if self.shortcut is None else self.fire(_over_time(self.shortcut, x)))


def _normed(a: int, b: int, kernel: int, stride: int) -> nn.Sequential:
    conv = nn.Conv2d(a, b, kernel, stride, kernel // 2, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(b))


def _over_time(layer: nn.Module, x: Tensor) -> Tensor:
    return layer(x.flatten(0, 1)).unflatten(0, x.shape[:2])
