"""Classifiers of images before residual networks, and capsules."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class LeNet1989(nn.Module):
    """The first network trained on zip codes (LeCun et al. 1989, section 3.3 and figure 3).

    Every unit has a bias of its own; a map of the second layer sees eight maps of the first. Which
    eight the paper does not say: here each third of the maps sees another two thirds.

    Shapes: [b, 1, 16, 16] to [b, 10].
    """

    SEEN = ((0, 1, 2, 3, 4, 5, 6, 7), (4, 5, 6, 7, 8, 9, 10, 11), (0, 1, 2, 3, 8, 9, 10, 11))

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 12, 5, 2, bias=False)
        self.first_bias = nn.Parameter(torch.zeros(12, 8, 8))
        self.second = nn.ModuleList(nn.Conv2d(8, 4, 5, 2, bias=False) for _ in self.SEEN)
        self.second_bias = nn.Parameter(torch.zeros(12, 4, 4))
        self.third, self.output = nn.Linear(192, 30), nn.Linear(30, 10)

    def forward(self, image: Tensor) -> Tensor:
        """Classify a digit; outside of a map all values are -1."""
        x = torch.tanh(self.first(F.pad(image, (2, 2, 2, 2), value=-1.0)) + self.first_bias)
        x = F.pad(x, (2, 2, 2, 2), value=-1.0)
        maps = [conv(x[:, list(seen)]) for conv, seen in zip(self.second, self.SEEN, strict=True)]
        x = torch.tanh(torch.cat(maps, dim=1) + self.second_bias)
        return torch.tanh(self.output(torch.tanh(self.third(x.flatten(1)))))


class Subsampling(nn.Module):
    """The mean of 2x2, times a coefficient, plus a bias, per map (LeCun 1998, section II-B)."""

    def __init__(self, maps: int) -> None:
        super().__init__()
        self.coefficient = nn.Parameter(torch.ones(maps, 1, 1))
        self.bias = nn.Parameter(torch.zeros(maps, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: [b, c, h, w] to [b, c, h / 2, w / 2]."""
        return _squash(F.avg_pool2d(x, 2) * self.coefficient + self.bias)


def _squash(x: Tensor) -> Tensor:
    """LeCun's sigmoid, 1.7159 tanh(2x / 3) (appendix A)."""
    return 1.7159 * torch.tanh(x * (2 / 3))


class LeNet5(nn.Module):
    """LeNet-5 (LeCun et al. 1998, section II-B, table I), with its radial output units.

    The codes of the output, 7x12 pictures of the digits, are fixed; here they are all ones.

    Shapes: [b, 1, 32, 32] to distances [b, 10].
    """

    SEEN = (
        *((i, (i + 1) % 6, (i + 2) % 6) for i in range(6)),
        *((i, (i + 1) % 6, (i + 2) % 6, (i + 3) % 6) for i in range(6)),
        *((i, i + 1, (i + 3) % 6, (i + 4) % 6) for i in range(3)),
        tuple(range(6)),
    )

    codes: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.c1, self.s2 = nn.Conv2d(1, 6, 5), Subsampling(6)
        self.c3 = nn.ModuleList(nn.Conv2d(len(seen), 1, 5) for seen in self.SEEN)
        self.s4, self.c5, self.f6 = Subsampling(16), nn.Conv2d(16, 120, 5), nn.Linear(120, 84)
        self.register_buffer("codes", torch.ones(10, 84))

    def forward(self, image: Tensor) -> Tensor:
        """Give the distance of the last layer to the code of each digit."""
        x = self.s2(_squash(self.c1(image)))
        maps = [conv(x[:, sorted(seen)]) for conv, seen in zip(self.c3, self.SEEN, strict=True)]
        x = self.c5(self.s4(_squash(torch.cat(maps, dim=1))))
        x = _squash(self.f6(_squash(x).flatten(1)))
        return (x[:, None] - self.codes).square().sum(2)


class OverFeat(nn.Module):
    """OverFeat (Sermanet et al. 2013, table 1: `fast`, on 231x231; table 3: `accurate`, 221x221).

    Shapes: [b, 3, s, s] to logits [b, 1000, 1, 1].
    """

    def __init__(self, accurate: bool = False) -> None:
        super().__init__()
        if accurate:
            plan = [(96, 7, 2, 3), (256, 7, 1, 2), (512, 3, 1, 0), (512, 3, 1, 0)]
            plan += [(1024, 3, 1, 0), (1024, 3, 1, 3)]
        else:
            plan = [(96, 11, 4, 2), (256, 5, 1, 2), (512, 3, 1, 0), (1024, 3, 1, 0)]
            plan += [(1024, 3, 1, 2)]
        layers: list[nn.Module] = []
        before = 3
        for width, kernel, stride, pool in plan:
            layers += [nn.Conv2d(before, width, kernel, stride, int(kernel == 3)), nn.ReLU()]
            layers += [nn.MaxPool2d(pool)] * bool(pool)
            before = width
        side, hidden = (5, 4096) if accurate else (6, 3072)
        for width, kernel in ((hidden, side), (4096, 1)):
            layers += [nn.Conv2d(before, width, kernel), nn.ReLU(), nn.Dropout(0.5)]
            before = width
        self.layers = nn.Sequential(*layers, nn.Conv2d(4096, 1000, 1))

    def forward(self, image: Tensor) -> Tensor:
        """Classify an image; of a larger one, every window."""
        return self.layers(image)


