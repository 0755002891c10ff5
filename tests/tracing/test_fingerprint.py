"""Equal designs have equal fingerprints, whatever the route; other designs have others."""

import copy

import pytest
import torch
from models import ConvNet, GPTBlock, NanoGPT
from torch import nn

from nar_plugin.tracing import trace

IMAGE = torch.empty(1, 3, 32, 32)
IDS = torch.arange(48)[None]


def of(model, inputs):
    return trace(model, inputs).fingerprint


@pytest.mark.parametrize(
    ("build", "inputs"),
    [(lambda: ConvNet(residual=True), IMAGE), (lambda: NanoGPT(layers=2), IDS)],
    ids=["ConvNet", "NanoGPT"],
)
@pytest.mark.parametrize(
    "route",
    [
        lambda model: model.train(),
        lambda model: model.eval(),
        lambda model: model.bfloat16(),
        lambda model: model.double(),
        lambda model: model.to("meta"),
        lambda model: torch.compile(model, backend="aot_eager"),
        lambda model: nn.DataParallel(model),
        lambda model: copy.deepcopy(model),
        lambda model: model.requires_grad_(False),
    ],
    ids=["train", "eval", "bf16", "fp64", "meta", "compile", "parallel", "copy", "frozen"],
)
def test_the_route_does_not_matter(build, inputs, route):
    assert of(route(build()), inputs) == of(build(), inputs)


def test_saved_and_loaded(tmp_path):
    model = ConvNet()
    torch.save(model, tmp_path / "model.pt")
    loaded = torch.load(tmp_path / "model.pt", weights_only=False)
    assert of(loaded, IMAGE) == of(model, IMAGE)


def test_batch_resolution_and_sequence_length_do_not_matter():
    convnet, gpt = ConvNet(), NanoGPT(layers=2)
    assert of(convnet, torch.empty(2, 3, 48, 40)) == of(convnet, IMAGE)
    assert of(gpt, IDS.repeat(2, 1)[:, :17]) == of(gpt, IDS)


def test_eager_and_fused_attention_are_one_design():
    assert of(NanoGPT(layers=2, fused=False), IDS) == of(NanoGPT(layers=2, fused=True), IDS)


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


@pytest.mark.parametrize(
    ("by_hand", "kind"),
    [
        (lambda x: x * torch.sigmoid(x), "silu"),
        (lambda x: x * torch.sigmoid(1.702 * x), "quick_gelu"),
        (lambda x: 0.5 * x * (1 + torch.erf(x / 2**0.5)), "gelu"),
        (lambda x: 0.5 * x * (1 + torch.tanh(0.79788 * (x + 0.044715 * x**3))), "gelu"),
        (lambda x: x * torch.tanh(nn.functional.softplus(x)), "mish"),
        (lambda x: x * nn.functional.relu6(x + 3) / 6, "hardswish"),
        (lambda x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6), "rms_norm"),
    ],
    ids=["silu", "quick_gelu", "gelu-erf", "gelu-tanh", "mish", "hardswish", "rms_norm"],
)
def test_hand_written_activations_are_recognised(by_hand, kind):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(8, 8)

        def forward(self, x):
            return by_hand(self.linear(x))

    assert [op.kind for op in trace(Model(), torch.empty(1, 4, 8)).ops] == ["linear", kind]
