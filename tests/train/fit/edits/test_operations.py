"""Norms and activations: what is replaced is what the model with other layers gives."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from nar_plugin.tracing import trace
from nar_plugin.train.fit.edits import edited
from nar_plugin.train.fit.edits.operations import without_norms


class Block(nn.Module):
    """Two convolutions with norms and a shortcut."""

    def __init__(self, norm=nn.BatchNorm2d, activation=nn.ReLU):
        super().__init__()
        self.first = nn.Conv2d(64, 64, 3, bias=False)
        self.second = nn.Conv2d(64, 64, 3, padding=1)
        self.norms = nn.ModuleList([norm(64), norm(64)])
        self.activation = activation()

    def forward(self, x):
        x = self.activation(self.norms[0](self.first(x)))
        return x + self.activation(self.norms[1](self.second(x)))


def graph_of(model):
    return trace(model, torch.zeros(1, 64, 9, 9))


@pytest.mark.parametrize(
    ("kind", "norm", "activation"),
    [
        ("activation", nn.BatchNorm2d, nn.GELU),
        ("norm", lambda width: nn.GroupNorm(32, width), nn.ReLU),
    ],
)
def test_another_norm_or_activation_is_what_the_model_with_it_gives(kind, norm, activation):
    graph = graph_of(Block())
    drawn = [edited(graph, kind, np.random.default_rng(seed)) for seed in range(40)]
    assert graph_of(Block(norm, activation)).fingerprint in {each.fingerprint for each in drawn}
    assert graph.fingerprint not in {each.fingerprint for each in drawn}


def test_without_norms_is_what_fusing_them_gives():
    block = Block().eval()
    fused = Block().eval()
    fused.first = fuse_conv_bn_eval(block.first, block.norms[0])
    fused.second = fuse_conv_bn_eval(block.second, block.norms[1])
    fused.norms = nn.ModuleList([nn.Identity(), nn.Identity()])
    assert without_norms(graph_of(block)).fingerprint == graph_of(fused).fingerprint


def test_a_graph_with_neither_is_not_edited():
    graph = trace(nn.Sequential(nn.Linear(4, 4), nn.Sigmoid(), nn.Linear(4, 2)))
    for kind in ("norm", "no norms", "activation"):
        assert edited(graph, kind, np.random.default_rng(0)) is None
    assert without_norms(graph).fingerprint == graph.fingerprint
