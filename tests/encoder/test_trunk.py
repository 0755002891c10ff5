"""The trunk: readouts go, and nothing else."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from nar_plugin.encoder.trunk import trunk
from nar_plugin.tracing import trace


class Net(nn.Module):
    """A convolutional network, and what is done with its result."""

    def __init__(self, readout=None, heads=1):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
        self.heads = nn.ModuleList([nn.Linear(16, 10) for _ in range(heads)])
        self.readout = readout or (lambda x: x)

    def forward(self, x):
        features = self.stem(x).flatten(1)
        results = tuple(self.readout(head(features)) for head in self.heads)
        return results if len(results) > 1 else results[0]


def graph_of(model):
    return trace(model, torch.zeros(2, 3, 16, 16))


@pytest.mark.parametrize(
    "readout",
    [
        functional.normalize,
        torch.sigmoid,
        torch.tanh,
        functional.hardsigmoid,
        functional.logsigmoid,
        lambda x: x.softmax(1),
        lambda x: x.log_softmax(1),
        lambda x: x.argmax(1),
        lambda x: x.softmax(1).topk(3),
        lambda x: functional.normalize(x.sigmoid()),
    ],
)
@pytest.mark.parametrize("heads", [1, 3])
def test_a_readout_is_no_part_of_the_trunk(readout, heads):
    read, plain = graph_of(Net(readout, heads)), graph_of(Net(heads=heads))
    assert read.fingerprint != plain.fingerprint
    assert trunk(read).fingerprint == plain.fingerprint
    assert trunk(plain) is plain


def test_what_is_read_on_stays():
    gated = graph_of(nn.Sequential(nn.Conv2d(3, 8, 3), nn.Sigmoid(), nn.Conv2d(8, 8, 3)))
    assert trunk(gated) is gated

    class Gate(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate, self.value = nn.Conv2d(3, 8, 3), nn.Conv2d(3, 8, 3)

        def forward(self, x):
            return self.value(x) * self.gate(x).sigmoid()

    gate = graph_of(Gate())
    assert trunk(gate) is gate


def test_a_graph_of_readouts_keeps_one():
    graph = trace(nn.Sequential(nn.Softmax(-1), nn.Tanh()), torch.zeros(2, 5))
    assert [op.kind for op in trunk(graph).ops] == ["softmax"]
