"""Sequence to sequence, and language models before the transformer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Seq2Seq(nn.Module):
    """Sequence to sequence learning with LSTMs (Sutskever et al. 2014, section 3.4).

    Four layers of 1,000 cells read 160,000 source words, four others write 80,000 target words.

    Shapes: int64[b, s] (reversed) and int64[b, t] to logits [b, t, 80000].
    """

    def __init__(self, source: int = 160_000, target: int = 80_000, width: int = 1000) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(source, width), nn.Embedding(target, width)
        self.encoder = nn.LSTM(width, width, 4, batch_first=True)
        self.decoder = nn.LSTM(width, width, 4, batch_first=True)
        self.head = nn.Linear(width, target)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Translate; the last state of one is the first of the other."""
        _, state = self.encoder(self.source(source))
        decoded, _ = self.decoder(self.target(target), state)
        return self.head(decoded)


class AdditiveAttention(nn.Module):
    """Bahdanau's alignment: a layer of tanh units over state and annotation (appendix A.1.2)."""

    def __init__(self, state: int, memory: int, width: int, places: int = 0) -> None:
        super().__init__()
        self.of_state = nn.Linear(state, width, bias=False)
        self.of_memory = nn.Linear(memory, width, bias=False)
        self.of_places = nn.Linear(places, width, bias=False) if places else None
        self.score = nn.Linear(width, 1, bias=False)

    def forward(
        self, state: Tensor, memory: Tensor, places: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return context and weights. Shapes: [b, s], [b, t, m], [b, t, p] to [b, m], [b, t]."""
        hidden = self.of_state(state)[:, None] + self.of_memory(memory)
        if self.of_places is not None:
            hidden = hidden + self.of_places(places)
        weights = self.score(torch.tanh(hidden)).squeeze(2).softmax(1)
        return (weights[:, None] @ memory).squeeze(1), weights


class RNNSearch(nn.Module):
    """RNNsearch: translation that learns to align (Bahdanau et al. 2014, appendix A.2).

    Gated units of 1,000, embeddings of 620, an alignment of 1,000 and maxout of 500, with 30,000
    words of each language.

    Shapes: int64[b, s] and int64[b, t] to logits [b, t, 30000].
    """

    def __init__(self, words: int = 30_000, embedding: int = 620, width: int = 1000) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(words, embedding), nn.Embedding(words, embedding)
        self.encoder = nn.GRU(embedding, width, batch_first=True, bidirectional=True)
        self.first = nn.Linear(width, width)
        self.attend = AdditiveAttention(width, 2 * width, width)
        self.cell = nn.GRUCell(embedding + 2 * width, width)
        self.maxout = nn.Linear(width + embedding + 2 * width, 2 * 500)
        self.head = nn.Linear(500, words, bias=False)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Predict each next word."""
        memory, last = self.encoder(self.source(source))
        state = torch.tanh(self.first(last[1]))  # of the backward direction
        logits = []
        for word in self.target(target).unbind(1):
            context, _ = self.attend(state, memory)
            deep = self.maxout(torch.cat([state, word, context], dim=1))
            logits.append(self.head(deep.unflatten(1, (-1, 2)).amax(2)))
            state = self.cell(torch.cat([word, context], dim=1), state)
        return torch.stack(logits, dim=1)


class GlobalAttention(nn.Module):
    """Effective attention: general score, input feeding (Luong et al. 2015, section 3 and 4.1).

    Shapes: int64[b, s] and int64[b, t] to logits [b, t, 50000].
    """

    def __init__(self, words: int = 50_000, width: int = 1000, layers: int = 4) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(words, width), nn.Embedding(words, width)
        self.encoder = nn.LSTM(width, width, layers, batch_first=True)
        self.cells = nn.ModuleList(
            nn.LSTMCell(width * (1 + (not number)), width) for number in range(layers)
        )
        self.general = nn.Linear(width, width, bias=False)
        self.combine = nn.Linear(2 * width, width, bias=False)
        self.head = nn.Linear(width, words)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Predict each next word."""
        memory, (h, c) = self.encoder(self.source(source))
        states = list(zip(h, c, strict=True))
        attended = torch.zeros_like(memory[:, 0])
        logits = []
        for word in self.target(target).unbind(1):
            x = torch.cat([word, attended], dim=1)
            for number, cell in enumerate(self.cells):
                states[number] = cell(x, states[number])
                x = states[number][0]
            weights = (self.general(memory) @ x[:, :, None]).squeeze(2).softmax(1)
            context = (weights[:, None] @ memory).squeeze(1)
            attended = torch.tanh(self.combine(torch.cat([context, x], dim=1)))
            logits.append(self.head(attended))
        return torch.stack(logits, dim=1)


class PointerNet(nn.Module):
    """Pointer network: the attention itself is the answer (Vinyals et al. 2015, section 2.3, 4.1).

    Shapes: points [b, n, 2] and the answer so far int64[b, t] to scores [b, t, n].
    """

    def __init__(self, width: int = 256) -> None:
        super().__init__()
        self.encoder = nn.LSTM(2, width, batch_first=True)
        self.decoder = nn.LSTM(2, width, batch_first=True)
        self.of_memory = nn.Linear(width, width, bias=False)
        self.of_state = nn.Linear(width, width, bias=False)
        self.score = nn.Linear(width, 1, bias=False)

    def forward(self, points: Tensor, chosen: Tensor) -> Tensor:
        """Point at the next element of the input."""
        memory, state = self.encoder(points)
        steps = points.gather(1, chosen[..., None].expand(-1, -1, 2))
        decoded, _ = self.decoder(steps, state)
        hidden = self.of_memory(memory)[:, None] + self.of_state(decoded)[:, :, None]
        return self.score(torch.tanh(hidden)).squeeze(3)


class ConvS2S(nn.Module):
    """Convolutional sequence to sequence (Gehring et al. 2017, section 3 and 4.3).

    Fifteen gated convolutions of width 3 on either side for English-German: nine of 512 channels,
    four of 1,024 and two of 2,048 with width 1; an attention in every decoder layer.

    Shapes: int64[b, s] and int64[b, t] to logits [b, t, words].
    """

    LAYERS = ((512, 3),) * 9 + ((1024, 3),) * 4 + ((2048, 1),) * 2

    encoder: Iterable[Any]  # pairs of a convolution and the way around it
    decoder: Iterable[Any]

    def __init__(self, words: int = 40_000, embedding: int = 768, places: int = 1024) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(words, embedding), nn.Embedding(words, embedding)
        self.place = nn.Embedding(places, embedding)
        self.encoder = _gated_stack(self.LAYERS)
        self.decoder = _gated_stack(self.LAYERS)
        first, last = self.LAYERS[0][0], self.LAYERS[-1][0]
        self.into = nn.ModuleList(nn.Linear(embedding, first) for _ in range(2))
        self.memory = nn.Linear(last, embedding)
        self.queries = nn.ModuleList(nn.Linear(width, embedding) for width, _ in self.LAYERS)
        self.contexts = nn.ModuleList(nn.Linear(embedding, width) for width, _ in self.LAYERS)
        self.deep = nn.Linear(last, embedding)
        self.head = nn.Linear(embedding, words)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Predict each next word."""
        known, words = self._embedded(self.source, source), self._embedded(self.target, target)
        x = self.into[0](known).transpose(1, 2)
        for conv, skip in self.encoder:
            left = conv.kernel_size[0] // 2
            x = (F.glu(conv(F.pad(x, (left, left))), 1) + skip(x)) * 0.5**0.5
        keys = self.memory(x.transpose(1, 2))
        values = (keys + known) * 0.5**0.5
        x = self.into[1](words).transpose(1, 2)
        parts = zip(self.decoder, self.queries, self.contexts, strict=True)
        for (conv, skip), query, context in parts:
            h = F.glu(conv(F.pad(x, (conv.kernel_size[0] - 1, 0))), 1)
            q = (query(h.transpose(1, 2)) + words) * 0.5**0.5
            attended = context((q @ keys.transpose(1, 2)).softmax(2) @ values)
            h = (h + attended.transpose(1, 2)) * 0.5**0.5
            x = (h + skip(x)) * 0.5**0.5
        return self.head(self.deep(x.transpose(1, 2)))

    def _embedded(self, table: nn.Embedding, ids: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1], device=ids.device)
        return table(ids) + self.place(places)


