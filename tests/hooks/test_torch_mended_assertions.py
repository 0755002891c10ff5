"""Assertions that the refusal quotes, and what is offered for them."""

import pytest
import torch
from nar_plugin.hooks.torch.mend.messages import mended
from torch import nn

from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.tracing import trace


class Pyramid(nn.Module):
    """PSPNet: sides of 8 m + 1 pixels."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, x):
        size = x.size()
        assert (size[2] - 1) % 8 == 0 and (size[3] - 1) % 8 == 0
        return self.conv(x)


class Karras(nn.Module):
    """A channel is added before the first convolution, and the size stands in a part."""

    def __init__(self):
        super().__init__()
        self.channels = 4
        self.sizes = nn.Module()
        self.sizes.side = 48
        self.conv = nn.Conv2d(5, 8, 3)

    def forward(self, x):
        self._check(self.sizes, x)
        return self.conv(nn.functional.pad(x, (0, 0, 0, 0, 0, 1), value=1.0))

    @staticmethod
    def _check(self, x):
        assert x.shape[2:] == (self.side, self.side), "wrong size"


class Pathways(nn.Module):
    """SlowFast: a list of clips, of which one has fewer frames."""

    def __init__(self):
        super().__init__()
        self.num_pathways = 2
        self.slow = nn.Conv3d(3, 8, (1, 3, 3))
        self.fast = nn.Conv3d(3, 8, (5, 3, 3), stride=(4, 1, 1), padding=(2, 0, 0))

    def forward(self, x):
        assert len(x) == self.num_pathways, f"no {self.num_pathways} pathways"
        return torch.cat([self.slow(x[0]), self.fast(x[1])], 1)


@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (Pyramid, "float32[1, 3, 225, 225]"),
        (Karras, "float32[1, 4, 48, 48]"),
        (Pathways, "[float32[1, 3, 4, 112, 112], float32[1, 3, 16, 112, 112]]"),
    ],
)
def test_an_assertion_is_met(model, inputs):
    graph = trace(model())
    assert (graph.method, graph.inputs) == ("meta", inputs)


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        ("assert x.shape[1] == 5", (1, 5, 32, 32)),
        ("assert 5 == x.size(1)", (1, 5, 32, 32)),
        ("assert x.shape[-2:] == (self.side // 2, 3 * 8)", (1, 3, 20, 24)),
        ("assert x.shape == torch.Size([1, 2]) or x.size()[1:] == (7,)", (1, 7)),
        ("assert (h + 3) % self.side == 1, 'ends within (its', ", (1, 3, 38, 38)),
        ("assert x.shape[7] == 2 and x.shape == 4 and h % 0 == 0 and len(x) == (1, 2)", None),
    ],
)
def test_an_equation_is_read(line, shape):
    model = nn.Conv2d(3, 8, 3)
    model.side = 40
    proposed = mended(model, ExampleInputs((torch.empty(1, 3, 32, 32),)), f"AssertionError: {line}")
    if shape is None:
        assert all(inputs.args[0].dim() == 4 for inputs in proposed)
    else:
        assert tuple(proposed[0].args[0].shape) == shape
