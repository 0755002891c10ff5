"""Attention without a softmax: its layers are packed as those of attention, but for a bias."""

import pytest
import torch
from torch import nn

from nar_plugin.tracing import trace


class Block(nn.Module):
    def __init__(self, packed=False, bare=None, scores_first=False):
        super().__init__()
        widths = (24,) if packed else (8, 8, 8)
        self.layers = nn.ModuleList(
            nn.Linear(8, width, bias=place != bare) for place, width in enumerate(widths)
        )
        self.scores_first = scores_first
        self.out = nn.Linear(8, 8)

    def forward(self, x):
        parts = [layer(x) for layer in self.layers]
        query, key, value = parts if len(parts) == 3 else parts[0].chunk(3, -1)
        query, key = query.relu(), key.relu()
        if self.scores_first:
            return self.out((query @ key.mT) @ value)
        return self.out(query @ (key.mT @ value))


def fingerprint(**options):
    return trace(Block(**options), torch.ones(1, 6, 8)).fingerprint


@pytest.mark.parametrize("scores_first", [False, True])
def test_projections_are_one_layer(scores_first):
    assert fingerprint(scores_first=scores_first) == fingerprint(packed=True)


@pytest.mark.parametrize("scores_first", [False, True])
@pytest.mark.parametrize("bare", range(3))
def test_a_bias_that_one_lacks_is_a_difference(bare, scores_first):
    """Behind a softmax that of the key would move all scores of a query alike."""
    assert fingerprint(bare=bare, scores_first=scores_first) != fingerprint()


class Powers(nn.Module):
    """The third power of a matrix of products, as in iSQRT-COV: no queries, keys and values."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        x = self.layer(x)
        product = x.mT @ x
        return (product @ product) @ product


def test_powers_are_no_attention():
    kinds = [op.kind for op in trace(Powers(), torch.ones(1, 6, 8)).ops]
    assert kinds == ["linear", "matmul", "matmul", "matmul"]
