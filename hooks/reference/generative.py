"""Generative models: adversarial, variational, autoregressive, diffusion."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class MaskedConv2d(nn.Conv2d):
    """A convolution that sees what stands above and to the left (van den Oord 2016).

    Args:
        kind: `A` hides the pixel itself, `B` does not.
    """

    mask: Tensor

    def __init__(self, kind: str, a: int, b: int, kernel: int) -> None:
        super().__init__(a, b, kernel, padding=kernel // 2)
        mask = torch.ones(kernel, kernel)
        middle = kernel // 2
        mask[middle, middle + (kind == "B") :] = 0
        mask[middle + 1 :] = 0
        self.register_buffer("mask", mask)

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: [b, c, h, w]."""
        return F.conv2d(x, self.weight * self.mask, self.bias, padding=self.padding)


class PixelCNN(nn.Module):
    """PixelCNN (van den Oord et al. 2016, "Pixel recurrent neural networks", section 3.5, table 1).

    A masked 7x7 convolution, 15 residual blocks with h = 128, two layers of 1x1.

    Shapes: [b, 3, 32, 32] to logits [b, 256, 3, 32, 32]. (The three colours of a pixel are
    predicted together; the paper also masks between them.)
    """

    def __init__(self, h: int = 128, blocks: int = 15) -> None:
        super().__init__()
        self.first = MaskedConv2d("A", 3, 2 * h, 7)
        self.blocks = nn.ModuleList(
            nn.Sequential(
                *(nn.ReLU(), nn.Conv2d(2 * h, h, 1)),
                *(nn.ReLU(), MaskedConv2d("B", h, h, 3)),
                *(nn.ReLU(), nn.Conv2d(h, 2 * h, 1)),
            )
            for _ in range(blocks)
        )
        self.head = nn.Sequential(
            *(nn.ReLU(), nn.Conv2d(2 * h, 1024, 1), nn.ReLU(), nn.Conv2d(1024, 768, 1))
        )

    def forward(self, image: Tensor) -> Tensor:
        """Predict each pixel from those before it."""
        x = self.first(image)
        for block in self.blocks:
            x = x + block(x)
        return self.head(x).unflatten(1, (256, 3))


