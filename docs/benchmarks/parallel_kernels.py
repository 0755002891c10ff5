"""One network, four token mixers: which known design does each find?

`python docs/benchmarks/parallel_kernels.py` prints the table in likeness.md.
"""

import torch
from torch import nn

import nar_plugin

KNOWN = (
    "timm:davit_tiny",
    "timm:twins_svt_small",
    "timm:inception_next_tiny",
    "timm:convnext_tiny",
)


def depthwise(width: int, high: int, wide: int) -> nn.Conv2d:
    """A depthwise convolution that keeps the size."""
    return nn.Conv2d(width, width, (high, wide), padding=(high // 2, wide // 2), groups=width)


class Sum(nn.Module):
    """The sum of kernels side by side, each on all channels."""

    kernels: tuple[tuple[int, int], ...] = ((3, 3), (1, 11), (11, 1))

    def __init__(self, width: int) -> None:
        super().__init__()
        self.convs = nn.ModuleList(depthwise(width, *kernel) for kernel in self.kernels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[n, c, h, w] to the same."""
        first, *rest = (conv(x) for conv in self.convs)
        return sum(rest, start=first)


class Split(Sum):
    """The same kernels, each on an eighth of the channels, as InceptionNeXt does it."""

    def __init__(self, width: int) -> None:
        super().__init__(width // 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[n, c, h, w] to the same."""
        part = x.shape[1] // 8
        kept, *parts = x.split((x.shape[1] - 3 * part, part, part, part), 1)
        mixed = [conv(one) for conv, one in zip(self.convs, parts, strict=True)]
        return torch.cat((kept, *mixed), 1)


class Seven(Sum):
    """One kernel of 7x7, as ConvNeXt has it."""

    kernels = ((7, 7),)


class Three(Sum):
    """One kernel of 3x3."""

    kernels = ((3, 3),)


class Block(nn.Module):
    """A mixer, a norm, two layers, a residual."""

    def __init__(self, mixer: type[Sum], width: int) -> None:
        super().__init__()
        self.mixer, self.norm = mixer(width), nn.BatchNorm2d(width)
        self.mlp = nn.Sequential(
            nn.Conv2d(width, 4 * width, 1), nn.GELU(), nn.Conv2d(4 * width, width, 1)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[n, c, h, w] to the same."""
        return x + self.mlp(self.norm(self.mixer(x)))


def network(mixer: type[Sum]) -> nn.Module:
    """Four stages of 3, 3, 9 and 3 blocks."""
    layers: list[nn.Module] = [nn.Conv2d(3, 64, 4, 4)]
    for stage, depth in enumerate((3, 3, 9, 3)):
        width = 64 << stage
        if stage:
            layers += [nn.BatchNorm2d(width // 2), nn.Conv2d(width // 2, width, 2, 2)]
        layers += [Block(mixer, width) for _ in range(depth)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


for mixer in (Sum, Split, Seven, Three):
    model = network(mixer)
    best = nar_plugin.find_similar(model, k=1)[0]
    cells = [f"{best.name} {best.score:.2f}"]
    for name in KNOWN:
        cosine = float(nar_plugin.embed(model) @ nar_plugin.embed(name))
        cells.append(f"{nar_plugin.compare(model, name).likeness:.2f} ({cosine:.2f})")
    print(f"| {mixer.__name__} | {' | '.join(cells)} |")
