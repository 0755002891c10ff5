"""Networks with a memory: neural Turing machine, DNC, end-to-end memory, relations."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def _likeness(key: Tensor, memory: Tensor) -> Tensor:
    """Cosine of a key with each row. Shapes: [b, ..., w] and [b, n, w] to [b, ..., n]."""
    return F.normalize(key, dim=-1) @ F.normalize(memory, dim=-1).transpose(-1, -2)


class Head(nn.Module):
    """Addresses a memory by content and place (Graves et al. 2014, section 3.3)."""

    def __init__(self, controller: int, width: int) -> None:
        super().__init__()
        self.sizes = [width, 1, 1, 3, 1]
        self.emit = nn.Linear(controller, sum(self.sizes))

    def forward(self, state: Tensor, memory: Tensor, before: Tensor) -> Tensor:
        """Return the next weights. Shapes: [b, h], [b, n, w], [b, n] to [b, n]."""
        key, beta, gate, shift, gamma = self.emit(state).split(self.sizes, dim=1)
        content = (F.softplus(beta) * _likeness(key[:, None], memory).squeeze(1)).softmax(1)
        gate, shift = torch.sigmoid(gate), shift.softmax(1)
        weights = gate * content + (1 - gate) * before
        turned = torch.stack([weights.roll(step, dims=1) for step in (-1, 0, 1)], dim=2)
        sharp = (turned @ shift[:, :, None]).squeeze(2) ** (1 + F.softplus(gamma))
        return sharp / sharp.sum(1, keepdim=True)


class NeuralTuringMachine(nn.Module):
    """Neural Turing machine (Graves et al. 2014): LSTM of 100 cells, memory of 128 rows of 20.

    As for the copy task (table 3): one head that reads and one that writes.

    Shapes: bits [b, t, 9] to logits [b, t, 8].
    """

    def __init__(self, inputs: int = 9, outputs: int = 8, rows: int = 128, width: int = 20) -> None:
        super().__init__()
        self.controller = nn.LSTMCell(inputs + width, 100)
        self.reader, self.writer = Head(100, width), Head(100, width)
        self.erase, self.add = nn.Linear(100, width), nn.Linear(100, width)
        self.memory = nn.Parameter(torch.zeros(rows, width))
        self.read = nn.Parameter(torch.zeros(width))
        self.weights = nn.Parameter(torch.zeros(2, rows))
        self.head = nn.Linear(100 + width, outputs)

    def forward(self, bits: Tensor) -> Tensor:
        """Read and write at every step."""
        batch = len(bits)
        memory, read = self.memory.expand(batch, -1, -1), self.read.expand(batch, -1)
        reading, writing = self.weights.softmax(1).expand(batch, -1, -1).unbind(1)
        state, logits = None, []
        for x in bits.unbind(1):
            state = self.controller(torch.cat([x, read], dim=1), state)
            h = state[0]
            writing = self.writer(h, memory, writing)
            erased = writing[:, :, None] * torch.sigmoid(self.erase(h))[:, None]
            memory = memory * (1 - erased) + writing[:, :, None] * self.add(h)[:, None]
            reading = self.reader(h, memory, reading)
            read = (reading[:, None] @ memory).squeeze(1)
            logits.append(self.head(torch.cat([h, read], dim=1)))
        return torch.stack(logits, dim=1)


class DNC(nn.Module):
    """Differentiable neural computer (Graves et al. 2016, Methods), as for bAbI.

    LSTM of 256 cells, memory of 256 rows of 64, four heads that read.

    Shapes: words, one-hot [b, t, 159] to logits [b, t, 159].
    """

    def __init__(
        self, words: int = 159, hidden: int = 256, rows: int = 256, width: int = 64, heads: int = 4
    ) -> None:
        super().__init__()
        self.rows, self.width, self.heads = rows, width, heads
        self.controller = nn.LSTMCell(words + heads * width, hidden)
        self.sizes = [heads * width, heads, width, 1, width, width, heads, 1, 1, 3 * heads]
        self.interface = nn.Linear(hidden, sum(self.sizes), bias=False)
        self.output = nn.Linear(hidden, words, bias=False)
        self.of_reads = nn.Linear(heads * width, words, bias=False)

    def forward(self, words: Tensor) -> Tensor:
        """Read and write at every step."""
        batch, n = len(words), self.rows
        memory, usage = words.new_zeros(batch, n, self.width), words.new_zeros(batch, n)
        link, precedence = words.new_zeros(batch, n, n), words.new_zeros(batch, n)
        writing, reading = words.new_zeros(batch, n), words.new_zeros(batch, self.heads, n)
        reads = words.new_zeros(batch, self.heads * self.width)
        others = 1 - torch.eye(n, device=words.device)
        state, logits = None, []
        for x in words.unbind(1):
            state = self.controller(torch.cat([x, reads], dim=1), state)
            parts = self.interface(state[0]).split(self.sizes, dim=1)
            keys, strengths, key, strength, erase, new, free, allocate, write, modes = parts
            retained = (1 - torch.sigmoid(free)[:, :, None] * reading).prod(1)
            usage = (usage + writing - usage * writing) * retained
            content = (_oneplus(strength) * _likeness(key[:, None], memory).squeeze(1)).softmax(1)
            gate = torch.sigmoid(allocate)
            writing = torch.sigmoid(write) * (gate * _allocation(usage) + (1 - gate) * content)
            kept = 1 - writing[:, :, None] * torch.sigmoid(erase)[:, None]
            memory = memory * kept + writing[:, :, None] * new[:, None]
            pair = 1 - writing[:, :, None] - writing[:, None]
            link = (pair * link + writing[:, :, None] * precedence[:, None]) * others
            precedence = (1 - writing.sum(1, keepdim=True)) * precedence + writing
            alike = _likeness(keys.unflatten(1, (self.heads, -1)), memory)
            found = (_oneplus(strengths)[:, :, None] * alike).softmax(2)
            ways = torch.stack([reading @ link, found, reading @ link.transpose(1, 2)], dim=2)
            mode = modes.unflatten(1, (self.heads, 3)).softmax(2)
            reading = (mode[:, :, None] @ ways).squeeze(2)
            reads = (reading @ memory).flatten(1)
            logits.append(self.output(state[0]) + self.of_reads(reads))
        return torch.stack(logits, dim=1)


def _oneplus(x: Tensor) -> Tensor:
    return 1 + F.softplus(x)


def _allocation(usage: Tensor) -> Tensor:
    """The weights with which the least used rows are offered. Shapes: [b, n]."""
    ordered, places = usage.sort(dim=1)
    before = F.pad(ordered.cumprod(1)[:, :-1], (1, 0), value=1.0)
    return torch.zeros_like(usage).scatter(1, places, (1 - ordered) * before)


class EndToEndMemory(nn.Module):
    """End-to-end memory network (Sukhbaatar et al. 2015, section 2 and 4.1): three hops.

    Adjacent weights are tied; words are weighted by place, sentences marked by time.

    Shapes: story int64[b, 50, n] and question int64[b, n] to logits [b, words].
    """

    def __init__(self, words: int = 180, width: int = 20, hops: int = 3, rows: int = 50) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(words, width) for _ in range(hops + 1))
        self.times = nn.ParameterList(torch.zeros(rows, width) for _ in range(hops + 1))
        self.hops = hops

    def forward(self, story: Tensor, question: Tensor) -> Tensor:
        """Answer a question about a story with one word."""
        u = self._sentence(0, question)
        for hop in range(self.hops):
            inputs = self._sentence(hop, story) + self.times[hop]
            outputs = self._sentence(hop + 1, story) + self.times[hop + 1]
            weights = (inputs @ u[:, :, None]).squeeze(2).softmax(1)
            u = u + (weights[:, None] @ outputs).squeeze(1)
        return u @ self.tables[self.hops].get_parameter("weight").T

    def _sentence(self, number: int, words: Tensor) -> Tensor:
        """Position encoding: l_kj = (1 - j/J) - (k/d)(1 - 2j/J)."""
        embedded = self.tables[number](words)
        count, width = embedded.shape[-2:]
        j = torch.arange(1, count + 1, device=words.device)[:, None] / count
        k = torch.arange(1, width + 1, device=words.device) / width
        return (embedded * ((1 - j) - k * (1 - 2 * j))).sum(-2)


class RelationNetwork(nn.Module):
    """Relation network for CLEVR from pixels (Santoro et al. 2017, section 5 and appendix).

    Four convolutions of 24 channels, an LSTM of 128 for the question, g of four layers of 256 over
    all pairs of places, f of 256, 256 and 29.

    Shapes: image [b, 3, 128, 128] and question int64[b, n] to logits [b, 29].
    """

    def __init__(self, words: int = 90, answers: int = 29) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for channels in (3, 24, 24, 24):
            layers += [nn.Conv2d(channels, 24, 3, 2, 1), nn.ReLU(), nn.BatchNorm2d(24)]
        self.see = nn.Sequential(*layers)
        self.embed, self.read = nn.Embedding(words, 32), nn.LSTM(32, 128, batch_first=True)
        dense: list[nn.Module] = []
        for size in (2 * 26 + 128, 256, 256, 256):
            dense += [nn.Linear(size, 256), nn.ReLU()]
        self.relate = nn.Sequential(*dense)
        self.answer = nn.Sequential(
            nn.Linear(256, 256),
            nn.ReLU(),
            nn.Linear(256, 256),
            nn.ReLU(),
            nn.Dropout(0.5),
            nn.Linear(256, answers),
        )

    def forward(self, image: Tensor, question: Tensor) -> Tensor:
        """Answer a question about an image."""
        objects = self.see(image).flatten(2).transpose(1, 2)  # [b, 64, 24]
        side = torch.linspace(-1, 1, int(objects.shape[1] ** 0.5), device=image.device)
        places = torch.cartesian_prod(side, side).expand(len(image), -1, -1)
        objects = torch.cat([objects, places], dim=2)
        asked = self.read(self.embed(question))[1][0][-1]
        count = objects.shape[1]
        left = objects[:, :, None].expand(-1, -1, count, -1)
        right = objects[:, None].expand(-1, count, -1, -1)
        asked = asked[:, None, None].expand(-1, count, count, -1)
        return self.answer(self.relate(torch.cat([left, right, asked], dim=3)).sum((1, 2)))
