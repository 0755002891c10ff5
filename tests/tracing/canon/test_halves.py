"""What is written out from two halves of one value is not what is written out from one."""

import pytest
import torch
from torch import nn

from nar_plugin.tracing import trace

BY_HAND = {
    "relu": lambda x, y: x * (y > 0),
    "relu by choice": lambda x, y: torch.where(y > 0, x, 0.0),
    "relu by a mask": lambda x, y: x.masked_fill(y < 0, 0.0),
    "leaky relu": lambda x, y: torch.where(y > 0, x, 0.1 * x),
    "softmax less the largest": lambda x, y: (
        (e := (x - y.amax(-1, keepdim=True)).exp()) / e.sum(-1, keepdim=True)
    ),
    "softmax by logarithms": lambda x, y: (x - y.logsumexp(-1, keepdim=True)).exp(),
    "length": lambda x, y: x / y.norm(dim=-1, keepdim=True),
    "length by squares": lambda x, y: x * torch.rsqrt(y.square().sum(-1, keepdim=True)),
    "root mean square": lambda x, y: x * torch.rsqrt(y.square().mean(-1, keepdim=True)),
    "layer norm": lambda x, y: (x - y.mean(-1, True)) / y.std(-1, keepdim=True),
    "layer norm by another's deviation": lambda x, y: (
        (x - x.mean(-1, True)) / y.std(-1, keepdim=True)
    ),
    "layer norm by another's square": lambda x, y: (
        (x - x.mean(-1, True)) / (y - y.mean(-1, True)).square().mean(-1, True).sqrt()
    ),
}
OF_EXPONENTIALS = {
    "sigmoid": lambda x, y: x / (1 + y),
    "softmax": lambda x, y: x / y.sum(-1, keepdim=True),
}


class Halves(nn.Module):
    def __init__(self, function, *, both, before=nn.Identity):
        super().__init__()
        self.layer = nn.Linear(8, 16)
        self.before = before()
        self.function = function
        self.both = both

    def forward(self, x):
        x, y = self.before(self.layer(x)).chunk(2, dim=-1)
        return self.function(x, y if self.both else x)


@pytest.mark.parametrize("name", BY_HAND)
def test_two_halves_are_not_one(name):
    one, two = (
        trace(Halves(BY_HAND[name], both=both), torch.zeros(1, 6, 8)) for both in (False, True)
    )
    assert len(one) < len(two)


class Exponential(nn.Module):
    def forward(self, x):
        return x.exp()


@pytest.mark.parametrize("name", OF_EXPONENTIALS)
def test_two_halves_of_exponentials_are_not_one(name):
    one, two = (
        trace(Halves(OF_EXPONENTIALS[name], both=both, before=Exponential), torch.zeros(1, 6, 8))
        for both in (False, True)
    )
    assert len(one) < len(two)
