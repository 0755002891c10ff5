"""Variations of a graph: what is replaced, what goes, and that nothing else changes."""

from collections import Counter

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from nar_plugin.encoder.words import ACTIVATIONS, NORMS
from nar_plugin.tracing import trace
from nar_plugin.train.variations import varied, without_norms


class Block(nn.Module):
    """Two convolutions with norms and a shortcut."""

    def __init__(self, norm=nn.BatchNorm2d, activation=nn.ReLU):
        super().__init__()
        self.first = nn.Conv2d(32, 32, 3, bias=False)
        self.second = nn.Conv2d(32, 32, 3, padding=1)
        self.norms = nn.ModuleList([norm(32), norm(32)])
        self.activation = activation()

    def forward(self, x):
        x = self.activation(self.norms[0](self.first(x)))
        return x + self.activation(self.norms[1](self.second(x)))


def graph_of(model):
    return trace(model, torch.zeros(1, 32, 9, 9))


def skeleton(graph):
    """Kinds with every activation and norm under one word, and the edges."""
    words = {**dict.fromkeys(ACTIVATIONS, "activation"), **dict.fromkeys(NORMS, "norm")}
    return [words.get(op.kind, op.kind) for op in graph.ops], graph.edges.tolist()


def test_only_activations_and_norms_change_and_each_change_is_drawn():
    graph = graph_of(Block())
    bare = without_norms(graph).fingerprint
    seen = Counter()
    for seed in range(60):
        other = varied(graph, np.random.default_rng(seed))
        if other.fingerprint == bare:
            seen["without"] += 1
            continue
        assert skeleton(other) == skeleton(graph)
        kinds = {op.kind for op in other.ops}
        seen["relu" in kinds, "batch_norm" in kinds] += 1
        assert all(op.get("width", 32) == 32 for op in other.ops if op.kind in NORMS)
    assert set(seen) == {"without", (False, True), (True, False), (False, False)}


@pytest.mark.parametrize(
    ("norm", "activation"),
    [
        (nn.BatchNorm2d, nn.GELU),
        (nn.InstanceNorm2d, nn.ReLU),
        (lambda width: nn.GroupNorm(32, width), nn.SiLU),
    ],
)
def test_a_variation_is_what_the_model_with_other_layers_gives(norm, activation):
    graph = graph_of(Block())
    drawn = [varied(graph, np.random.default_rng(seed)) for seed in range(200)]
    wanted = graph_of(Block(norm, activation))
    assert wanted.fingerprint in {other.fingerprint for other in drawn}


def test_without_norms_is_what_fusing_them_gives():
    block = Block().eval()
    fused = Block().eval()
    fused.first = fuse_conv_bn_eval(block.first, block.norms[0])
    fused.second = fuse_conv_bn_eval(block.second, block.norms[1])
    fused.norms = nn.ModuleList([nn.Identity(), nn.Identity()])
    assert without_norms(graph_of(block)).fingerprint == graph_of(fused).fingerprint


def test_a_graph_with_neither_stays_as_it_is():
    graph = trace(nn.Sequential(nn.Linear(4, 4), nn.Sigmoid(), nn.Linear(4, 2)))
    assert varied(graph, np.random.default_rng(0)) is graph
    assert without_norms(graph).fingerprint == graph.fingerprint


def test_the_same_seed_draws_the_same():
    graph = graph_of(Block())
    one, other = (varied(graph, np.random.default_rng(7)) for _ in range(2))
    assert one.fingerprint == other.fingerprint