def _gated_stack(layers: tuple[tuple[int, int], ...]) -> nn.ModuleList:
    widths = [layers[0][0], *(width for width, _ in layers)]
    return nn.ModuleList(
        nn.ModuleList(
            [nn.Conv1d(a, 2 * b, kernel), nn.Identity() if a == b else nn.Conv1d(a, b, 1)]
        )
        for a, (b, kernel) in zip(widths, layers, strict=False)
    )


class ByteNetBlock(nn.Module):
    """A residual block with ReLUs and layer normalisation (Kalchbrenner 2016, figure 3)."""

    def __init__(self, width: int, kernel: int, dilation: int, causal: bool) -> None:
        super().__init__()
        half, span = width // 2, (kernel - 1) * dilation
        self.pad = (span, 0) if causal else (span // 2, span // 2)
        self.norms = nn.ModuleList(nn.LayerNorm(size) for size in (width, half, half))
        self.narrow, self.widen = nn.Conv1d(width, half, 1), nn.Conv1d(half, width, 1)
        self.masked = nn.Conv1d(half, half, kernel, dilation=dilation)

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: [b, d, t]."""
        h = self.narrow(self._normed(0, x))
        h = self.masked(F.pad(self._normed(1, h), self.pad))
        return x + self.widen(self._normed(2, h))

    def _normed(self, number: int, x: Tensor) -> Tensor:
        return F.relu(self.norms[number](x.transpose(1, 2)).transpose(1, 2))


class ByteNet(nn.Module):
    """ByteNet: a decoder of dilated convolutions on top of an encoder (section 3 and 4.2).

    Six sets of five residual blocks, dilations 1 to 16, width 800, filters of length 3.

    Shapes: characters int64[b, t] and int64[b, t] to logits [b, t, 323].
    """

    def __init__(self, characters: int = 323, width: int = 800, sets: int = 6) -> None:
        super().__init__()
        steps = [2**power for power in range(5)] * sets
        self.source = nn.Embedding(characters, width)
        self.target = nn.Embedding(characters, width)
        self.encoder = nn.Sequential(*(ByteNetBlock(width, 3, step, False) for step in steps))
        self.join = nn.Conv1d(2 * width, width, 1)
        self.decoder = nn.Sequential(*(ByteNetBlock(width, 3, step, True) for step in steps))
        self.head = nn.Sequential(
            nn.Conv1d(width, width, 1), nn.ReLU(), nn.Conv1d(width, characters, 1)
        )

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Predict each next character."""
        encoded = self.encoder(self.source(source).transpose(1, 2))
        both = torch.cat([encoded, self.target(target).transpose(1, 2)], dim=1)
        return self.head(self.decoder(self.join(both))).transpose(1, 2)
