"""Models whose first guess is wrong, and whose own message says what would be right."""

import pytest
import torch
from nar_plugin.hooks.torch.mend.messages import mended
from torch import nn
from torch.nn import functional as F

from nar_plugin.hookspecs import ExampleInputs
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


class Cut(nn.Module):
    """Patches of 16 x 16 pixels, cut by a view whose sizes stand in the forward alone."""

    def __init__(self):
        super().__init__()
        self.project = nn.Linear(768, 32)

    def forward(self, picture):
        cut = picture.view(len(picture), 3, 6, 16, 8, 16).permute(0, 2, 4, 1, 3, 5)
        return self.project(cut.reshape(len(picture), 48, -1))


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


class Alignment(nn.Module):
    """Says the number of dimensions in an assertion."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(30, 16)

    def forward(self, tokens):
        if tokens.ndim != 3:  # as Python says it: pytest would rewrite an assertion here
            raise AssertionError("assert tokens.ndim == 3")
        return self.words(tokens).mean(1)


class Waves(nn.Module):
    """Mixes channels first, and filters a whole second."""

    def __init__(self):
        super().__init__()
        self.mix = nn.Conv2d(1, 4, 3)
        self.filters = nn.Conv1d(1, 8, 100_000, stride=512)

    def forward(self, wave):
        batch, _ = wave.shape
        found = self.filters(wave.reshape(batch, 1, -1))
        return self.mix(found[:, None])


class Masker(nn.Module):
    """Adds a dimension of its own: the first layer's width says nothing of the input."""

    def __init__(self):
        super().__init__()
        self.late = nn.Conv1d(64, 8, 1)
        self.filters = nn.Conv1d(1, 64, 128)

    def forward(self, wave):
        return self.late(self.filters(wave[:, None]))


class ChannelsLast(nn.Module):
    """Concatenates places to the channels of a picture."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(7)
        self.lift = nn.Linear(7, 16)

    def forward(self, data):
        batch, *axis, _ = data.shape
        assert len(axis) == 2, "input data must have the right number of axis"
        places = torch.zeros(batch, *axis, 4)
        return self.lift(self.norm(torch.cat([data, places], -1)))


class Pathways(nn.Module):
    """A slow and a fast clip, one with a quarter of the other's frames."""

    def __init__(self):
        super().__init__()
        self.slow = nn.Conv3d(3, 8, (1, 3, 3))
        self.fast = nn.Conv3d(3, 8, (1, 3, 3), stride=(4, 1, 1))

    def forward(self, x):
        assert isinstance(x, list), "needs to be a list of tensors"
        for clip in x:
            _, _, _, _, _ = clip.shape
        return F.avg_pool3d(torch.cat([self.slow(x[0]), self.fast(x[1])], 1), (8, 3, 3))


class Change(nn.Module):
    """Two pictures of one place, one after the other."""

    def __init__(self):
        super().__init__()
        self.look = nn.Conv2d(3, 8, 3)

    def forward(self, x):
        return self.look(x[:, 1]) - self.look(x[:, 0])


class Counted(nn.Module):
    """So many categories, then so many numbers."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(40, 16)
        self.norm = nn.LayerNorm(10)

    def forward(self, categories, numbers):
        assert categories.shape[-1] == 5, "you must pass in 5 values for your categories input"
        assert numbers.shape[-1] == 10, "you must pass in 10 values for your continuous input"
        return self.words(categories).flatten(1), self.norm(numbers)


class Heads(nn.Module):
    """An adjacency for each head, or one for all."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(24, 16)

    def forward(self, h, adj_mat):
        if adj_mat.shape[2] not in (1, 8):
            raise AssertionError("assert adj_mat.shape[2] == 1 or adj_mat.shape[2] == 8")
        return torch.einsum("ijh,jd->id", adj_mat, self.lin(h))


class Characters(nn.Module):
    """Koch, Zemel & Salakhutdinov 2015: pictures of 105 pixels, convolutions without padding."""

    def __init__(self):
        super().__init__()
        layers = []
        for wide, out, kernel in ((1, 64, 10), (64, 128, 7), (128, 128, 4)):
            layers += [nn.Conv2d(wide, out, kernel), nn.ReLU(), nn.MaxPool2d(2)]
        layers += [nn.Conv2d(128, 256, 4), nn.ReLU(), nn.Flatten(), nn.Linear(9216, 4096)]
        self.branch = nn.Sequential(*layers)
        self.same = nn.Linear(4096, 1)

    def forward(self, one, other):
        return self.same((self.branch(one).sigmoid() - self.branch(other).sigmoid()).abs())


EXPECTED = {
    Alignment: ["embedding", "mean"],
    Waves: ["conv", "conv"],
    Masker: ["conv", "conv"],
    ChannelsLast: ["layer_norm", "linear"],
    Pathways: ["conv", "conv", "cat"],
    Change: ["conv", "conv", "sub"],
    Counted: ["embedding", "layer_norm"],
    Heads: ["linear"],
    Hyperspectral: ["conv", "conv"],
    FixedHead: ["conv", "max_pool", "linear"],
    FixedTokens: ["conv", "cat", "add"],
    Clip: ["conv"],
    Divisible: ["conv"],
    Conditional: ["linear", "add"],
    Detector: ["conv", "conv"],
    Documents: ["embedding", "mean", "linear"],
    Patches: ["linear", "linear"],
    Clips: ["conv", "mean"],
    Sets: ["conv", "batch_norm", "mean", "mean"],
    Columns: ["embedding"] * 7,
    Spectrum: ["layer_norm", "linear", "relu"],
    Characters: ["sigmoid", "sub", "abs"],
}


@pytest.mark.parametrize("model", EXPECTED, ids=lambda cls: cls.__name__)
def test_a_refusal_is_mended(model):
    graph = trace(model())
    assert graph.method == "meta"
    assert "mended" in graph.reason
    kinds = [op.kind for op in graph.ops]
    assert [kind for kind in EXPECTED[model] if kind not in kinds] == []


def test_patches_are_of_a_picture():
    assert trace(Cut()).inputs == "float32[1, 3, 96, 128]"


def test_a_series_that_is_pooled_before_a_layer_grows_with_it():
    given = ExampleInputs((torch.empty(1, 12),))
    message = "a and b must have same reduction dim, but got [1, 6] X [12, 512]"
    shapes = [tuple(item.args[0].shape) for item in mended(nn.Linear(12, 4), given, message)]
    assert (1, 24) in shapes


def test_many_ids_have_no_values():
    ids = ExampleInputs((torch.arange(4096)[None] % 7,))
    message = "size of tensor a (4096) must match the size of tensor b (40000000)"
    found = mended(nn.Embedding(9, 4), ids, message)
    held = [item.args[0] for item in found if not item.args[0].is_meta]
    assert len(found) > 1
    assert sum(tensor.numel() for tensor in held) < 1 << 24


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


class Recording(nn.Module):
    """States its shape, channels and steps, in a property."""

    input_shape = (22, 500)

    def __init__(self):
        super().__init__()
        self.time = nn.Conv2d(1, 8, (1, 25))
        self.space = nn.Conv2d(8, 8, (22, 1))

    def forward(self, x):
        return self.space(self.time(x[:, None]))


def test_a_stated_shape_is_the_first_guess():
    graph = trace(Recording())
    assert graph.method == "meta"
    assert "mended" not in graph.reason
