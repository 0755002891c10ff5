"""Numbers of weights, against those that torch counts."""

import pytest
import torch
from models import ConvNet, NanoGPT, UNet
from torch import nn

from nar_plugin.encoder.sizes import weights
from nar_plugin.tracing import trace
from nar_plugin.tracing.graph import Op

LAYERS = (nn.Linear, nn.Embedding, nn.modules.conv._ConvNd)


class Recurrent(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.layer = kind(8, 16, batch_first=True, bias=False, **options)

    def forward(self, x):
        return self.layer(x)[0]


@pytest.mark.parametrize(
    ("model", "example"),
    [
        (ConvNet(), torch.empty(1, 3, 16, 16)),
        (NanoGPT(layers=3), torch.arange(8)[None]),
        (UNet(), torch.empty(1, 3, 32, 32)),
        (nn.Conv2d(8, 16, (3, 5), groups=4), torch.empty(1, 8, 9, 9)),
        (nn.ConvTranspose1d(8, 16, 4), torch.empty(1, 8, 9)),
    ],
    ids=["ConvNet", "NanoGPT", "UNet", "grouped", "transposed"],
)
def test_as_many_as_the_layers_of_a_model_have(model, example):
    layers = [layer for layer in model.modules() if isinstance(layer, LAYERS)]
    total = sum(weights(op) for op in trace(model, example).ops)
    assert total == sum(layer.weight.numel() for layer in layers)


@pytest.mark.parametrize(
    "model",
    [
        Recurrent(nn.LSTM),
        Recurrent(nn.LSTM, num_layers=3, bidirectional=True),
        Recurrent(nn.GRU, num_layers=2),
        Recurrent(nn.RNN, bidirectional=True),
    ],
    ids=["lstm", "deep lstm", "gru", "rnn"],
)
def test_recurrent_layers(model):
    total = sum(weights(op) for op in trace(model, torch.empty(1, 5, 8)).ops)
    assert total == sum(value.numel() for value in model.parameters())


def test_experts_count_each():
    attributes = (("experts", 4), ("in", 3), ("out", 5))
    assert weights(Op("linear", attributes)) == 60


@pytest.mark.parametrize(
    "op", [Op("relu"), Op("conv"), Op("conv", (("in", 3), ("kernel", "same"), ("out", 5)))]
)
def test_what_says_nothing_weighs_nothing(op):
    assert weights(op) == 0
