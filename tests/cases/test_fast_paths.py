"""torch's own fast path of attention and of encoder layers is the module that it stands for."""

import pytest
import torch
from torch import nn

from nar_plugin.tracing import trace
from nar_plugin.tracing.record.fast_paths import attention


class Pooled(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body, self.head = body, nn.Linear(16, 3)

    def forward(self, x):
        return self.head(self.body(x).mean(1))


class Attended(nn.Module):
    def __init__(self, weights=False, masked="", **told):
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True, **told)
        self.weights, self.masked = weights, masked
        self.register_buffer("causal", torch.ones(5, 5, dtype=torch.bool).triu(1))
        self.register_buffer("padded", torch.tensor([[False, False, False, False, True]]))

    def forward(self, x):
        masks = {
            "": {},
            "causal": {"attn_mask": self.causal},
            "padded": {"key_padding_mask": self.padded},
        }[self.masked]
        return x + self.attention(x, x, x, need_weights=self.weights, **masks)[0]


def layer(**told):
    return nn.TransformerEncoderLayer(16, 4, 32, 0.0, batch_first=True, **told)


def vision():
    from torchvision.models import VisionTransformer

    return VisionTransformer(16, 8, 2, 4, 16, 32, num_classes=3)


X, PICTURE = (2, 5, 16), (2, 3, 16, 16)
CASES = {
    "attention": (lambda: Pooled(Attended()), X),
    "attention with its weights": (lambda: Pooled(Attended(weights=True)), X),
    "attention without biases": (lambda: Pooled(Attended(bias=False)), X),
    "causal attention": (lambda: Pooled(Attended(masked="causal")), X),
    "padded attention": (lambda: Pooled(nn.Sequential(Attended(masked="padded"))), (1, 5, 16)),
    "layer": (lambda: Pooled(layer()), X),
    "layer with GELU": (lambda: Pooled(layer(activation="gelu")), X),
    "layer, norms first": (lambda: Pooled(layer(norm_first=True, activation="gelu")), X),
    "layer without biases": (lambda: Pooled(layer(bias=False)), X),
    "encoder": (lambda: Pooled(nn.TransformerEncoder(layer(), 2, enable_nested_tensor=False)), X),
    "encoder with a norm": (
        lambda: Pooled(nn.TransformerEncoder(layer(norm_first=True), 3, nn.LayerNorm(16), False)),
        X,
    ),
    "vision transformer": (vision, PICTURE),
}
FAST = "_transformer_encoder_layer_fwd"


def exported(model, shape, strict=True):
    with torch.no_grad():
        return torch.export.export(model.eval(), (torch.randn(shape),), strict=strict)


def of_program(program, shape):
    return trace(program.module(), torch.empty(shape)).fingerprint


def calls(program):
    return {
        str(node.target).split(".")[1]
        for node in program.graph.nodes
        if node.op == "call_function" and "aten" in str(node.target)
    }


@pytest.fixture(autouse=True)
def _in_this_process(in_this_process):
    pass


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_program_is_the_module(name):
    """Exported by the compiler, which takes the fast path, or by running; taken apart, or not."""
    build, shape = CASES[name]
    wanted = trace(build(), torch.empty(shape)).fingerprint
    program = exported(build(), shape, strict=False)
    assert of_program(program.run_decompositions(), shape) == wanted
    if name.startswith("layer"):
        program = exported(build(), shape)
        assert (FAST in calls(program)) == ("biases" not in name)
        assert of_program(program, shape) == wanted


class Native(nn.Module):
    """The kernel of attention as `nn.MultiheadAttention` calls it."""

    def __init__(self, mask=None, kind=None, weights=False):
        super().__init__()
        self.attention, self.kind, self.weights = nn.MultiheadAttention(16, 4), kind, weights
        self.register_buffer("mask", mask)

    def forward(self, x):
        its, kind = self.attention, self.kind
        weights = (its.in_proj_weight, its.in_proj_bias, its.out_proj.weight, its.out_proj.bias)
        given = (x, x, x, 16, 4, *weights, self.mask, self.weights, True, kind)
        return x + torch._native_multi_head_attention(*given)[0]


MASKS = {
    "": (),
    "of keys": (torch.tensor([[False] * 4 + [True]] * 2), 1),
    "of pairs": (torch.ones(5, 5, dtype=torch.bool).triu(1), 0),
    "of both": (torch.zeros(2, 4, 5, 5, dtype=torch.bool), 2),
}


@pytest.mark.parametrize("mask", MASKS)
def test_the_kernel_of_attention(mask):
    model, x = Native(*MASKS[mask]).eval(), torch.randn(2, 5, 16)
    graph = trace(Pooled(model), torch.empty(X))
    assert graph.fingerprint == trace(Pooled(Attended()), torch.empty(X)).fingerprint
    with torch.no_grad():
        weights = list(model.attention.parameters())
        given = (None, x, x, x, 16, 4, *weights, model.mask, False, True, model.kind)
        followed = attention(*given)[0]
        torch.testing.assert_close(x + followed, model(x), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_a_script_of_a_vision_transformer():
    model = vision().eval()
    with torch.no_grad():
        script = torch.jit.trace(model, torch.randn(PICTURE))
    assert (
        trace(script, torch.empty(PICTURE)).fingerprint
        == trace(model, torch.empty(PICTURE)).fingerprint
    )


def test_other_layers_are_others():
    alike = {
        name
        for name in CASES
        if name.endswith(("its weights", "causal attention", "padded attention"))
    }
    prints = {
        trace(CASES[name][0](), torch.empty(CASES[name][1])).fingerprint
        for name in CASES.keys() - alike
    }
    assert len(prints) == len(CASES) - len(alike)
