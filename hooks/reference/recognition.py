"""Speech recognition: Squeezeformer, Listen-Attend-Spell, Deep Speech 2."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .sequence import AdditiveAttention


class Scaled(nn.Module):
    """A module of Squeezeformer: learned scale and bias, the module, then a LayerNorm after it."""

    def __init__(self, width: int, module: nn.Module) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.module = module
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: [b, t, d]."""
        return self.norm(x + self.module(x * self.scale + self.bias))


class RelativeAttention(nn.Module):
    """Multi-head attention with the relative positions of Transformer-XL."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.queries, self.keys = nn.Linear(width, width), nn.Linear(width, width)
        self.values, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.positions = nn.Linear(width, width, bias=False)
        self.of_content = nn.Parameter(torch.zeros(heads, 1, width // heads))
        self.of_position = nn.Parameter(torch.zeros(heads, 1, width // heads))

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: [b, t, d]."""
        q, k, v = (self._split(part(x)) for part in (self.queries, self.keys, self.values))
        places = self._split(self.positions(_sines(x.shape[1], x.shape[2], x))[None])
        content = (q + self.of_content) @ k.transpose(2, 3)
        position = _shift((q + self.of_position) @ places.transpose(2, 3))
        weights = ((content + position) / q.shape[-1] ** 0.5).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2))

    def _split(self, x: Tensor) -> Tensor:
        return torch.unflatten(x, 2, (self.heads, -1)).transpose(1, 2)


def _sines(steps: int, width: int, like: Tensor) -> Tensor:
    """Sine embeddings of the offsets t-1 to 1-t. Shapes: [2t - 1, d]."""
    offsets = torch.arange(steps - 1, -steps, -1, device=like.device, dtype=like.dtype)
    speeds = 10000 ** (-torch.arange(0, width, 2, device=like.device, dtype=like.dtype) / width)
    angles = offsets[:, None] * speeds
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def _shift(scores: Tensor) -> Tensor:
    """From scores by offset to scores by place. Shapes: [b, h, t, 2t - 1] to [b, h, t, t]."""
    batch, heads, steps, offsets = scores.shape
    padded = F.pad(scores, (1, 0)).view(batch, heads, offsets + 1, steps)
    return padded[:, :, 1:].reshape(batch, heads, steps, offsets)[..., :steps]


