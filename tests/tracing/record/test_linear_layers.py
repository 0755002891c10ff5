"""A linear layer is recorded in one step, and is what its long way is."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from nar_plugin.errors import TraceError
from nar_plugin.tracing import trace
from nar_plugin.tracing.record.record import Record
from nar_plugin.tracing.record.recorder import Recorder


class LongWay(nn.Linear):
    """The same layer, with a forward of its own."""

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)


def swapped(model):
    for module in model.modules():
        if type(module) is nn.Linear:
            module.__class__ = LongWay
    return model


class Learned(nn.Module):
    """Queries that come of weights alone, as DETR's in its first layer."""

    def __init__(self):
        super().__init__()
        self.queries, self.places = nn.Embedding(7, 16), nn.Parameter(torch.rand(7, 16))
        self.ask, self.offer = nn.Linear(16, 16), nn.Linear(16, 16, bias=False)

    def forward(self, x):
        queries = torch.zeros(1, 7, 16) + self.queries.weight + self.places
        scores = self.ask(queries) @ self.offer(queries).transpose(1, 2)
        return scores.softmax(-1).sum() * x


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(50, 16), nn.Linear(16, 50, bias=False)
        self.head.weight = self.words.weight
        self.head.register_forward_hook(lambda module, args, out: out.tanh())

    def forward(self, ids):
        return self.head(self.words(ids))


class Shapes(nn.Module):
    """Of two, three and four dimensions, transposed, of one dimension, written into."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8, bias=False)

    def forward(self, x):  # (1, 4, 8, 8)
        y = self.second(self.first(x.transpose(2, 3)))
        z = self.first(y.flatten(1, 2)).relu_()
        z[:, 0] = self.second(z[0, 0])
        return self.first(z.mean(1)), y


MODELS = {
    "transformer": (lambda: nn.TransformerEncoderLayer(16, 2, 32), (torch.rand(5, 1, 16),)),
    "perceptron": (lambda: nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2)), None),
    "learned": (Learned, (torch.rand(1, 3),)),
    "tied": (Tied, (torch.arange(6)[None],)),
    "shapes": (Shapes, (torch.rand(1, 4, 8, 8),)),
    "batch": (lambda: nn.Sequential(nn.Linear(8, 4), nn.Linear(4, 2)), (torch.rand(3, 8),)),
    "spectral": (lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(8, 4)), None),
    "old norm": (lambda: nn.utils.weight_norm(nn.Linear(8, 4)), (torch.rand(2, 8),)),
}


@pytest.mark.filterwarnings("ignore:.*weight_norm")
@pytest.mark.parametrize("name", MODELS)
def test_the_graph_is_that_of_the_long_way(name):
    make, inputs = MODELS[name]
    short, long = trace(make(), inputs), trace(swapped(make()), inputs)
    assert short.ops == long.ops
    assert short.edges.tolist() == long.edges.tolist()
    assert short.paths == long.paths
    assert (short.flops, short.params) == (long.flops, long.params)


def test_a_usual_layer_is_one_call(monkeypatch):
    calls: list[Record] = []
    note = Recorder.note
    monkeypatch.setattr(Recorder, "note", lambda *args: (note(*args), calls.append(args[0])))
    trace(nn.Sequential(nn.Linear(8, 4), nn.Linear(4, 2)), (torch.rand(1, 8),))
    assert len(calls) == 2
    assert [record.name for record in calls[0].records] == ["linear", "linear"]


@pytest.mark.parametrize("wrong", [torch.rand(1, 7), torch.arange(8)[None]])
def test_what_the_long_way_refuses_is_refused_alike(wrong):
    with pytest.raises(TraceError) as short:
        trace(nn.Linear(8, 4), (wrong,))
    with pytest.raises(TraceError) as long:
        trace(LongWay(8, 4), (wrong,))
    assert str(short.value).replace("Linear", "LongWay") == str(long.value)


class Forces(nn.Module):
    """An energy's gradient is a part of the forward, as in models of molecules."""

    def __init__(self):
        super().__init__()
        self.energy = nn.Linear(3, 1)

    def forward(self, places):
        with torch.enable_grad():
            places = places.detach().requires_grad_()
            energy = self.energy(places).pow(2).sum()
            return energy, torch.autograd.grad(energy, places)[0]


def test_gradients_are_followed_through_it():
    assert trace(Forces(), (torch.rand(1, 5, 3),)).fingerprint == (
        trace(swapped(Forces()), (torch.rand(1, 5, 3),)).fingerprint
    )
