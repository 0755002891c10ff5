"""Random modules with loops and recurrences, each made from its number alone."""

import random

import torch
from torch import nn

STEMS = ("signal", "picture", "words", "vectors", "two")
CELLS = ("gru", "lstm", "tanh", "module", "scan")
LOOPS = ("last", "second", "first", "rows", "rounds", "until", "nested", "halving")
ENDINGS = ("plain", "asserts", "row", "table", "pair", "matrix", "key", "never")


class RandomLoop(nn.Module):
    """A stem, a cell that a loop runs, and an ending that few inputs or none may meet."""

    def __init__(self, number):
        super().__init__()
        chance = random.Random(number)
        self.kinds = [chance.choice(each) for each in (STEMS, CELLS, LOOPS, ENDINGS)]
        self.width, self.wanted = chance.choice((4, 8, 24)), chance.randint(2, 40)
        self.rounds = chance.choice((3, 20, 200, 3_000))
        channels, width = chance.choice((1, 3, 7, 80)), self.width
        stems = {
            "signal": lambda: nn.Conv1d(channels, width, 3, padding=1),
            "picture": lambda: nn.Conv2d(channels, width, 3, padding=1),
            "words": lambda: nn.Embedding(50, width),
            "vectors": lambda: nn.Linear(channels, width),
            "two": lambda: nn.Sequential(nn.Linear(channels, width), nn.ReLU()),
        }
        cells = {
            "gru": lambda: nn.GRUCell(width, width),
            "lstm": lambda: nn.LSTMCell(width, width),
            "tanh": lambda: nn.Linear(width, width),
            "module": lambda: nn.GRU(width, width),
            "scan": lambda: nn.Linear(width, width),
        }
        self.stem, self.cell = stems[self.kinds[0]](), cells[self.kinds[1]]()
        self.out = nn.Linear(width, 5)

    def forward(self, x, other):
        x = self.stem(x)
        if self.kinds[0] in ("signal", "picture"):
            x = x.movedim(1, -1)
        state = torch.zeros(x.shape[0], self.width)
        for now in self.steps(x, state):
            state = self.step(now.reshape(-1, self.width)[: len(state)], state)
        return self.end(self.out(state), other)

    def step(self, now, state):
        kind = self.kinds[1]
        if kind == "gru":
            return self.cell(now, state)
        if kind == "lstm":
            return self.cell(now, (state, state))[0]
        if kind == "module":
            return self.cell(now[None], state[None])[0][0]
        if kind == "scan":
            return state * torch.sigmoid(self.cell(now)) + now
        return torch.tanh(self.cell(state) + now)

    def steps(self, x, state):
        kind = self.kinds[2]
        if kind in ("last", "second", "first", "rows", "nested"):
            place = {"last": -2, "second": 1, "first": 0}.get(kind, -2)
            for now in x.unbind(place if -x.dim() <= place < x.dim() else 0):
                yield now
                if kind in ("rows", "nested"):
                    yield from now.unbind(0)
        elif kind == "rounds":
            for _ in range(self.rounds):
                yield x
        elif kind == "until":
            while (x.abs().mean() > 1e-3).item():
                x = self.stem.weight.mean() * x
                yield x
        else:
            while x.shape[-2] > 1:
                x = x[..., ::2, :]
                yield x

    def end(self, y, other):
        kind = self.kinds[3]
        if kind == "asserts":
            assert other.shape[-1] == self.wanted, other.shape
        if kind == "row":
            return y + other[self.wanted]
        if kind == "table":
            return y @ other.table
        if kind == "pair":
            first, second = other
            return y * first.sum() + second
        if kind == "matrix":
            return y @ other.reshape(5, self.wanted)
        if kind == "key":
            return y + other["mask"]["inner"].sum()
        if kind == "never":
            raise ValueError("not today")
        return y + other.float().mean()
