"""Attention without a softmax: its layers are packed as those of attention, but for a bias."""

import torch
from torch import nn

from nar_plugin.tracing import trace


class Block(nn.Module):
    def __init__(self, packed=False, key_bias=True):
        super().__init__()
        widths = (24,) if packed else (8, 8, 8)
        biases = (True, key_bias, True)
        self.layers = nn.ModuleList(
            nn.Linear(8, width, bias=bias) for width, bias in zip(widths, biases, strict=False)
        )
        self.out = nn.Linear(8, 8)

    def forward(self, x):
        parts = [layer(x) for layer in self.layers]
        query, key, value = parts if len(parts) == 3 else parts[0].chunk(3, -1)
        return self.out(query.relu() @ (key.relu().mT @ value))


def fingerprint(**options):
    return trace(Block(**options), torch.ones(1, 6, 8)).fingerprint


def test_projections_are_one_layer():
    assert fingerprint() == fingerprint(packed=True)


def test_a_bias_that_the_key_lacks_is_a_difference():
    """Behind a softmax it would move all scores of a query alike; here nothing cancels it."""
    assert fingerprint(key_bias=False) != fingerprint()
