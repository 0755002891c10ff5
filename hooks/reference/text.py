"""Classification, inference and reading of text before the transformer."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .language import Highway


class TextCNN(nn.Module):
    """Convolutions for sentences (Kim 2014, section 2 and 3.1): windows of 3, 4 and 5, 100 each.

    Shapes: int64[b, t] to logits [b, classes].
    """

    def __init__(self, words: int = 18_765, classes: int = 2) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, 300)
        self.convs = nn.ModuleList(nn.Conv1d(300, 100, size) for size in (3, 4, 5))
        self.head = nn.Sequential(nn.Dropout(0.5), nn.Linear(300, classes))

    def forward(self, words: Tensor) -> Tensor:
        """Classify a sentence."""
        x = self.embed(words).transpose(1, 2)
        return self.head(torch.cat([F.relu(conv(x)).amax(2) for conv in self.convs], dim=1))


class CharCNN(nn.Module):
    """Character-level convolutions (Zhang et al. 2015, tables 1 and 2), 70 letters.

    Shapes: one-hot letters [b, 70, 1014] to logits [b, classes].
    """

    def __init__(self, width: int = 1024, dense: int = 2048, classes: int = 14) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        channels = 70
        for kernel, pooled in ((7, 1), (7, 1), (3, 0), (3, 0), (3, 0), (3, 1)):
            layers += [nn.Conv1d(channels, width, kernel), nn.ReLU()]
            layers += [nn.MaxPool1d(3)] * pooled
            channels = width
        self.features = nn.Sequential(*layers, nn.Flatten())
        self.head = nn.Sequential(
            nn.Linear(34 * width, dense),
            nn.ReLU(),
            nn.Dropout(0.5),
            nn.Linear(dense, dense),
            nn.ReLU(),
            nn.Dropout(0.5),
            nn.Linear(dense, classes),
        )

    def forward(self, letters: Tensor) -> Tensor:
        """Classify a text."""
        return self.head(self.features(letters))


class VDCNNBlock(nn.Module):
    """Two convolutions of three letters (Conneau et al. 2016, figure 2), with a shortcut."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(a, b, 3, padding=1),
            nn.BatchNorm1d(b),
            nn.ReLU(),
            nn.Conv1d(b, b, 3, padding=1),
            nn.BatchNorm1d(b),
            nn.ReLU(),
        )
        self.shortcut = nn.Identity() if a == b else nn.Conv1d(a, b, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: [b, c, t]."""
        return self.layers(x) + self.shortcut(x)


class VDCNN(nn.Module):
    """Very deep convolutions for text (Conneau et al. 2016, figure 1, table 2).

    Args:
        blocks: For each of the widths 64, 128, 256 and 512.

    Shapes: letters int64[b, 1024] to logits [b, classes].
    """

    def __init__(self, blocks: tuple[int, ...], classes: int = 14, letters: int = 69) -> None:
        super().__init__()
        self.embed = nn.Embedding(letters, 16)
        layers: list[nn.Module] = [nn.Conv1d(16, 64, 3, padding=1)]
        before = 64
        for level, depth in enumerate(blocks):
            layers += [nn.MaxPool1d(3, 2, 1)] * bool(level)
            for _ in range(depth):
                layers.append(VDCNNBlock(before, 64 * 2**level))
                before = 64 * 2**level
        self.features = nn.Sequential(*layers)
        self.head = nn.Sequential(
            nn.Linear(4096, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU()
        )
        self.last = nn.Linear(2048, classes)

    def forward(self, letters: Tensor) -> Tensor:
        """Classify a text from the 8 greatest values of each channel."""
        x = self.features(self.embed(letters).transpose(1, 2))
        return self.last(self.head(x.topk(8, dim=2).values.flatten(1)))


class DeepAveragingNet(nn.Module):
    """Deep averaging network (Iyyer et al. 2015, section 3): layers of 300 above the mean word.

    Shapes: int64[b, t] to logits [b, classes].
    """

    def __init__(self, words: int = 20_000, classes: int = 2, layers: int = 3) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, 300)
        dense: list[nn.Module] = []
        for _ in range(layers):
            dense += [nn.Linear(300, 300), nn.ReLU()]
        self.layers = nn.Sequential(*dense)
        self.head = nn.Linear(300, classes)

    def forward(self, words: Tensor) -> Tensor:
        """Classify a text."""
        return self.head(self.layers(self.embed(words).mean(1)))


class AttentivePool(nn.Module):
    """The sum weighted by the likeness to a learned vector (Yang et al. 2016, equations 5 to 7)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(width, width)
        self.context = nn.Linear(width, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: [b, t, d] to [b, d]."""
        weights = self.context(torch.tanh(self.hidden(x))).softmax(1)
        return (weights * x).sum(1)


class HierarchicalAttention(nn.Module):
    """Hierarchical attention network (Yang et al. 2016, section 2): words, then sentences.

    Shapes: a document int64[b, sentences, words] to logits [b, classes].
    """

    def __init__(self, words: int = 30_000, classes: int = 5) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, 200)
        self.words = nn.GRU(200, 50, batch_first=True, bidirectional=True)
        self.of_words = AttentivePool(100)
        self.sentences = nn.GRU(100, 50, batch_first=True, bidirectional=True)
        self.of_sentences = AttentivePool(100)
        self.head = nn.Linear(100, classes)

    def forward(self, document: Tensor) -> Tensor:
        """Classify a document."""
        batch = len(document)
        read, _ = self.words(self.embed(document.flatten(0, 1)))
        sentences = self.of_words(read).view(batch, -1, 100)
        return self.head(self.of_sentences(self.sentences(sentences)[0]))


def _two_layers(a: int, width: int = 200) -> nn.Module:
    return nn.Sequential(nn.Linear(a, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())


class DecomposableAttention(nn.Module):
    """Decomposable attention for inference (Parikh et al. 2016, section 3 and 4).

    Args:
        intra: With attention inside each sentence (section 3.4), to places up to 10 words away.

    Shapes: int64[b, n] and int64[b, m] to logits [b, 3].
    """

    def __init__(self, words: int = 30_000, intra: bool = False) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, 300)
        self.project = nn.Linear(300, 200, bias=False)
        self.inside = _two_layers(200) if intra else None
        self.distances = nn.Parameter(torch.zeros(11)) if intra else None
        width = 400 if intra else 200
        self.attend, self.compare = _two_layers(width), _two_layers(2 * width)
        self.aggregate = _two_layers(400)
        self.head = nn.Linear(200, 3)

    def forward(self, premise: Tensor, hypothesis: Tensor) -> Tensor:
        """Say whether the premise entails the hypothesis."""
        a, b = (self._inside(self.project(self.embed(text))) for text in (premise, hypothesis))
        scores = self.attend(a) @ self.attend(b).transpose(1, 2)
        beta, alpha = scores.softmax(2) @ b, scores.transpose(1, 2).softmax(2) @ a
        v1 = self.compare(torch.cat([a, beta], dim=2)).sum(1)
        v2 = self.compare(torch.cat([b, alpha], dim=2)).sum(1)
        return self.head(self.aggregate(torch.cat([v1, v2], dim=1)))

    def _inside(self, x: Tensor) -> Tensor:
        if self.inside is None or self.distances is None:
            return x
        hidden = self.inside(x)
        places = torch.arange(x.shape[1], device=x.device)
        away = (places[:, None] - places).abs().clamp(max=10)
        scores = hidden @ hidden.transpose(1, 2) + self.distances[away]
        return torch.cat([x, scores.softmax(2) @ x], dim=2)


class ESIM(nn.Module):
    """Enhanced sequential inference (Chen et al. 2017, section 3): LSTM, alignment, LSTM.

    Shapes: int64[b, n] and int64[b, m] to logits [b, 3].
    """

    def __init__(self, words: int = 30_000, width: int = 300) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, 300)
        self.encode = nn.LSTM(300, width, batch_first=True, bidirectional=True)
        self.project = nn.Sequential(nn.Linear(8 * width, width), nn.ReLU())
        self.compose = nn.LSTM(width, width, batch_first=True, bidirectional=True)
        self.head = nn.Sequential(nn.Linear(8 * width, width), nn.Tanh(), nn.Linear(width, 3))

    def forward(self, premise: Tensor, hypothesis: Tensor) -> Tensor:
        """Say whether the premise entails the hypothesis."""
        a, b = (self.encode(self.embed(text))[0] for text in (premise, hypothesis))
        scores = a @ b.transpose(1, 2)
        of_a, of_b = scores.softmax(2) @ b, scores.transpose(1, 2).softmax(2) @ a
        pooled = []
        for x, other in ((a, of_a), (b, of_b)):
            local = self.project(torch.cat([x, other, x - other, x * other], dim=2))
            composed, _ = self.compose(local)
            pooled += [composed.mean(1), composed.amax(1)]
        return self.head(torch.cat(pooled, dim=1))


class BiDAF(nn.Module):
    """Bidirectional attention flow (Seo et al. 2017, section 2), d = 100.

    Shapes: words int64[b, t] and letters int64[b, t, 16] of the text, the same of the question
    with j words, to the logits of start and end, [b, t] each.
    """

    def __init__(self, words: int = 30_000, letters: int = 262, d: int = 100) -> None:
        super().__init__()
        self.words, self.letters = nn.Embedding(words, 100), nn.Embedding(letters, 8)
        self.conv = nn.Conv1d(8, 100, 5)
        self.highways = nn.Sequential(Highway(200), Highway(200))
        self.context = nn.LSTM(200, d, batch_first=True, bidirectional=True)
        self.score = nn.Linear(6 * d, 1, bias=False)
        self.model = nn.LSTM(8 * d, d, 2, batch_first=True, bidirectional=True)
        self.second = nn.LSTM(2 * d, d, batch_first=True, bidirectional=True)
        self.start, self.end = (nn.Linear(10 * d, 1, bias=False) for _ in range(2))

    def forward(
        self, text: Tensor, text_letters: Tensor, question: Tensor, question_letters: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Find the answer to the question in the text."""
        h, u = self._read(text, text_letters), self._read(question, question_letters)
        pairs = (
            h[:, :, None].expand(-1, -1, u.shape[1], -1),
            u[:, None].expand_as(h[:, :, None].expand(-1, -1, u.shape[1], -1)),
        )
        scores = self.score(torch.cat([*pairs, pairs[0] * pairs[1]], dim=3)).squeeze(3)
        to_question = scores.softmax(2) @ u
        to_text = (scores.amax(2).softmax(1)[:, None] @ h).expand_as(h)
        g = torch.cat([h, to_question, h * to_question, h * to_text], dim=2)
        m, _ = self.model(g)
        m2, _ = self.second(m)
        start, end = self.start(torch.cat([g, m], dim=2)), self.end(torch.cat([g, m2], dim=2))
        return start.squeeze(2), end.squeeze(2)

    def _read(self, words: Tensor, letters: Tensor) -> Tensor:
        x = self.letters(letters.flatten(0, 1)).transpose(1, 2)
        pooled = F.relu(self.conv(x)).amax(2).view(*words.shape, -1)
        return self.context(self.highways(torch.cat([self.words(words), pooled], dim=2)))[0]