class AllConvolutional(nn.Module):
    """All-CNN-C (Springenberg et al. 2014, table 2): strides in place of pooling.

    Shapes: [b, 3, 32, 32] to logits [b, 10].
    """

    PLAN = (
        *((96, 3, 1, 1), (96, 3, 1, 1), (96, 3, 2, 1)),
        *((192, 3, 1, 1), (192, 3, 1, 1), (192, 3, 2, 1)),
        *((192, 3, 1, 0), (192, 1, 1, 0), (10, 1, 1, 0)),
    )

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        before = 3
        for width, kernel, stride, pad in self.PLAN:
            layers += [nn.Conv2d(before, width, kernel, stride, pad), nn.ReLU()]
            before = width
        self.layers = nn.Sequential(*layers)

    def forward(self, image: Tensor) -> Tensor:
        """Classify a small image."""
        return self.layers(image).mean((2, 3))


class CapsuleNet(nn.Module):
    """Capsules with dynamic routing (Sabour et al. 2017, section 4 and figures 1 and 2).

    Args:
        decoder: With the network that draws the digit again (section 4.1).

    Shapes: [b, 1, 28, 28] to lengths [b, 10] and, with the decoder, [b, 784].
    """

    def __init__(self, decoder: bool = True, iterations: int = 3) -> None:
        super().__init__()
        self.conv, self.primary = nn.Conv2d(1, 256, 9), nn.Conv2d(256, 256, 9, 2)
        self.weights = nn.Parameter(torch.empty(1152, 10, 16, 8).normal_(0, 0.01))
        self.iterations = iterations
        dense = [nn.Linear(160, 512), nn.ReLU(), nn.Linear(512, 1024), nn.ReLU()]
        self.decoder = nn.Sequential(*dense, nn.Linear(1024, 784), nn.Sigmoid())
        if not decoder:
            self.decoder = None  # type: ignore[assignment]

    def forward(self, image: Tensor) -> tuple[Tensor, ...]:
        """Classify a digit by the length of its capsule, and draw it from that capsule alone."""
        digits, _ = self.capsules(image)
        lengths = digits.norm(dim=2)
        if self.decoder is None:
            return (lengths,)
        chosen = F.one_hot(lengths.argmax(1), 10).to(digits.dtype)
        return lengths, self.decoder((digits * chosen[:, :, None]).flatten(1))

    def capsules(self, image: Tensor) -> tuple[Tensor, Tensor]:
        """Return digit capsules and the coupling. Shapes: [b, 10, 16], [b, 1152, 10]."""
        x = self.primary(F.relu(self.conv(image)))
        lower = _shorten(x.unflatten(1, (32, 8)).movedim(2, 4).flatten(1, 3))  # [b, 1152, 8]
        votes = torch.einsum("iodk,bik->biod", self.weights, lower)
        logits = torch.zeros_like(votes[..., 0])
        for step in range(self.iterations):
            coupling = logits.softmax(2)
            digits = _shorten((coupling[..., None] * votes).sum(1))
            if step < self.iterations - 1:
                logits = logits + (votes * digits[:, None]).sum(3)
        return digits, coupling


def _shorten(x: Tensor) -> Tensor:
    """Equation 1: a vector of the same direction that is shorter than 1."""
    square = x.square().sum(-1, keepdim=True)
    return square / (1 + square) * x / (square + 1e-9).sqrt()


class FaceNetNN1(nn.Module):
    """FaceNet's NN1 (Schroff et al. 2015, table 1): Zeiler and Fergus with 1x1 convolutions.

    Shapes: [b, 3, 220, 220] to a unit vector [b, 128].
    """

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1), nn.LocalResponseNorm(5)
        )
        self.second = nn.Sequential(*_pair(64, 192), nn.LocalResponseNorm(5), nn.MaxPool2d(3, 2, 1))
        self.rest = nn.Sequential(
            *_pair(192, 384),
            nn.MaxPool2d(3, 2, 1),
            *_pair(384, 256),
            *_pair(256, 256),
            *_pair(256, 256),
            nn.MaxPool2d(3, 2, 1),
        )
        self.fc1, self.fc2 = nn.Linear(7 * 7 * 256, 2 * 4096), nn.Linear(4096, 2 * 4096)
        self.embed = nn.Linear(4096, 128)

    def forward(self, face: Tensor) -> Tensor:
        """Embed a face; both hidden layers are maxout with p = 2."""
        x = self.rest(self.second(self.first(face))).flatten(1)
        x = self.fc1(x).unflatten(1, (-1, 2)).amax(2)
        x = self.fc2(x).unflatten(1, (-1, 2)).amax(2)
        return F.normalize(self.embed(x), dim=1)


def _pair(a: int, b: int) -> list[nn.Module]:
    return [nn.Conv2d(a, a, 1), nn.ReLU(), nn.Conv2d(a, b, 3, padding=1), nn.ReLU()]
