"""Neural fields: a scene, a shape or an image as a function of the place."""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Sine(nn.Module):
    """sin(30 x) (Sitzmann et al. 2020, section 3.2)."""

    def forward(self, x: Tensor) -> Tensor:
        """Any shape."""
        return torch.sin(30 * x)


class Siren(nn.Module):
    """SIREN for an image (Sitzmann et al. 2020, section 3.1 and 4.1): five layers, 256 wide.

    The weights start uniform within sqrt(6 / n) / 30, those of the first layer within 1 / n.

    Shapes: places [n, 2] to values [n, 1].
    """

    def __init__(
        self, inputs: int = 2, outputs: int = 1, width: int = 256, hidden: int = 3
    ) -> None:
        super().__init__()
        sizes = [inputs] + [width] * (hidden + 1)
        layers: list[nn.Module] = []
        for number, (a, b) in enumerate(itertools.pairwise(sizes)):
            linear = nn.Linear(a, b)
            bound = math.sqrt(6 / a) / 30 if number else 1 / a
            nn.init.uniform_(linear.weight, -bound, bound)
            layers += [linear, Sine()]
        self.layers = nn.Sequential(*layers, nn.Linear(width, outputs))

    def forward(self, places: Tensor) -> Tensor:
        """Give the value at each place."""
        return self.layers(places)


class FourierFeatures(nn.Module):
    """Fourier features and a perceptron for an image (Tancik et al. 2020, section 6.1, appendix C).

    Shapes: places [n, 2] to colours [n, 3].
    """

    frequencies: Tensor

    def __init__(self, features: int = 256, width: int = 256, layers: int = 4) -> None:
        super().__init__()
        self.register_buffer("frequencies", torch.zeros(2, features).normal_() * 10)
        sizes = [2 * features] + [width] * (layers - 1)
        dense: list[nn.Module] = []
        for a, b in itertools.pairwise(sizes):
            dense += [nn.Linear(a, b), nn.ReLU()]
        self.layers = nn.Sequential(*dense, nn.Linear(width, 3), nn.Sigmoid())

    def forward(self, places: Tensor) -> Tensor:
        """Give the colour at each place."""
        angles = 2 * math.pi * places @ self.frequencies
        return self.layers(torch.cat([angles.cos(), angles.sin()], dim=1))


def _waves(x: Tensor, octaves: int) -> Tensor:
    """Sines and cosines of 1, 2, 4, ... times x. Shapes: [..., c] to [..., 2 c octaves]."""
    scales = 2.0 ** torch.arange(octaves, device=x.device)
    angles = (x[..., None, :] * scales[:, None]).flatten(-2)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


