"""Shapes of an operation's parameters against those of torch's own layers."""

from collections import Counter

import pytest
from torch import nn

import nar_plugin
from nar_plugin.checkpoints.parameters import parameters, sorted_shape


def needed(model, inputs=None):
    """At least and at most so many of each shape."""
    least, most = Counter(), Counter()
    for op in nar_plugin.trace(model, example_inputs=inputs).ops:
        for need in parameters(op):
            least[need.shape] += need.least
            most[need.shape] += need.most
    return +least, +most


@pytest.mark.parametrize(
    "model",
    [
        nn.Linear(8, 24),
        nn.Linear(8, 24, bias=False),
        nn.Conv2d(6, 12, (3, 5), groups=3),
        nn.ConvTranspose2d(6, 4, 3, groups=2),
        nn.Conv1d(6, 12, 1),
        nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)),
        nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16)),
        nn.LSTM(5, 7, num_layers=2, bidirectional=True),
        nn.LSTM(5, 8, proj_size=3),
        nn.GRU(5, 7),
        nn.Embedding(30, 8),
    ],
    ids=lambda model: str(model).replace("\n", "")[:40],
)
def test_a_layer_needs_what_torch_gives_it(model):
    given = Counter(
        sorted_shape(value.shape) for value in model.state_dict().values() if value.dim()
    )
    least, most = needed(model)
    assert set(given) <= set(most)
    assert all(least[shape] <= count <= most[shape] for shape, count in given.items())
    assert set(least) <= set(given)