class GatedPixelLayer(nn.Module):
    """A layer of the gated PixelCNN: a vertical and a horizontal stack (figure 2)."""

    def __init__(self, width: int, kernel: int, first: bool) -> None:
        super().__init__()
        self.pad = kernel // 2
        self.down = nn.Conv2d(width, 2 * width, (kernel // 2 + 1, kernel))
        self.right = nn.Conv2d(width, 2 * width, (1, kernel // 2 + (not first)))
        self.link, self.out = nn.Conv2d(2 * width, 2 * width, 1), nn.Conv2d(width, width, 1)
        self.first = first

    def forward(self, v: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        """Shapes: [b, c, h, w] twice."""
        p, height, width = self.pad, *v.shape[2:]
        rows = self.down(F.pad(v, (p, p, p + 1, 0)))
        above = rows[:, :, :height]  # of the rows above alone
        left = F.pad(h, (p, 0, 0, 0))
        x = self.right(left)[:, :, :, :width] + self.link(above)
        new = self.out(_gate(x))
        return _gate(rows[:, :, 1:]), new if self.first else h + new


def _gate(x: Tensor) -> Tensor:
    a, b = x.chunk(2, dim=1)
    return torch.tanh(a) * torch.sigmoid(b)


class GatedPixelCNN(nn.Module):
    """Gated PixelCNN (van den Oord et al. 2016, section 2 and 3.1): 20 layers of 384 maps, 5x5.

    Shapes: [b, 3, 32, 32] to logits [b, 256, 3, 32, 32].
    """

    def __init__(self, width: int = 384, layers: int = 20, kernel: int = 5) -> None:
        super().__init__()
        self.embed = nn.Conv2d(3, width, 1)
        self.layers = nn.ModuleList(GatedPixelLayer(width, kernel, not n) for n in range(layers))
        self.head = nn.Sequential(
            *(nn.ReLU(), nn.Conv2d(width, width, 1), nn.ReLU(), nn.Conv2d(width, 768, 1))
        )

    def forward(self, image: Tensor) -> Tensor:
        """Predict each pixel from those before it."""
        v = h = self.embed(image)
        for layer in self.layers:
            v, h = layer(v, h)
        return self.head(h).unflatten(1, (256, 3))


class MADE(nn.Module):
    """Masked autoencoder (Germain et al. 2015, section 4): outputs see the inputs before them.

    Shapes: [b, d] to [b, outputs d].
    """

    layers: Iterable[Any]  # nn.Linear

    def __init__(self, d: int = 784, hidden: tuple[int, ...] = (8000,), outputs: int = 1) -> None:
        super().__init__()
        sizes = [d, *hidden, outputs * d]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(sizes))
        degrees = [torch.arange(d), *(torch.arange(size) % (d - 1) for size in hidden)]
        last = torch.arange(d).repeat(outputs) - 1
        for number, (a, b) in enumerate(zip(degrees, [*degrees[1:], last], strict=True)):
            self.register_buffer(f"mask{number}", (b[:, None] >= a).float())

    def forward(self, x: Tensor) -> Tensor:
        """Predict each input from those before it."""
        for number, layer in enumerate(self.layers):
            x = F.relu(x) if number else x
            x = F.linear(x, layer.weight * getattr(self, f"mask{number}"), layer.bias)
        return x


class MaskedFlow(nn.Module):
    """Masked autoregressive flow (Papamakarios et al. 2017, section 3.1 and 4.2): five MADEs.

    Shapes: [b, d] to noise [b, d] and log-determinants [b].
    """

    def __init__(self, d: int = 63, hidden: int = 512, layers: int = 5) -> None:
        super().__init__()
        self.layers = nn.ModuleList(MADE(d, (hidden, hidden), 2) for _ in range(layers))
        self.norms = nn.ModuleList(nn.BatchNorm1d(d) for _ in range(layers))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Map data to noise; the order of the inputs turns round after each layer."""
        total = x.new_zeros(len(x))
        for layer, norm in zip(self.layers, self.norms, strict=True):
            mean, scale = layer(x).chunk(2, dim=1)
            x = norm((x - mean) * torch.exp(-scale)).flip(1)
            total = total - scale.sum(1)
        return x, total


class NICE(nn.Module):
    """NICE for MNIST (Dinh et al. 2014, section 3 and 5): four additive couplings of five layers.

    Shapes: [b, 784] to [b, 784].
    """

    def __init__(self, d: int = 784, width: int = 1000, layers: int = 5) -> None:
        super().__init__()
        self.couplings = nn.ModuleList()
        for _ in range(4):
            sizes = [d // 2] + [width] * layers
            dense: list[nn.Module] = []
            for a, b in itertools.pairwise(sizes):
                dense += [nn.Linear(a, b), nn.ReLU()]
            self.couplings.append(nn.Sequential(*dense, nn.Linear(width, d // 2)))
        self.scale = nn.Parameter(torch.zeros(d))

    def forward(self, x: Tensor) -> Tensor:
        """Map an image to independent numbers."""
        a, b = x[:, ::2], x[:, 1::2]
        for coupling in self.couplings:
            a, b = b + coupling(a), a
        return torch.cat([a, b], dim=1) * torch.exp(self.scale)

    def inverse(self, z: Tensor) -> Tensor:
        """Map numbers to an image. Shapes: [b, 784]."""
        a, b = (z * torch.exp(-self.scale)).chunk(2, dim=1)
        for coupling in reversed(self.couplings):
            a, b = b, a - coupling(b)
        return torch.stack([a, b], dim=2).flatten(1)


class VariationalAutoencoder(nn.Module):
    """The first variational autoencoder (Kingma and Welling 2013, section 5, appendix C): MNIST.

    500 hidden units of tanh on either side, 20 latent numbers.

    Shapes: [b, 784] to logits [b, 784], mean and log-variance [b, 20].
    """

    def __init__(self, d: int = 784, hidden: int = 500, latent: int = 20) -> None:
        super().__init__()
        self.encode, self.decode = nn.Linear(d, hidden), nn.Linear(latent, hidden)
        self.mean, self.spread = nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        self.out = nn.Linear(hidden, d)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Reconstruct an image from a sample."""
        h = torch.tanh(self.encode(image))
        mean, spread = self.mean(h), self.spread(h)
        z = mean + torch.exp(0.5 * spread) * torch.randn_like(mean)
        return self.out(torch.tanh(self.decode(z))), mean, spread


class DRAW(nn.Module):
    """DRAW with attention for binary MNIST (Gregor et al. 2015, section 2, 3 and table 3).

    64 glimpses in the paper; LSTMs of 256, 100 latent numbers, 2x2 to read and 5x5 to write.

    Shapes: [b, 784] to logits [b, 784].
    """

    def __init__(self, glimpses: int = 64, hidden: int = 256, latent: int = 100) -> None:
        super().__init__()
        self.encoder = nn.LSTMCell(2 * 4 + hidden, hidden)
        self.decoder = nn.LSTMCell(latent, hidden)
        self.mean, self.spread = nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        self.look, self.aim = nn.Linear(hidden, 5), nn.Linear(hidden, 5)
        self.patch = nn.Linear(hidden, 25)
        self.glimpses = glimpses

    def forward(self, image: Tensor) -> Tensor:
        """Draw an image, glimpse by glimpse."""
        picture = image.view(-1, 28, 28)
        canvas = torch.zeros_like(picture)
        seen = said = None
        told = image.new_zeros(len(image), self.decoder.hidden_size)
        for _ in range(self.glimpses):
            missing = picture - torch.sigmoid(canvas)
            gamma, fy, fx = _filters(self.look(told), 2)
            read = [gamma * (fy @ x @ fx.transpose(1, 2)).flatten(1) for x in (picture, missing)]
            seen = self.encoder(torch.cat([*read, told], dim=1), seen)
            mean, spread = self.mean(seen[0]), self.spread(seen[0])
            said = self.decoder(mean + torch.exp(spread) * torch.randn_like(mean), said)
            told = said[0]
            gamma, fy, fx = _filters(self.aim(told), 5)
            patch = self.patch(told).view(-1, 5, 5)
            canvas = canvas + fy.transpose(1, 2) @ patch @ fx / gamma[:, :, None]
        return canvas.flatten(1)


def _filters(said: Tensor, n: int, side: int = 28) -> tuple[Tensor, Tensor, Tensor]:
    """Gaussian filters on a grid (equations 19 to 26). Shapes: [b, 1], [b, n, side] twice."""
    x, y, variance, stride, gamma = torch.split(said, 1, dim=1)
    step = (side - 1) / (n - 1) * torch.exp(stride)
    offsets = torch.arange(n, device=said.device) - n / 2 + 0.5
    places = torch.arange(side, device=said.device)
    banks = []
    for centre in (y, x):
        middles = (side + 1) / 2 * (centre + 1) + offsets * step
        distance = (places - middles[..., None]).square() / (2 * torch.exp(variance)[..., None])
        bank = torch.exp(-distance)
        banks.append(bank / (bank.sum(2, keepdim=True) + 1e-8))
    return torch.exp(gamma), banks[0], banks[1]


class MaxoutGAN(nn.Module):
    """The first adversarial net (Goodfellow et al. 2014, section 5), sizes of its code for MNIST.

    Shapes: noise [b, 100] to the verdict on the image that is made of it, [b, 1].
    """

    def __init__(self) -> None:
        super().__init__()
        self.generator = nn.Sequential(
            *(nn.Linear(100, 1200), nn.ReLU(), nn.Linear(1200, 1200), nn.ReLU()),
            *(nn.Linear(1200, 784), nn.Sigmoid()),
        )
        self.layers = nn.ModuleList([nn.Linear(784, 240 * 5), nn.Linear(240, 240 * 5)])
        self.verdict = nn.Linear(240, 1)

    def forward(self, noise: Tensor) -> Tensor:
        """Make an image and judge it."""
        x = self.generator(noise)
        for layer in self.layers:
            x = layer(x).unflatten(1, (240, 5)).amax(2)
        return torch.sigmoid(self.verdict(x))


def sine_times(times: Tensor, width: int) -> Tensor:
    """The sinusoidal embedding of a step. Shapes: [b] to [b, width]."""
    half = width // 2
    speeds = torch.exp(-math.log(10000) / (half - 1) * torch.arange(half, device=times.device))
    angles = times[:, None] * speeds
    return torch.cat([angles.sin(), angles.cos()], dim=1)
