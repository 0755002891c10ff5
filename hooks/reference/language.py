"""Language models before the transformer."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn


class ProbabilisticLanguageModel(nn.Module):
    """The neural probabilistic language model (Bengio et al. 2003, section 2, equation 1).

    With direct connections from the words to the output: y = b + Wx + U tanh(d + Hx).

    Shapes: the n - 1 words before int64[b, n - 1] to logits [b, words].
    """

    def __init__(
        self, words: int = 17_964, features: int = 30, hidden: int = 100, n: int = 6
    ) -> None:
        super().__init__()
        before = (n - 1) * features
        self.features = nn.Embedding(words, features)
        self.hidden = nn.Linear(before, hidden)
        self.output = nn.Linear(hidden, words)
        self.direct = nn.Linear(before, words, bias=False)

    def forward(self, words: Tensor) -> Tensor:
        """Predict the next word."""
        x = self.features(words).flatten(1)
        return self.output(torch.tanh(self.hidden(x))) + self.direct(x)


class ContinuousBagOfWords(nn.Module):
    """CBOW: the word between its neighbours, from their mean (Mikolov et al. 2013, section 3.1).

    Shapes: neighbours int64[b, 8] to logits [b, words].
    """

    def __init__(self, words: int = 30_000, width: int = 600) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, neighbours: Tensor) -> Tensor:
        """Predict the word in the middle."""
        return self.head(self.embed(neighbours).mean(1))


class Highway(nn.Module):
    """A highway layer: t * relu(Wx) + (1 - t) * x (Srivastava et al. 2015, equation 3)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.transform, self.gate = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: [..., d]."""
        gate = torch.sigmoid(self.gate(x))
        return gate * torch.relu(self.transform(x)) + (1 - gate) * x


class CharacterAwareLM(nn.Module):
    """Character-aware language model (Kim et al. 2016, section 2 and table 2).

    Convolutions over the letters of each word, highway layers, two layers of LSTM.

    Shapes: letters int64[b, t, 21] to logits [b, t, words].
    """

    def __init__(
        self, filters: list[int], highways: int, width: int, words: int = 10_000, letters: int = 51
    ) -> None:
        super().__init__()
        self.letters = nn.Embedding(letters, 15)
        self.convs = nn.ModuleList(nn.Conv1d(15, n, size) for size, n in enumerate(filters, 1))
        self.highways = nn.Sequential(*(Highway(sum(filters)) for _ in range(highways)))
        self.lstm = nn.LSTM(sum(filters), width, 2, batch_first=True, dropout=0.5)
        self.head = nn.Linear(width, words)

    def forward(self, letters: Tensor) -> Tensor:
        """Predict each next word."""
        batch, steps, _ = letters.shape
        x = self.letters(letters.flatten(0, 1)).transpose(1, 2)
        pooled = [torch.tanh(conv(x)).amax(2) for conv in self.convs]
        words = self.highways(torch.cat(pooled, dim=1)).view(batch, steps, -1)
        return self.head(self.lstm(words)[0])


class AWDLSTM(nn.Module):
    """AWD-LSTM (Merity et al. 2017, section 5): 400 features, 1,150 cells, tied weights.

    The dropped connections act in training alone; here all are there.

    Shapes: int64[b, t] to logits [b, t, words].
    """

    def __init__(self, words: int = 10_000, features: int = 400, width: int = 1150) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, features)
        sizes = [features, width, width, features]
        self.layers = nn.ModuleList(
            nn.LSTM(a, b, batch_first=True) for a, b in itertools.pairwise(sizes)
        )
        self.head = nn.Linear(features, words)
        self.head.weight = self.embed.weight

    def forward(self, words: Tensor) -> Tensor:
        """Predict each next word."""
        x = self.embed(words)
        for layer in self.layers:
            x, _ = layer(x)
        return self.head(x)


class GNMT(nn.Module):
    """Google's neural machine translation (Wu et al. 2016, section 3): eight layers, residual.

    The first encoder layer is bidirectional; residual connections start at the third layer. The
    attention of the first decoder layer feeds all of them.

    Shapes: int64[b, s] and int64[b, t] to logits [b, t, 32000].
    """

    def __init__(self, pieces: int = 32_000, width: int = 1024, layers: int = 8) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(pieces, width), nn.Embedding(pieces, width)
        self.bottom = nn.LSTM(width, width, batch_first=True, bidirectional=True)
        self.encoder = nn.ModuleList(
            nn.LSTM(width * (1 + (not number)), width, batch_first=True)
            for number in range(layers - 1)
        )
        self.first = nn.LSTMCell(2 * width, width)
        self.of_state = nn.Linear(width, width, bias=False)
        self.of_memory = nn.Linear(width, width, bias=False)
        self.score = nn.Linear(width, 1, bias=False)
        self.decoder = nn.ModuleList(
            nn.LSTM(2 * width, width, batch_first=True) for _ in range(layers - 1)
        )
        self.head = nn.Linear(width, pieces)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Predict each next piece."""
        memory = self._encoded(self.source(source))
        keys = self.of_memory(memory)
        context, state, steps, contexts = torch.zeros_like(memory[:, 0]), None, [], []
        for piece in self.target(target).unbind(1):
            state = self.first(torch.cat([piece, context], dim=1), state)
            hidden = torch.tanh(keys + self.of_state(state[0])[:, None])
            context = (self.score(hidden).softmax(1) * memory).sum(1)
            steps.append(state[0])
            contexts.append(context)
        x, known = torch.stack(steps, dim=1), torch.stack(contexts, dim=1)
        for number, layer in enumerate(self.decoder):
            y, _ = layer(torch.cat([x, known], dim=2))
            x = x + y if number else y
        return self.head(x)

    def _encoded(self, x: Tensor) -> Tensor:
        x, _ = self.bottom(x)
        for number, layer in enumerate(self.encoder):
            y, _ = layer(x)
            x = x + y if number else y
        return x
