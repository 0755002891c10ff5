"""Inputs that a forward would take by luck: what its own message says comes before them."""

from typing import Any

import pytest
import torch
from nar_plugin.hooks import torch as plugin
from torch import Tensor, nn

from nar_plugin.tracing import trace


class Positions(nn.Module):
    """The whole table of positions is added: one token would be repeated to its length."""

    def __init__(self) -> None:
        super().__init__()
        self.token, self.position = nn.Embedding(50, 32), nn.Embedding(100, 32)

    def forward(self, x: Tensor) -> Any:
        return self.token(x) + self.position.weight.repeat(len(x), 1, 1)


class Rows(nn.Module):
    """A digit row by row: 224 x 224 pixels in colour make 192 digits."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.LSTM(28, 64, batch_first=True)

    def forward(self, input: Tensor) -> Any:
        return self.rnn(input.reshape(-1, 28, 28))[0]


class Fields(nn.Module):
    """A table for all fields, and where each of them begins in it."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(1000, 4)
        self.offsets = torch.arange(10) * 100

    def forward(self, x: Tensor) -> Any:
        return self.table(x + self.offsets)


def generator() -> nn.Module:
    """DCGAN's: a code of 100 channels and one pixel."""
    return nn.Sequential(
        nn.ConvTranspose2d(100, 64, 4, 1, 0), nn.ReLU(), nn.ConvTranspose2d(64, 3, 4, 2, 1)
    )


@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (Positions(), "int64[1, 100]"),
        (Rows(), "float32[1, 28, 28]"),
        (Fields(), "int64[1, 10]"),
        (generator(), "float32[1, 100, 1, 1]"),
    ],
)
def test_luck_comes_last(model: nn.Module, inputs: str) -> None:
    graph = trace(model)
    assert (graph.method, graph.inputs) == ("meta", inputs)


def test_one_token_and_what_no_layer_speaks_for_are_blind() -> None:
    guesses = plugin.nar_example_inputs(Fields())
    assert [guess.args[0].shape for guess in guesses if not guess.blind] == [
        (1, 64),
        (1, 16),
        (16,),
    ]
    assert [guess.args[0].shape for guess in guesses if guess.blind][:2] == [
        (1, 1),
        (1, 3, 224, 224),
    ]
