"""Models that a person writes by hand, with nothing that tells their inputs."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from nar_plugin.hooks import torch as plugin
from torch import Tensor, nn
from torch.nn import functional as F

from nar_plugin.tracing import trace


class NanoGPT(nn.Module):
    """Tokens and positions, a causal mask, and a forward with an optional target."""

    def __init__(self, vocabulary: int = 97, block_size: int = 32, width: int = 48) -> None:
        super().__init__()
        self.block_size = block_size
        self.wte = nn.Embedding(vocabulary, width)
        self.wpe = nn.Embedding(block_size, width)
        self.block = nn.TransformerEncoderLayer(width, 4, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, idx: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        length = idx.shape[1]
        assert length <= self.block_size
        x = self.wte(idx) + self.wpe(torch.arange(length))
        logits = self.head(self.block(x))
        if targets is None:
            return logits[:, [-1]], None
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())


class UNet(nn.Module):
    """One level down and up again, with a skip connection that needs even sizes."""

    def __init__(self, channels: int = 3) -> None:
        super().__init__()
        self.down1 = nn.Conv2d(channels, 8, 3, padding=1)
        self.down2 = nn.Conv2d(8, 16, 3, padding=1)
        self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.out = nn.Conv2d(16, 1, 1)

    def forward(self, x: Tensor) -> Any:
        high = self.down1(x).relu()
        low = self.down2(F.max_pool2d(high, 2)).relu()
        return self.out(torch.cat([high, self.up(low)], dim=1))


class DiffusionUNet(nn.Module):
    """Takes a time step, whose own layers are registered first."""

    def __init__(self) -> None:
        super().__init__()
        self.time = nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 8))
        self.inside = nn.Conv2d(1, 8, 3, padding=1)
        self.outside = nn.Conv2d(8, 1, 3, padding=1)

    def forward(self, x: Tensor, t: Tensor) -> Any:
        rates = torch.exp(-math.log(10000) * torch.arange(8) / 8)
        angles = t[:, None].float() * rates[None]
        time = self.time(torch.cat([angles.sin(), angles.cos()], dim=-1))
        return self.outside(self.inside(x) + time[:, :, None, None])


class LabelledUNet(DiffusionUNet):
    """And a class label."""

    def __init__(self) -> None:
        super().__init__()
        self.label = nn.Embedding(10, 1)

    def forward(self, x: Tensor, t: Tensor, y: Tensor) -> Any:  # type: ignore[override]
        return super().forward(x + self.label(y)[:, :, None, None], t)


class LeNet(nn.Module):
    """Only 28 x 28 fits its flattened layer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 5)
        self.fc = nn.Linear(6 * 12 * 12, 10)

    def forward(self, x: Tensor) -> Any:
        return self.fc(F.max_pool2d(self.conv(x), 2).flatten(1))


class TinyViT(nn.Module):
    """Its table of positions fixes the image at 48 x 48."""

    def __init__(self) -> None:
        super().__init__()
        self.positions = nn.Parameter(torch.zeros(1, 6 * 6 + 1, 32))
        self.token = nn.Parameter(torch.zeros(1, 1, 32))
        self.patches = nn.Conv2d(3, 32, 8, stride=8)
        self.block = nn.TransformerEncoderLayer(32, 4, batch_first=True)

    def forward(self, x: Tensor) -> Any:
        x = self.patches(x).flatten(2).transpose(1, 2)
        return self.block(torch.cat([self.token, x], dim=1) + self.positions)[:, 0]


class Tagger(nn.Module):
    """Words and their number, an LSTM."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 12, padding_idx=0)
        self.lstm = nn.LSTM(12, 20, batch_first=True, bidirectional=True)
        self.out = nn.Linear(40, 5)

    def forward(self, tokens: Tensor, lengths: Tensor) -> Any:
        x, _ = self.lstm(self.embedding(tokens))
        return self.out(x[:, : int(lengths.max())])


class Translator(nn.Module):
    """Two sequences and two masks that must be given."""

    def __init__(self) -> None:
        super().__init__()
        self.source = nn.Embedding(40, 16)
        self.target = nn.Embedding(60, 16)
        self.q = nn.Linear(16, 16)

    def attend(self, x: Tensor, y: Tensor, mask: Tensor) -> Any:
        scores = self.q(x) @ y.transpose(1, 2)
        return scores.masked_fill(mask == 0, -1e9).softmax(-1) @ y

    def forward(self, src: Tensor, tgt: Tensor, src_mask: Tensor, tgt_mask: Tensor) -> Any:
        memory = self.attend(self.source(src), self.source(src), src_mask)
        out = self.target(tgt)
        return self.attend(self.attend(out, out, tgt_mask), memory, src_mask)


class GraphConvolution(nn.Module):
    """Node features and an edge index."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(10, 4)

    def forward(self, x: Tensor, edge_index: Tensor) -> Any:
        source, target = edge_index
        x = self.linear(x)
        return torch.zeros_like(x).index_add(0, target, x[source])


