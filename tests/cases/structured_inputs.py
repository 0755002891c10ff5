"""Modules whose inputs are dicts, lists, packed sequences, or that remember an earlier batch."""

from typing import Dict, List, Tuple  # noqa: UP035  (as many models are annotated)

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence


def picture_encoder(channels=3):
    layers = nn.Conv2d(channels, 16, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()
    return nn.Sequential(*layers)


class Pyramid(nn.Module):
    """The keys are those of a ModuleDict."""

    def __init__(self):
        super().__init__()
        scales = {"large": nn.Conv2d(1, 16, 3, padding=1), "small": nn.Conv2d(2, 16, 3, padding=1)}
        self.scales, self.out = nn.ModuleDict(scales), nn.Conv2d(32, 4, 1)

    def forward(self, pyramid: Dict[str, torch.Tensor]):  # noqa: UP006
        found = [F.interpolate(self.scales[k](v), size=(64, 64)) for k, v in pyramid.items()]
        return self.out(torch.cat(found, 1))


class SideBySide(nn.Module):
    """A list is walked beside a ModuleList."""

    def __init__(self):
        super().__init__()
        self.nets = nn.ModuleList(
            nn.Sequential(nn.Conv2d(2, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, n, 1))
            for n in (2, 1, 2)
        )

    def forward(self, blocks):
        return [block * net(block) for net, block in zip(self.nets, blocks, strict=False)]


class PictureAndSound(nn.Module):
    def __init__(self):
        super().__init__()
        self.vision = picture_encoder()
        self.hearing = nn.Sequential(
            nn.Conv1d(1, 16, 9, 4), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten()
        )
        self.out = nn.Linear(32, 10)

    def forward(self, inputs: Tuple[torch.Tensor, torch.Tensor]):  # noqa: UP006
        seen, heard = inputs
        return self.out(torch.cat([self.vision(seen), self.hearing(heard)], 1))


class TwoViews(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(picture_encoder(), nn.Linear(16, 8))

    def forward(self, batch):
        return self.net(batch["img"]["view_1"]) + self.net(batch["img"]["view_2"])


class StepsFirst(nn.Module):
    """Ids of shape (steps, samples), as in many a lesson on translation."""

    def __init__(self):
        super().__init__()
        self.source, self.encoder = nn.Embedding(60, 16), nn.GRU(16, 32)
        self.target, self.cell, self.out = (
            nn.Embedding(50, 16),
            nn.GRUCell(16, 32),
            nn.Linear(32, 50),
        )

    def forward(self, src, trg):
        state = self.encoder(self.source(src))[1][0]
        outs = torch.zeros(*trg.shape, 50)
        for step in range(1, trg.shape[0]):
            state = self.cell(self.target(trg[step]), state)
            outs[step] = self.out(state)
        return outs


class CellOverSteps(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(10, 20)

    def forward(self, x):
        state = cell = torch.zeros(x.shape[1], 20)
        found = []
        for step in range(x.shape[0]):
            state, cell = self.cell(x[step], (state, cell))
            found.append(state)
        return torch.stack(found)


class Membrane(nn.Module):
    """A neuron that keeps its potential from call to call."""

    def __init__(self):
        super().__init__()
        self.potential = None

    def forward(self, x):
        self.potential = x if self.potential is None else 0.9 * self.potential + x
        spikes = (self.potential > 1).float()
        self.potential = self.potential - spikes
        return spikes


def used(model, *inputs):
    model(*inputs)
    return model


def spiking():
    layers = nn.Conv2d(2, 12, 5), Membrane(), nn.AdaptiveAvgPool2d(4), nn.Flatten()
    return nn.Sequential(*layers, nn.Linear(192, 10))


def exported():
    net = nn.Sequential(picture_encoder(), nn.Linear(16, 2)).eval()
    return torch.export.export(net, (torch.randn(1, 3, 32, 32),)).module()


# -- further cases, written after the repair ------------------------------------------------


class Modalities(nn.Module):
    """Dict of encoders, keys by a loop over the dict of modules; a missing one is skipped."""

    def __init__(self):
        super().__init__()
        self.encoders = nn.ModuleDict(
            {"image": picture_encoder(), "audio": nn.Sequential(nn.Linear(40, 16), nn.Tanh())}
        )
        self.out = nn.Linear(32, 3)

    def forward(self, x):
        found = []
        for name, encoder in self.encoders.items():
            found.append(encoder(x[name]))
        return self.out(torch.cat(found, -1))


class ByPlace(nn.Module):
    """A tower for each place of a list."""

    def __init__(self):
        super().__init__()
        self.towers = nn.ModuleList(nn.Linear(width, 8) for width in (5, 7, 11, 13))

    def forward(self, features: List[torch.Tensor]):  # noqa: UP006
        found = 0
        for i in range(len(self.towers)):
            found = found + self.towers[i](features[i])
        return found


class Heterogeneous(nn.Module):
    """Messages between nodes of two types, along edges of two."""

    def __init__(self):
        super().__init__()
        self.inputs = nn.ModuleDict({"paper": nn.Linear(20, 8), "author": nn.Linear(12, 8)})
        self.messages = nn.ModuleDict(
            {"author__writes__paper": nn.Linear(8, 8), "paper__cites__paper": nn.Linear(8, 8)}
        )

    def forward(self, x_dict, edge_index_dict):
        x = {kind: self.inputs[kind](features) for kind, features in x_dict.items()}
        out = dict(x)
        for (source, relation, target), edges in edge_index_dict.items():
            message = self.messages[f"{source}__{relation}__{target}"](x[source])[edges[0]]
            out[target] = out[target].index_add(0, edges[1], message)
        return out["paper"]


class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.out = nn.GRU(24, 32, batch_first=True), nn.Linear(32, 4)

    def forward(self, sequence: PackedSequence):
        padded, _ = pad_packed_sequence(self.rnn(sequence)[0], batch_first=True)
        return self.out(padded[:, -1])


class InAMethod(nn.Module):
    """The batch is read in helpers and in a part."""

    class Part(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(100, 16)

        def forward(self, batch):
            return self.words(batch["tokens"]["ids"]).mean(1)

    def __init__(self):
        super().__init__()
        self.text, self.image, self.out = self.Part(), picture_encoder(), nn.Linear(32, 2)

    def features(self, batch):
        return self.image(batch["image"])

    def forward(self, batch):
        return self.out(torch.cat([self.features(batch), self.text(batch)], -1))


class Pair(nn.Module):
    """Two branches of a siamese network, unpacked in the signature's place."""

    def __init__(self):
        super().__init__()
        self.net, self.out = picture_encoder(1), nn.Linear(16, 1)

    def forward(self, pair):
        left, right = pair
        return self.out((self.net(left) - self.net(right)).abs())


class DecodesIds(nn.Module):
    """Steps first, through a variable and a method."""

    def __init__(self):
        super().__init__()
        self.table, self.cell, self.out = nn.Embedding(30, 8), nn.LSTMCell(8, 8), nn.Linear(8, 30)

    def forward(self, tokens):
        steps, samples = tokens.size()
        state = torch.zeros(samples, 8), torch.zeros(samples, 8)
        words, found = self.table(tokens), []
        for step in range(steps):
            state = self.cell(words[step], state)
            found.append(self.out(state[0]))
        return torch.stack(found)


class Leaky(nn.Module):
    """The state begins as a number, and a pair of it is kept."""

    def __init__(self):
        super().__init__()
        self.voltage, self.trace, self.layer = 0.0, 0.0, nn.Linear(6, 4)

    def forward(self, x):
        self.voltage = 0.5 * self.voltage + self.layer(x)
        self.trace = 0.9 * self.trace + self.voltage.sigmoid()
        return self.trace


class KeepsItsCell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.hidden = nn.LSTMCell(6, 5), None

    def forward(self, x):
        self.hidden = self.cell(x, self.hidden)
        return self.hidden[0]


class TextAndMask(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.layer = nn.Embedding(100, 16), nn.TransformerEncoderLayer(16, 2, 32)

    def forward(self, ids, *, mask):
        return self.layer(self.words(ids) * mask[..., None])


def exported_text():
    example = torch.ones(2, 12, dtype=torch.int64), torch.ones(2, 12)
    length = torch.export.Dim("length", min=2, max=64)
    program = torch.export.export(
        TextAndMask().eval(),
        example[:1],
        {"mask": example[1]},
        dynamic_shapes={"ids": {1: length}, "mask": {1: length}},
    )
    return program.module()


class NestedPair(nn.Module):
    """A dict in a list: camera and its rays."""

    def __init__(self):
        super().__init__()
        self.rays, self.net = nn.Linear(6, 32), nn.Linear(32, 4)

    def forward(self, views):
        first, second = views
        return self.net(self.rays(first["rays"]) + self.rays(second["rays"]))


# What makes a model, and inputs that it takes.
STATED = {
    "dict of named parts": (Pyramid, lambda: ({"large": image(1, 64), "small": image(2, 32)},)),
    "list beside modules": (SideBySide, lambda: ([image(2, 8), image(2, 16), image(2, 8)],)),
    "annotated pair": (PictureAndSound, lambda: ((image(3, 64), torch.randn(1, 1, 900)),)),
    "nested dict": (TwoViews, lambda: ({"img": {"view_1": image(3, 32), "view_2": image(3, 32)}},)),
    "ids, steps first": (StepsFirst, lambda: (ids(9, 1), ids(7, 1))),
    "floats, steps first": (CellOverSteps, lambda: (torch.randn(5, 1, 10),)),
    "left over": (lambda: used(spiking(), torch.rand(4, 2, 34, 34)), lambda: (image(2, 34),)),
    "exported": (exported, lambda: (image(3, 32),)),
}
FURTHER = {
    "encoders by name": (
        Modalities,
        lambda: ({"image": image(3, 32), "audio": torch.rand(1, 40)},),
    ),
    "towers by place": (ByPlace, lambda: ([torch.randn(1, n) for n in (5, 7, 11, 13)],)),
    "heterogeneous": (Heterogeneous, lambda: graph()),
    "packed": (Packed, lambda: (nn.utils.rnn.pack_sequence([torch.randn(6, 24)]),)),
    "in a method": (InAMethod, lambda: ({"image": image(3, 32), "tokens": {"ids": ids(1, 9)}},)),
    "pair": (Pair, lambda: ((image(1, 28), image(1, 28)),)),
    "steps by a method": (DecodesIds, lambda: (ids(6, 1),)),
    "a voltage left": (lambda: used(Leaky(), torch.rand(4, 6)), lambda: (torch.rand(1, 6),)),
    "a cell's state left": (
        lambda: used(KeepsItsCell(), torch.rand(4, 6)),
        lambda: (torch.rand(1, 6),),
    ),
    "exported text": (exported_text, lambda: None),
    "dicts in a list": (
        NestedPair,
        lambda: ([{"rays": torch.rand(1, 6)}, {"rays": torch.rand(1, 6)}],),
    ),
}


def image(channels, side):
    return torch.randn(1, channels, side, side)


def ids(*shape):
    return torch.ones(*shape, dtype=torch.int64)


def graph():
    edges = torch.tensor([[0, 1, 2], [1, 2, 0]])
    features = {"paper": torch.randn(4, 20), "author": torch.randn(3, 12)}
    writes, cites = ("author", "writes", "paper"), ("paper", "cites", "paper")
    return features, {writes: edges, cites: edges}
