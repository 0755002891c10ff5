"""What counts as an attention, and where linear layers count as convolutions."""

import json

import numpy as np
import pytest
import torch
from torch import nn

pytest.importorskip("tqdm")

from nar_plugin.tracing import trace
from nar_plugin.train.corpus.corpus import StoredGraph
from nar_plugin.train.corpus.fact_labels import labelled
from nar_plugin.train.corpus.mixing import attends, convolves


class Spelled(nn.Module):
    """Queries, keys and values of four heads, combined by a function."""

    def __init__(self, combine):
        super().__init__()
        self.qkv = nn.Linear(32, 96)
        self.heads = nn.Linear(4, 4)
        self.combine = combine

    def forward(self, x):
        q, k, v = self.qkv(x).view(*x.shape[:2], 3, 4, 8).permute(2, 0, 3, 1, 4)
        return self.combine(q, k, v, self.heads)


def plain(q, k, v, heads):
    return (q @ k.mT).softmax(-1) @ v


def capped(q, k, v, heads):
    return (50 * torch.tanh(q @ k.mT / 50)).softmax(-1) @ v


def talking(q, k, v, heads):
    scores = heads((q @ k.mT).movedim(1, -1)).movedim(-1, 1)
    return heads(scores.softmax(-1).movedim(1, -1)).movedim(-1, 1) @ v


def chunked(q, k, v, heads):
    """Over two chunks of the keys, whose sums are put together at the end."""
    parts = []
    for keys, values in zip(k.chunk(2, 2), v.chunk(2, 2), strict=True):
        scores = q @ keys.mT
        weights = (scores - scores.amax(-1, keepdim=True)).exp()
        parts.append((weights @ values, weights.sum(-1, keepdim=True)))
    return sum(part for part, _ in parts) / sum(total for _, total in parts)


def decayed(q, k, v, heads):
    """A scan: no product before the exponential."""
    return q.cumsum(-2).exp() * (k.mT @ v).sum()


def efficient(q, k, v, heads):
    return q @ (k.softmax(-2).mT @ v)


def gated(q, k, v, heads):
    """A mixture: the weights come from a layer, and their product goes nowhere else."""
    return heads(v.movedim(1, -1)).softmax(-1) @ v.movedim(1, -1).mT


def no_softmax(q, k, v, heads):
    return (q @ k.mT) @ v


@pytest.mark.parametrize(
    ("combine", "expected"),
    [
        (plain, True),
        (capped, True),
        (talking, True),
        (chunked, True),
        (efficient, True),
        (decayed, False),
        (gated, False),
        (no_softmax, False),
    ],
)
def test_a_softmax_between_products_is_an_attention(combine, expected):
    graph = trace(Spelled(combine), torch.empty(1, 6, 32))
    assert (
        attends(_stored([(op.kind, json.dumps(op.attributes)) for op in graph.ops], graph.edges))
        is expected
    )


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ("triton::parallel_attn_fwd_kernel", True),
        ("triton::parallel_nsa_fwd_kernel", True),
        ("triton::fused_recurrent_fwd_kernel", False),
        ("mylib::attn", False),
    ],
)
def test_kernels_of_softmax_attention_say_so(kernel, expected):
    assert attends(_stored([(kernel, "[]")], np.zeros((0, 2)))) is expected


@pytest.mark.parametrize(("owner", "expected"), [("MultiheadAttention", True), ("MLP", False)])
def test_of_modules_alone_the_classes_say_it(owner, expected):
    graph = _stored([("linear", "[]")], np.zeros((0, 2)))
    graph.method, graph.classes = "modules", f"=Model\nlayer={owner}"
    assert attends(graph) is expected


@pytest.mark.parametrize(
    ("convolutions", "linear", "beside", "expected"),
    [
        (18, 37, (), True),  # ConvNeXt-T: 18 blocks, 4 convolutions more
        (1, 49, (), False),  # an MLP-Mixer of twelve blocks
        (48, 97, ("cumsum",), False),  # Mamba-2: a scan mixes as well
        (4, 1, ("lstm",), False),
        (16, 32, ("triton::selective_scan_kernel",), False),
        (20, 0, (), False),  # convolutions alone need no such rule
    ],
)
def test_linear_layers_between_convolutions(convolutions, linear, beside, expected):
    ops = [("conv", "[]")] * convolutions + [("linear", "[]")] * linear
    ops += [(kind, "[]") for kind in beside]
    assert convolves(_stored(ops, np.zeros((0, 2)))) is expected


def test_weights_stand_for_flops_that_are_not_known():
    conv = '[["in", 8], ["out", 16], ["kernel", "3x3"], ["groups", 2]]'
    graph = _stored([("conv", conv), ("linear", '[["in", 16], ["out", 10]]')], np.zeros((0, 2)))
    assert graph.weights() == {"conv": 8 * 16 * 9 // 2, "matmul": 160}
    row = {"library": "timm", "defined_in": "vgg", "name": "timm:vgg", "task": "", "work": "null"}
    assert labelled(row, False, graph.weights())["coarse"] == "cnn-block"


def _stored(ops, edges):
    nothing = np.zeros(0, dtype=np.int32)
    return StoredGraph(
        "", "", "meta", "", "", ops, edges.ravel().astype(np.int32), "", "", nothing, []
    )