class ImageAndText(nn.Module):
    """CLIP-like: one tower for each argument."""

    def __init__(self) -> None:
        super().__init__()
        self.visual = nn.Conv2d(3, 8, 16, stride=16)
        self.words = nn.Embedding(99, 8)

    def forward(self, image: Tensor, text: Tensor) -> Any:
        return self.visual(image).mean((2, 3)) @ self.words(text).mean(1).T


class Recurrent(nn.Module):
    """A cell with a state that must be given."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(6, 9)

    def forward(self, x: Tensor, h: Tensor) -> Any:
        return self.cell(x, h) + h


class OptionalFirst(nn.Module):
    """Every argument has a default, as in transformers."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(30, 4)

    def forward(self, input_ids: Tensor | None = None, attention_mask: Tensor | None = None) -> Any:
        assert input_ids is not None
        return self.embedding(input_ids)


MODELS: dict[str, Callable[[], nn.Module]] = {
    "nanogpt": NanoGPT,
    "unet": UNet,
    "unet, one channel": lambda: UNet(1),
    "diffusion unet": DiffusionUNet,
    "labelled unet": LabelledUNet,
    "lenet": LeNet,
    "vit": TinyViT,
    "tagger": Tagger,
    "translator": Translator,
    "graph convolution": GraphConvolution,
    "image and text": ImageAndText,
    "recurrent cell": Recurrent,
    "optional first": OptionalFirst,
    "mlp": lambda: nn.Sequential(nn.Flatten(), nn.Linear(784, 32), nn.ReLU(), nn.Linear(32, 10)),
    "conv1d": lambda: nn.Sequential(nn.Conv1d(12, 4, 9), nn.ReLU(), nn.AdaptiveAvgPool1d(1)),
    "conv3d": lambda: nn.Sequential(nn.Conv3d(2, 4, 3), nn.AdaptiveAvgPool3d(1)),
    "lstm": lambda: nn.LSTM(8, 8, batch_first=True),
    "gru": lambda: nn.GRU(8, 16),
    "transformer": lambda: nn.Transformer(32, 4, 1, 1, 64),
    "encoder": lambda: nn.TransformerEncoder(
        nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 2
    ),
    "attention": lambda: nn.MultiheadAttention(32, 4),
    "no parameters": nn.ReLU,
}


@pytest.mark.parametrize("name", MODELS)
def test_a_hand_written_model_is_traced_without_being_told_its_inputs(name: str) -> None:
    graph = trace(MODELS[name]().eval())
    assert len(graph) > 0


def test_the_image_comes_first_at_224_with_the_channels_of_the_first_convolution() -> None:
    first, *_ = plugin.nar_example_inputs(UNet(channels=5))
    (image,) = first.args
    assert image.shape == (1, 5, 224, 224)
    assert image.is_meta


def test_a_width_of_numpy_is_a_width() -> None:
    first, *_ = plugin.nar_example_inputs(nn.Sequential(nn.Linear(np.prod((2, 3)), 8)))
    assert first.args[0].shape == (1, 6)


def test_tokens_are_real_and_fit_the_block_size_and_the_vocabulary() -> None:
    first, *_ = plugin.nar_example_inputs(NanoGPT(vocabulary=97, block_size=32))
    (ids,) = first.args
    assert ids.shape == (1, 32)
    assert ids.dtype == torch.int64
    assert ids.device.type == "cpu"
    assert len(ids.unique()) > 1
    assert ids.min() > 0
    assert ids.max() < 97


@pytest.mark.parametrize("name", MODELS)
def test_guesses_are_few_and_only_integers_hold_memory(name: str) -> None:
    found = plugin.nar_example_inputs(MODELS[name]())
    assert 0 < len(found) <= 12
    for guess in found:
        tensors = [item for item in guess.args if isinstance(item, Tensor)]
        assert all(item.is_meta or not item.is_floating_point() for item in tensors)
