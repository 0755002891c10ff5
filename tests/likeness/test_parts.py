import pytest
import torch
from torch import nn

import nar_plugin
from nar_plugin.errors import NarError
from nar_plugin.likeness.parts import cut, parts_of, shape


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width)

    def forward(self, x):
        return x + torch.relu(self.norm(self.conv(x)))


class Net(nn.Module):
    """Two residuals of width 8, one of 16, and a head that is called on two values."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(Residual(8), Residual(8), nn.Conv2d(8, 16, 1), Residual(16))
        self.head = nn.Sequential(nn.Conv2d(16, 4, 1), nn.GELU(), nn.Conv2d(4, 4, 1))

    def forward(self, x):
        x = self.layers(x)
        return self.head(x), self.head(x * 2)


@pytest.fixture(scope="module")
def graph():
    return nar_plugin.trace(Net(), example_inputs=torch.zeros(1, 8, 16, 16))


def test_a_module_is_cut_out_of_the_trace_of_its_parent(graph):
    block = cut(graph, "layers.1")
    assert [op.kind for op in block.ops] == ["conv", "batch_norm", "relu", "add"]
    assert sorted(map(tuple, block.edges.tolist())) == [(0, 1), (1, 2), (2, 3)]


def test_a_module_that_is_called_twice_is_cut_out_once(graph):
    assert [op.kind for op in cut(graph, "head").ops] == ["conv", "gelu", "conv"]


def test_the_point_is_the_whole_model(graph):
    assert cut(graph, ".") is graph


def test_an_unknown_module_is_refused_with_those_that_are_near(graph):
    with pytest.raises(NarError, match=r"no module 'layers\.9'.*layers\.\d"):
        cut(graph, "layers.9")


def test_parts_are_counted_whatever_their_width(graph):
    parts = {part.path: (part.label, part.count) for part in parts_of(graph)}
    assert parts["layers.0"] == ("Residual", 3)
    assert parts["head"] == ("Sequential", 2)
    assert "layers" in parts


def test_equal_parts_have_one_shape(graph):
    assert shape(cut(graph, "layers.0")) == shape(cut(graph, "layers.3"))
    assert shape(cut(graph, "layers.0")) != shape(cut(graph, "head"))