class RadianceField(nn.Module):
    """The perceptron of NeRF (Mildenhall 2020, figure 7): eight layers, a skip, two heads."""

    def __init__(self, places: int, directions: int, width: int = 256) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Linear(places if not n else width + places * (n == 5), width) for n in range(8)
        )
        self.density, self.feature = nn.Linear(width, 1), nn.Linear(width, width)
        self.view, self.colour = nn.Linear(width + directions, width // 2), nn.Linear(width // 2, 3)

    def forward(self, places: Tensor, directions: Tensor) -> tuple[Tensor, Tensor]:
        """Give colour and density. Shapes: [..., p] and [..., d] to [..., 3] and [..., 1]."""
        x = places
        for number, layer in enumerate(self.layers):
            x = F.relu(layer(torch.cat([places, x], dim=-1) if number == 5 else x))
        seen = F.relu(self.view(torch.cat([self.feature(x), directions], dim=-1)))
        return torch.sigmoid(self.colour(seen)), F.relu(self.density(x))


class NeRF(nn.Module):
    """NeRF with its coarse and its fine network (Mildenhall et al. 2020, section 4 to 5.3).

    The places of the fine network are given, where the paper samples them by the coarse weights.

    Shapes: [rays, 64, 3], [rays, 192, 3], directions [rays, 3] and distances [rays, 64],
    [rays, 192] to the colours of both, [rays, 3].
    """

    def __init__(self) -> None:
        super().__init__()
        self.coarse, self.fine = RadianceField(63, 27), RadianceField(63, 27)

    def forward(
        self, coarse: Tensor, fine: Tensor, directions: Tensor, near: Tensor, far: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Render rays (equation 3)."""
        seen = torch.cat([directions, _waves(directions, 4)], dim=1)[:, None]
        return self._render(self.coarse, coarse, seen, near), self._render(
            self.fine, fine, seen, far
        )

    def _render(self, field: nn.Module, places: Tensor, seen: Tensor, steps: Tensor) -> Tensor:
        waves = torch.cat([places, _waves(places, 10)], dim=2)
        colour, density = field(waves, seen.expand(-1, places.shape[1], -1))
        return composite(colour, density.squeeze(2), steps)


def composite(colour: Tensor, density: Tensor, steps: Tensor) -> Tensor:
    """The colour of a ray (equation 3). Shapes: [r, n, 3], [r, n], [r, n] to [r, 3]."""
    return (ray_weights(density, steps)[..., None] * colour).sum(1)


def ray_weights(density: Tensor, steps: Tensor) -> Tensor:
    """T_i (1 - exp(-sigma_i delta_i)) of equation 3. Shapes: [r, n]."""
    depth = density * steps
    passed = torch.exp(-F.pad(depth.cumsum(1)[:, :-1], (1, 0)))
    return passed * (1 - torch.exp(-depth))


class MipNeRF(nn.Module):
    """mip-NeRF (Barron et al. 2021, section 3): one network, cones in place of rays.

    Shapes: mean and variance of each piece of a cone [rays, n, 3], directions [rays, 3] and
    lengths [rays, n] to colours [rays, 3].
    """

    def __init__(self) -> None:
        super().__init__()
        self.field = RadianceField(96, 27)

    def forward(
        self, means: Tensor, variances: Tensor, directions: Tensor, steps: Tensor
    ) -> Tensor:
        """Render cones with integrated positional encoding (equation 14)."""
        scales = 2.0 ** torch.arange(16, device=means.device)
        damping = torch.exp(-0.5 * (variances[..., None, :] * scales[:, None] ** 2)).flatten(-2)
        waves = _waves(means, 16) * torch.cat([damping, damping], dim=-1)
        seen = torch.cat([directions, _waves(directions, 4)], dim=1)[:, None]
        colour, density = self.field(waves, seen.expand(-1, means.shape[1], -1))
        return composite(colour, density.squeeze(2), steps)


class DeepSDF(nn.Module):
    """DeepSDF (Park et al. 2019, figure 4): eight layers of 512, a skip at the fourth.

    Shapes: latent code and place [n, 259] to signed distance [n, 1].
    """

    def __init__(self, latent: int = 256, width: int = 512) -> None:
        super().__init__()
        given = latent + 3
        outputs = [width] * 3 + [width - given] + [width] * 4
        inputs = [given] + [width] * 7
        self.layers = nn.ModuleList(
            nn.utils.parametrizations.weight_norm(nn.Linear(a, b))
            for a, b in zip(inputs, outputs, strict=True)
        )
        self.distance = nn.Linear(width, 1)

    def forward(self, given: Tensor) -> Tensor:
        """Give the distance to the surface."""
        x = given
        for number, layer in enumerate(self.layers):
            x = F.relu(layer(torch.cat([x, given], dim=1) if number == 4 else x))
        return torch.tanh(self.distance(x))


class OccupancyNet(nn.Module):
    """The decoder of an occupancy network (Mescheder et al. 2019, section 3 and supplement 1.1).

    Five residual blocks of conditional batch normalisation.

    Shapes: places [b, n, 3] and code [b, 256] to logits [b, n].
    """

    def __init__(self, code: int = 256, width: int = 256, blocks: int = 5) -> None:
        super().__init__()
        self.first, self.last = nn.Conv1d(3, width, 1), nn.Conv1d(width, 1, 1)
        self.norms = nn.ModuleList(
            nn.BatchNorm1d(width, affine=False) for _ in range(2 * blocks + 1)
        )
        self.scales = nn.ModuleList(nn.Linear(code, width) for _ in range(2 * blocks + 1))
        self.shifts = nn.ModuleList(nn.Linear(code, width) for _ in range(2 * blocks + 1))
        self.layers = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in range(2 * blocks))
        self.blocks = blocks

    def forward(self, places: Tensor, code: Tensor) -> Tensor:
        """Say of each place whether it is inside."""
        x = self.first(places.transpose(1, 2))
        for number in range(0, 2 * self.blocks, 2):
            h = self.layers[number](self._normed(number, x, code))
            x = x + self.layers[number + 1](self._normed(number + 1, h, code))
        return self.last(self._normed(2 * self.blocks, x, code)).squeeze(1)

    def _normed(self, number: int, x: Tensor, code: Tensor) -> Tensor:
        scale, shift = self.scales[number](code), self.shifts[number](code)
        return F.relu(self.norms[number](x) * scale[..., None] + shift[..., None])
