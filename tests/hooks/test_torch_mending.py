"""Models whose first guess is wrong, and whose own message says what would be right."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from nar_plugin.tracing import trace


class Hyperspectral(nn.Module):
    """Its first convolution is not the one that sees the picture."""

    def __init__(self):
        super().__init__()
        self.late = nn.Conv2d(8, 16, 3)
        self.early = nn.Conv2d(5, 8, 3)

    def forward(self, x):
        return self.late(self.early(x))


class FixedHead(nn.Module):
    """A head for 48 x 48 pixels, whose size stands nowhere."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.MaxPool2d(4))
        self.head = nn.Linear(8 * 12 * 12, 10)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


class FixedTokens(nn.Module):
    """Positions for 12 x 12 patches and a class token, kept in a shape that no table has."""

    def __init__(self):
        super().__init__()
        self.cut = nn.Conv2d(3, 32, 4, stride=4)
        self.place = nn.Parameter(torch.zeros(145, 32))
        self.token = nn.Parameter(torch.zeros(1, 1, 32))

    def forward(self, picture):
        x = self.cut(picture).flatten(2).transpose(1, 2)
        return torch.cat([self.token.expand(len(x), -1, -1), x], 1) + self.place


class Clip(nn.Module):
    """Pictures first cut into frames."""

    def __init__(self):
        super().__init__()
        self.frame = nn.Conv2d(3, 8, 3)

    def forward(self, clip):
        batch, time, channels, height, width = clip.shape
        return self.frame(clip.reshape(batch * time, channels, height, width))


class Divisible(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, x):
        if x.shape[-1] % 56 or x.shape[-1] % 64:
            raise ValueError("height and width must be divisible by 448")
        return self.conv(x)


class Records(nn.Module):
    """Takes a batch by its names."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 16)
        self.out = nn.Linear(16, 2)

    def forward(self, batch):
        return self.out(self.words(batch["input_ids"]) * batch["attention_mask"][..., None])


class Nodes(nn.Module):
    """Takes a graph as an object."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(16, 16)

    def forward(self, data):
        source, target = data.edge_index
        sums = torch.zeros_like(data.x).index_add(0, target, data.x[source])
        return self.lin(sums)


class Conditional(nn.Module):
    """Says what it needs only when it is not there."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(16, 16)

    def forward(self, x, memory=None):
        if memory is None:
            raise ValueError("You have to provide memory")
        return self.lin(x) + memory


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, images):
        if not isinstance(images, list):
            raise TypeError("expected a list of images")
        return [self.conv(image[None]) for image in images]


class Spectrum(nn.Module):
    """Features of a width that no first layer has."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(24, 24)
        self.norm = nn.LayerNorm(72)

    def forward(self, x):
        return F.relu(self.mix(self.norm(x).unflatten(-1, (3, 24))))


class Documents(nn.Module):
    """Words in sentences in documents."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 16)
        self.out = nn.Linear(16, 2)

    def forward(self, documents):
        batch, sentences, words = documents.shape
        found = self.words(documents.reshape(batch * sentences, words)).mean(1)
        return self.out(found.reshape(batch, sentences, -1))


class Bonds(nn.Module):
    """A graph as an object, whose edges have fewer features than its nodes."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(16, 8)
        self.bond = nn.Linear(5, 8)

    def forward(self, data):
        messages = self.lin(data.x)[data.edge_index[0]] * self.bond(data.edge_attr)
        return torch.zeros(len(data.x), 8).index_add(0, data.edge_index[1], messages)


class Patches(nn.Module):
    """A head for 24 patches of 8 steps."""

    def __init__(self):
        super().__init__()
        self.lift = nn.Linear(8, 32)
        self.head = nn.Linear(24 * 32, 4)

    def forward(self, series):
        batch, steps, channels = series.shape
        patches = series.transpose(1, 2).unfold(-1, 8, 8)
        return self.head(self.lift(patches).flatten(2))


class Clips(nn.Module):
    """Eight frames of each clip stand along the batch."""

    def __init__(self):
        super().__init__()
        self.frame = nn.Conv2d(3, 8, 3)

    def forward(self, frames):
        found = self.frame(frames.view(-1, 3, *frames.shape[-2:]))
        return found.view(len(found) // 8, 8, *found.shape[1:]).mean(1)


class Sets(nn.Module):
    """Four sets of pictures."""

    def __init__(self):
        super().__init__()
        self.look = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8))

    def forward(self, pictures):
        found = self.look(pictures.reshape(-1, *pictures.shape[2:])).mean((2, 3))
        return found.view(4, 1, -1).mean(1)


class Columns(nn.Module):
    """Says nothing when its categories are missing."""

    def __init__(self):
        super().__init__()
        self.numbers = nn.Linear(6, 16)
        self.kinds = nn.ModuleList(nn.Embedding(9, 16) for _ in range(7))

    def forward(self, numbers, categories=None):
        assert categories is not None
        found = [kind(categories[:, place]) for place, kind in enumerate(self.kinds)]
        return self.numbers(numbers) + sum(found)


EXPECTED = {
    Hyperspectral: ["conv", "conv"],
    FixedHead: ["conv", "max_pool", "linear"],
    FixedTokens: ["conv", "cat", "add"],
    Clip: ["conv"],
    Divisible: ["conv"],
    Records: ["embedding", "mul", "linear"],
    Nodes: ["index_add", "linear"],
    Conditional: ["linear", "add"],
    Detector: ["conv", "conv"],
    Documents: ["embedding", "mean", "linear"],
    Bonds: ["linear", "linear", "mul", "index_add"],
    Patches: ["linear", "linear"],
    Clips: ["conv", "mean"],
    Sets: ["conv", "batch_norm", "mean", "mean"],
    Columns: ["embedding"] * 7,
    Spectrum: ["layer_norm", "linear", "relu"],
}


@pytest.mark.parametrize("model", EXPECTED, ids=lambda cls: cls.__name__)
def test_a_refusal_is_mended(model):
    graph = trace(model())
    assert graph.method == "meta"
    assert "mended" in graph.reason
    kinds = [op.kind for op in graph.ops]
    assert [kind for kind in EXPECTED[model] if kind not in kinds] == []


def test_tries_are_bounded():
    class Never(nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = []
            self.lin = nn.Linear(4, 4)

        def forward(self, x):
            tries.append(x.shape)
            raise ValueError(
                f"size of tensor a ({x.shape[-1]}) must match the size of tensor b (3)"
            )

    tries = []
    assert trace(Never()).method == "modules"
    assert len(tries) < 80
