"""Arguments whose names say that numbers stand in them, in models that look up labels."""

import pytest
import torch
from torch import nn

from nar_plugin.tracing import trace
from nar_plugin.tracing.run.inputs import describe, guesses


class Generator(nn.Module):
    """Mirza & Osindero 2014: noise and the label of what is wanted."""

    def __init__(self):
        super().__init__()
        self.labels = nn.Embedding(10, 10)
        self.layers = nn.Sequential(nn.Linear(110, 128), nn.ReLU(), nn.Linear(128, 784))

    def forward(self, noise, labels):
        return self.layers(torch.cat([self.labels(labels), noise], -1))


class Denoiser(nn.Module):
    """FFDNet: a picture and how noisy it is."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 8, 3)

    def forward(self, x, sigma):
        return self.conv(torch.cat([x, sigma.reshape(1, 1, 1, 1).expand(1, 1, *x.shape[2:])], 1))


class Atoms(nn.Module):
    """SchNet: here z are the atoms' numbers."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(100, 16)
        self.layer = nn.Linear(16, 16)

    def forward(self, z, pos):
        return self.layer(self.table(z)) + pos


@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (Generator, "float32[1, 100], int64[1]"),
        (Denoiser, "float32[1, 3, 224, 224], float32[1]"),
    ],
)
def test_noise_is_numbers(model, inputs):
    graph = trace(model())
    assert (graph.method, graph.inputs) == ("meta", inputs)


def test_atoms_are_ids():
    assert describe(next(guesses(Atoms()))[0]).startswith("int64[1, 64]")
