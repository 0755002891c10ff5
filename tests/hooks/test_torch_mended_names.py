"""Models that read what comes in by name: dicts, objects, arguments that have no place."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from nar_plugin.tracing import trace


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


class Bonds(nn.Module):
    """A graph as an object, whose edges have fewer features than its nodes."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(16, 8)
        self.bond = nn.Linear(5, 8)

    def forward(self, data):
        messages = self.lin(data.x)[data.edge_index[0]] * self.bond(data.edge_attr)
        return torch.zeros(len(data.x), 8).index_add(0, data.edge_index[1], messages)


class Matcher(nn.Module):
    """Looks whether its dict has a key."""

    def __init__(self):
        super().__init__()
        self.look = nn.Conv2d(1, 8, 3)

    def forward(self, data):
        if "image0" not in data:
            raise ValueError("Pass exactly one of `image0` and `features0`.")
        if "image1" not in data:
            raise ValueError("Pass exactly one of `image1` and `features1`.")
        return self.look(data["image0"]) * self.look(data["image1"])


class Prompts(nn.Module):
    """A list of dicts, as promptable segmenters take them."""

    def __init__(self):
        super().__init__()
        self.look = nn.Conv2d(3, 8, 3)

    def forward(self, records):
        pictures = torch.stack([record["image"] for record in records])
        return [
            F.interpolate(found[None], records[place]["original_size"])
            for place, found in enumerate(self.look(pictures))
        ]


class Named(nn.Module):
    """Keys that stand in its attributes and not in its source."""

    def __init__(self):
        super().__init__()
        self.names = ["user", "item"]
        self.tables = nn.ModuleDict({name: nn.Embedding(9, 16) for name in self.names})

    def forward(self, x):
        return sum(self.tables[name](x[name].long()) for name in self.names)


class Arguments(nn.Module):
    """Takes a batch by its names, as arguments."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 16)
        self.out = nn.Linear(16, 2)

    def forward(self, **batch):
        mask = batch.get("attention_mask", torch.ones(1))
        return self.out(self.words(batch["input_ids"]) * mask[..., None])


class Picture(nn.Module):
    """As a processor of transformers gives it."""

    def __init__(self):
        super().__init__()
        self.look = nn.Conv2d(3, 8, 3)

    def forward(self, **inputs):
        return self.look(inputs.pop("pixel_values"))


class Apart(nn.Module):
    """Two inputs that must be named."""

    def __init__(self):
        super().__init__()
        self.one, self.other = nn.Linear(16, 8), nn.Linear(16, 8)

    def forward(self, *, one, other):
        return self.one(one) * self.other(other)


EXPECTED = {
    Records: ["embedding", "mul", "linear"],
    Nodes: ["scatter_add", "linear"],
    Bonds: ["linear", "linear", "mul", "scatter_add"],
    Matcher: ["conv", "conv", "mul"],
    Prompts: ["conv", "upsample"],
    Named: ["embedding", "embedding", "add"],
    Arguments: ["embedding", "mul", "linear"],
    Picture: ["conv"],
    Apart: ["linear", "linear", "mul"],
}
READ = (Records, Matcher, Named)  # their names are read off the forward, before anything is refused


@pytest.mark.parametrize("model", EXPECTED, ids=lambda cls: cls.__name__)
def test_names_are_found(model):
    graph = trace(model())
    assert graph.method == "meta"
    wanted = "accepted guessed inputs" if model in READ else "mended"
    assert wanted in graph.reason
    kinds = [op.kind for op in graph.ops]
    assert [kind for kind in EXPECTED[model] if kind not in kinds] == []
