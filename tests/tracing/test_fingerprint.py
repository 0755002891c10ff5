"""The fingerprint tells designs apart, and is blind to what is no design.

That it is the same by every route is tried in test_invariance.py; that it is the same in several
spellings, in test_canonical_rules.py.
"""

import pytest
import torch
from models import ConvNet, GPTBlock, NanoGPT
from torch import nn

from nar_plugin.mining import mine
from nar_plugin.tracing import trace
from nar_plugin.tracing.fingerprint import topology

IMAGE = torch.empty(1, 3, 32, 32)
IDS = torch.arange(48)[None]


def of(model, inputs):
    return trace(model, inputs).fingerprint


def test_graphs_and_their_blocks_are_equal_where_the_design_is():
    one, same = trace(ConvNet(), IMAGE), trace(ConvNet(), torch.empty(2, 3, 48, 40))
    other = trace(NanoGPT(layers=2), IDS)
    for read in (lambda graph: graph, mine):
        assert read(one) == read(same)
        assert read(one) != read(other)
        assert read(one) in [read(other), read(same)]
        assert len({read(one), read(same), read(other)}) == 2


def test_batch_resolution_and_sequence_length_do_not_matter():
    convnet, gpt = ConvNet(), NanoGPT(layers=2)
    assert of(convnet, torch.empty(2, 3, 48, 40)) == of(convnet, IMAGE)
    assert of(gpt, IDS.repeat(2, 1)[:, :17]) == of(gpt, IDS)


def test_torchs_own_attention_layers_are_the_same_design_as_by_hand():
    layer = nn.TransformerEncoderLayer(
        64, 4, 256, activation="gelu", norm_first=True, batch_first=True, dropout=0.0
    )
    x = torch.empty(1, 10, 64)
    assert of(layer, x) == of(GPTBlock(64, 4, fused=False), x)


@pytest.mark.parametrize(
    "change",
    [
        {"kernel": 5},
        {"groups": 2},
        {"groups": 8},
        {"activation": nn.GELU},
        {"activation": nn.SiLU},
        {"norm": lambda width: nn.GroupNorm(1, width)},
        {"norm": nn.InstanceNorm2d},
        {"norm": nn.Identity},
        {"residual": True},
    ],
    ids=str,
)
def test_another_convolutional_design_differs(change):
    assert of(ConvNet(**change), IMAGE) != of(ConvNet(), IMAGE)


@pytest.mark.parametrize(
    "change", [{"heads": 12}, {"layers": 3}, {"width": 192}, {"pre_norm": False}], ids=str
)
def test_another_transformer_design_differs(change):
    settings = {"layers": 2, "heads": 6, "width": 384}
    assert of(NanoGPT(**(settings | change)), IDS) != of(NanoGPT(**settings), IDS)


def test_design_is_blind_to_head_and_vocabulary_and_to_nothing_else():
    small, large = NanoGPT(layers=2, vocabulary=1000), NanoGPT(layers=2, vocabulary=2000)
    assert trace(small, IDS).design == trace(large, IDS).design
    assert trace(small, IDS).fingerprint != trace(large, IDS).fingerprint
    assert trace(NanoGPT(layers=3), IDS).design != trace(NanoGPT(layers=2), IDS).design


def separable(width, kernel=3, groups=None):
    depthwise = nn.Conv2d(width, width, kernel, padding=kernel // 2, groups=groups or width)
    return nn.Sequential(
        nn.Conv2d(3, width, 1), nn.ReLU(), depthwise, nn.Flatten(), nn.Linear(width * 64, width)
    )


def test_topology_is_blind_to_widths_and_to_nothing_else():
    def topology_of(model):
        return topology(trace(model, torch.empty(1, 3, 8, 8)))

    same = topology_of(separable(16))
    assert topology_of(separable(24)) == same  # its depthwise convolution has 24 groups
    assert topology_of(separable(16, kernel=5)) != same
    assert topology_of(separable(16, groups=4)) != same
    assert topology_of(separable(16, groups=1)) != same


def test_all_changes_of_a_design_differ_from_one_another():
    changes = [{}, {"kernel": 5}, {"kernel": 1}, {"groups": 2}, {"groups": 4}, {"groups": 8}]
    changes += [{"activation": kind} for kind in (nn.GELU, nn.SiLU, nn.ReLU6, nn.SELU, nn.ELU)]
    changes += [{"norm": kind} for kind in (nn.InstanceNorm2d, nn.Identity)]
    changes += [{"residual": True}, {"residual": True, "kernel": 5}]
    assert len({of(ConvNet(**change), IMAGE) for change in changes}) == len(changes)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"dilation": 1}, {"dilation": 2}),
        ({"stride": 1}, {"stride": 2}),
        ({"bias": True}, {"bias": False}),
    ],
    ids=str,
)
def test_attributes_of_a_convolution_count(one, other):
    assert of(nn.Conv2d(3, 8, 3, **one), IMAGE) != of(nn.Conv2d(3, 8, 3, **other), IMAGE)


def test_where_a_residual_starts_counts():
    class Block(nn.Module):
        def __init__(self, late):
            super().__init__()
            self.first, self.second, self.late = nn.Linear(8, 8), nn.Linear(8, 8), late

        def forward(self, x):
            y = self.first(x)
            return self.second(torch.relu(y)) + (y if self.late else x)

    x = torch.empty(1, 4, 8)
    late, early = (of(nn.Sequential(nn.Linear(8, 8), Block(flag)), x) for flag in (True, False))
    assert late != early
