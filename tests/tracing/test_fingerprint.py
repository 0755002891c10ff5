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


class Written(nn.Module):
    """A model whose forward is a function of itself and x; its layers are given by name."""

    def __init__(self, forward, **layers):
        super().__init__()
        self.written = forward
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, x):
        return self.written(self, x)


def kinds(model, inputs):
    return [op.kind for op in trace(model, inputs).ops]


def linear():
    return nn.Linear(8, 16)


@pytest.mark.parametrize(
    "forward",
    [
        lambda m, x: m.a(x),
        lambda m, x: x @ m.a.weight.T + m.a.bias * 0 + m.a.bias,
        lambda m, x: torch.einsum("bti,oi->bto", x, m.a.weight),
        lambda m, x: torch.addmm(m.a.bias, x.flatten(0, 1), m.a.weight.t()),
    ],
    ids=["nn.Linear", "matmul", "einsum", "addmm"],
)
def test_a_product_with_a_weight_is_a_linear_layer(forward):
    graph = trace(Written(forward, a=linear()), torch.empty(1, 4, 8))
    assert graph.ops[0].kind == "linear"
    assert (graph.ops[0].get("in"), graph.ops[0].get("out")) == (8, 16)


def test_squeeze_and_excitation_by_convolution_or_linear():
    def by_conv(m, x):
        return x * torch.sigmoid(m.b(torch.relu(m.a(x.mean((2, 3), keepdim=True)))))

    def by_linear(m, x):
        gate = torch.sigmoid(m.b(torch.relu(m.a(x.mean((2, 3))))))
        return x * gate[:, :, None, None]

    x = torch.empty(1, 8, 6, 6)
    assert of(Written(by_conv, a=nn.Conv2d(8, 2, 1), b=nn.Conv2d(2, 8, 1)), x) == of(
        Written(by_linear, a=nn.Linear(8, 2), b=nn.Linear(2, 8)), x
    )
    assert kinds(nn.Conv2d(8, 2, 1), x) == ["conv"]


def test_rotary_positions_are_one_operation():
    def rotary(m, x):
        angles = torch.arange(4)[:, None] * torch.ones(4)
        x = m.a(x)
        rotated = torch.cat([-x[..., 4:], x[..., :4]], dim=-1)
        table = torch.cat([angles, angles], dim=-1)
        return x * table.cos() + rotated * table.sin()

    assert kinds(Written(rotary, a=nn.Linear(8, 8)), torch.empty(1, 4, 8)) == ["linear", "rotary"]


def test_a_learned_attention_bias_is_kept_and_a_mask_is_not():
    def attend(bias):
        def forward(m, x):
            scores = m.q(x) @ m.k(x).transpose(1, 2)
            scores = scores + (m.table[:4, :4] if bias else torch.ones(4, 4).tril().log())
            return scores.softmax(-1) @ m.v(x)

        layers = {name: nn.Linear(8, 8) for name in "qkv"}
        return Written(forward, **layers, table=nn.Parameter(torch.zeros(9, 9)))

    x = torch.empty(1, 4, 8)
    biased, masked = trace(attend(True), x).ops[-1], trace(attend(False), x).ops[-1]
    assert (biased.kind, biased.get("bias")) == ("attention", True)
    assert (masked.kind, masked.get("bias")) == ("attention", False)


def test_weight_norm_leaves_the_design():
    def build(wrap):
        return nn.Sequential(wrap(nn.Conv1d(4, 4, 3)), nn.ReLU(), wrap(nn.Linear(6, 2)))

    x = torch.empty(1, 4, 8)
    plain = of(build(lambda layer: layer), x)
    assert of(build(nn.utils.weight_norm), x) == plain
    assert of(build(nn.utils.parametrizations.weight_norm), x) == plain
    assert of(build(nn.utils.parametrizations.spectral_norm), x) == plain


def test_pooling_to_one_pixel_is_a_mean():
    x = torch.empty(1, 3, 8, 8)
    assert of(Written(lambda m, x: m.a(x).mean((2, 3)), a=nn.Conv2d(3, 4, 3)), x) == of(
        nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten()), x
    )
