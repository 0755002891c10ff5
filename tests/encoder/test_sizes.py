"""Numbers of weights, against those that torch counts, and the kernel that compares them."""

import math

import numpy as np
import pytest
import torch
from models import ConvNet, NanoGPT, UNet
from torch import nn

from nar_plugin.encoder.sizes import log_weights, waves, weights
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


def test_the_last_layer_and_the_vocabulary_do_not_count():
    ids = torch.arange(6)[None]
    models = [
        nn.Sequential(nn.Embedding(words, 8), nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, classes))
        for words, classes in ((10, 3), (5000, 700))
    ]
    few, many = log_weights([trace(model, ids) for model in models])
    assert few == many == pytest.approx(math.log1p(8 * 16))


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
    counted = log_weights([trace(model, torch.empty(1, 5, 8))])[0]
    assert round(math.expm1(counted)) == sum(value.numel() for value in model.parameters())


def test_experts_count_each():
    attributes = (("experts", 4), ("in", 3), ("out", 5))
    assert weights(Op("linear", attributes)) == 60


@pytest.mark.parametrize(
    "op", [Op("relu"), Op("conv"), Op("conv", (("in", 3), ("kernel", "same"), ("out", 5)))]
)
def test_what_says_nothing_weighs_nothing(op):
    assert weights(op) == 0


def test_cosines_are_a_gaussian_of_the_difference():
    logarithms = torch.tensor([17.0, 17.01, 17.02, 17.04, 17.0], dtype=torch.float64)
    rows = waves(logarithms, 48)
    torch.testing.assert_close(rows.norm(dim=1), torch.ones(5))
    expected = np.exp(-0.5 * (np.array([0, 0.01, 0.02, 0.04, 0]) / 0.02) ** 2)
    np.testing.assert_allclose((rows @ rows[0]).numpy(), expected, atol=0.03)