class ConvModule(nn.Module):
    """Pointwise, depthwise and pointwise convolution, Swish in place of the gate."""

    def __init__(self, width: int, kernel: int = 31) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(width, 2 * width, 1),
            nn.SiLU(),
            nn.Conv1d(2 * width, 2 * width, kernel, padding=kernel // 2, groups=2 * width),
            nn.BatchNorm1d(2 * width),
            nn.SiLU(),
            nn.Conv1d(2 * width, width, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: [b, t, d]."""
        return self.layers(x.transpose(1, 2)).transpose(1, 2)


def _feed_forward(width: int) -> nn.Module:
    return nn.Sequential(nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width))


class Squeezeformer(nn.Module):
    """Squeezeformer (Kim et al. 2022, section 3, table 1): attention-FFN-convolution-FFN blocks.

    From the block after the seventh on, half as many frames; as many again before the last block.

    Shapes: 80 log-mel filters [b, t, 80] to logits of CTC [b, t / 4, 128].
    """

    def __init__(self, layers: int, width: int, heads: int, pieces: int = 128) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, width, 3, 2, 1)
        self.depthwise = nn.Conv2d(width, width, 3, 2, 1, groups=width)
        self.pointwise = nn.Conv2d(width, width, 1)
        self.project = nn.Linear(20 * width, width)
        self.norm = nn.LayerNorm(width)
        self.blocks = nn.ModuleList(_block(width, heads) for _ in range(layers))
        self.reduce = nn.Sequential(
            nn.Conv1d(width, width, 5, 2, 2, groups=width), nn.Conv1d(width, width, 1)
        )
        self.recover = nn.Linear(width, width)
        self.head = nn.Linear(width, pieces)

    def forward(self, mels: Tensor) -> Tensor:
        """Recognise speech."""
        x = F.silu(self.pointwise(self.depthwise(F.silu(self.first(mels[:, None])))))
        x = self.norm(self.project(x.transpose(1, 2).flatten(2)))
        whole = x
        for number, block in enumerate(self.blocks):
            if number == 7:
                whole, x = x, self.reduce(x.transpose(1, 2)).transpose(1, 2)
            if number == len(self.blocks) - 1:
                x = self.recover(x.repeat_interleave(2, dim=1)[:, : whole.shape[1]]) + whole
            x = block(x)
        return self.head(x)


def _block(width: int, heads: int) -> nn.Module:
    parts = (
        RelativeAttention(width, heads),
        _feed_forward(width),
        ConvModule(width),
        _feed_forward(width),
    )
    return nn.Sequential(*(Scaled(width, part) for part in parts))


class ListenAttendSpell(nn.Module):
    """Listen, attend and spell (Chan et al. 2015, section 3 and 4).

    A bidirectional LSTM and three pyramid layers of 256 cells in each direction listen; two layers
    of 512 cells spell, here with the right letters as input.

    Shapes: 40 log-mel filters [b, t, 40] and letters int64[b, n] to logits [b, n, 30].
    """

    def __init__(self, letters: int = 30, width: int = 512) -> None:
        super().__init__()
        self.bottom = nn.LSTM(40, width // 2, batch_first=True, bidirectional=True)
        self.pyramid = nn.ModuleList(
            nn.LSTM(2 * width, width // 2, batch_first=True, bidirectional=True) for _ in range(3)
        )
        self.embed = nn.Embedding(letters, width)
        self.cells = nn.ModuleList([nn.LSTMCell(2 * width, width), nn.LSTMCell(width, width)])
        self.state, self.heard = nn.Linear(width, width), nn.Linear(width, width)
        self.head = nn.Linear(2 * width, letters)

    def forward(self, mels: Tensor, letters: Tensor) -> Tensor:
        """Predict each next letter."""
        heard, _ = self.bottom(mels)
        for layer in self.pyramid:
            heard, _ = layer(heard.unflatten(1, (-1, 2)).flatten(2))
        keys = torch.relu(self.heard(heard))
        context = heard.new_zeros(len(heard), heard.shape[2])
        states: list[tuple[Tensor, Tensor] | None] = [None, None]
        logits = []
        for embedded in self.embed(letters).unbind(1):
            x = torch.cat([embedded, context], dim=1)
            for number, cell in enumerate(self.cells):
                states[number] = cell(x, states[number])
                x = states[number][0]  # type: ignore[index]
            scores = (keys @ torch.relu(self.state(x))[:, :, None]).squeeze(2)
            context = (scores.softmax(1)[:, None] @ heard).squeeze(1)
            logits.append(self.head(torch.cat([x, context], dim=1)))
        return torch.stack(logits, dim=1)


class DeepSpeech2(nn.Module):
    """Deep Speech 2 for English (Amodei et al. 2015, section 3): 11 layers, batch norm in all.

    Three convolutions in time and frequency (32, 32 and 96 channels) and seven bidirectional
    recurrent layers of 1,760 clipped linear units, whose directions are added.

    Shapes: spectrogram [b, 1, 161, t] to logits of CTC [t / 2, b, 29].
    """

    def __init__(self, width: int = 1760, letters: int = 29) -> None:
        super().__init__()
        sizes = ((1, 32, (41, 11), (2, 2)), (32, 32, (21, 11), (2, 1)), (32, 96, (21, 11), (2, 1)))
        layers: list[nn.Module] = []
        for a, b, kernel, stride in sizes:
            conv = nn.Conv2d(a, b, kernel, stride, (kernel[0] // 2, kernel[1] // 2), bias=False)
            layers += [conv, nn.BatchNorm2d(b), nn.Hardtanh(0, 20)]
        self.convs = nn.Sequential(*layers)
        widths = [96 * 21] + [width] * 6
        self.norms = nn.ModuleList(nn.BatchNorm1d(size) for size in widths)
        self.layers = nn.ModuleList(
            nn.RNN(size, width, nonlinearity="relu", bidirectional=True) for size in widths
        )
        self.last = nn.BatchNorm1d(width)
        self.head = nn.Linear(width, letters)

    def forward(self, spectrogram: Tensor) -> Tensor:
        """Recognise speech."""
        x = self.convs(spectrogram).flatten(1, 2).permute(2, 0, 1)  # [t, b, d]
        for norm, layer in zip(self.norms, self.layers, strict=True):
            x, _ = layer(_over_time(norm, x))
            x = x.unflatten(2, (2, -1)).sum(2)
        return self.head(_over_time(self.last, x))


def _over_time(norm: nn.Module, x: Tensor) -> Tensor:
    """Sequence-wise batch normalisation: over samples and time. Shapes: [t, b, d]."""
    return norm(x.flatten(0, 1)).view_as(x)


class AttentionRecognizer(nn.Module):
    """Attention-based recognition of phonemes (Chorowski et al. 2015, section 2.2 and 4).

    Three bidirectional GRUs of 256 and an attention that also reads where it was before, through
    10 filters of length 201.

    Shapes: 123 features [b, t, 123] and phonemes int64[b, n] to logits [b, n, 62].
    """

    def __init__(self, phonemes: int = 62, width: int = 256) -> None:
        super().__init__()
        self.encoder = nn.GRU(123, width, 3, batch_first=True, bidirectional=True)
        self.embed = nn.Embedding(phonemes, width)
        self.cell = nn.GRUCell(3 * width, width)
        self.where = nn.Conv1d(1, 10, 201, padding=100, bias=False)
        self.attend = AdditiveAttention(width, 2 * width, 512, places=10)
        self.head = nn.Sequential(nn.Linear(3 * width, 64), nn.ReLU(), nn.Linear(64, phonemes))

    def forward(self, features: Tensor, phonemes: Tensor) -> Tensor:
        """Predict each next phoneme."""
        heard, _ = self.encoder(features)
        state = heard.new_zeros(len(heard), self.cell.hidden_size)
        weights = heard.new_zeros(heard.shape[:2])
        logits = []
        for embedded in self.embed(phonemes).unbind(1):
            places = self.where(weights[:, None]).transpose(1, 2)
            context, weights = self.attend(state, heard, places)
            state = self.cell(torch.cat([embedded, context], dim=1), state)
            logits.append(self.head(torch.cat([state, context], dim=1)))
        return torch.stack(logits, dim=1)
