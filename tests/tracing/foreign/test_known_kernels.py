"""Triton kernels that are known by name compute what their libraries say, and leave its nodes."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from nar_plugin.tracing import trace
from nar_plugin.tracing.foreign.known_kernels import known_kernel

torch.manual_seed(0)
X, Y, G = (torch.randn(2, 5, 8) for _ in range(3))
W, B = torch.randn(8), torch.randn(8)
RMS = X / (X.pow(2).mean(-1, keepdim=True) + 1e-7).sqrt()
NO_RESIDUAL = {"res": None, "res_out": None}


def run(name, out, **arguments):
    """Run a kernel's stand-in; what it wrote into the arguments named `out`."""
    for each in out.split():
        arguments.setdefault(each, torch.full_like(X, torch.nan))
    known_kernel(name, arguments)()
    return [arguments[each] for each in out.split()]


def close(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def test_a_norm_adds_the_residual_first_and_keeps_it():
    y, total = run(
        "layer_norm_fwd_kernel_row", "y res_out", x=X, w=W, b=B, res=Y, D=8, IS_RMS_NORM=False
    )
    close(total, X + Y)
    centred = X + Y - (X + Y).mean(-1, keepdim=True)
    close(y, centred / (centred.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * W + B)


def test_norms_of_a_row_of_its_groups_and_with_a_gate():
    (y,) = run("layer_norm_fwd_kernel", "y", x=X, w=W, b=None, D=8, IS_RMS_NORM=True, **NO_RESIDUAL)
    close(y, RMS * W)
    (y,) = run("layer_norm_fwd_kernel", "y", x=X, w=W, b=B, D=4, IS_RMS_NORM=False, **NO_RESIDUAL)
    halves = X.unflatten(-1, (2, 4))
    halves = halves - halves.mean(-1, keepdim=True)
    normed = halves / (halves.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt()
    close(y, normed.flatten(-2) * W + B)
    gated = {"b": None, "residual": None, "residual_out": None, "D": 8, "IS_RMS_NORM": True}
    (y,) = run("layer_norm_gated_fwd_kernel", "y", x=X, g=G, w=W, ACTIVATION="swish", **gated)
    close(y, RMS * W * G * torch.sigmoid(G))
    grouped = {"x": X, "w": W, "b": None, "g": G, "D": 8, "IS_RMS_NORM": True}
    (y,) = run("layer_norm_fwd_kernel_group", "y", NORM_BEFORE_GATE=True, **grouped)
    close(y, RMS * W * G * torch.sigmoid(G))
    (y,) = run("layer_norm_fwd_kernel_group", "y", NORM_BEFORE_GATE=False, **grouped)
    opened = X * G * torch.sigmoid(G)
    close(y, opened / opened.pow(2).mean(-1, keepdim=True).sqrt() * W)


ELEMENTWISE = {
    "swish_fwd_kernel": (lambda: X * torch.sigmoid(X), "y", {"x": X}),
    "sigmoid_fwd_kernel": (lambda: 1 / (1 + (-X).exp()), "y", {"x": X}),
    "logsigmoid_fwd_kernel": (
        lambda: -(1 + (-X).exp()).log(),
        "y",
        {"x": X, "temperature": 1.0},
    ),
    "elu_p1_fwd_kernel": (lambda: torch.where(X > 0, X + 1, X.exp()), "y", {"x": X}),
    "swiglu_fwd_kernel": (lambda: X * torch.sigmoid(X) * Y, "z", {"x": X, "y": Y}),
    "sigmoidglu_fwd_kernel": (lambda: torch.sigmoid(X) * Y, "z", {"x": X, "y": Y}),
    "softmax_fwd_kernel": (lambda: X.exp() / X.exp().sum(-1, keepdim=True), "p", {"x": X}),
    "l2norm_fwd_kernel": (lambda: X / X.pow(2).sum(-1, keepdim=True).sqrt(), "y", {"x": X, "D": 8}),
    "_swiglu_forward_kernel": (
        lambda: X * torch.sigmoid(X) * Y,
        "c_ptr",
        {"a_ptr": X, "b_ptr": Y},
    ),
    "_geglu_tanh_forward_kernel": (
        lambda: X * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (X + 0.044715 * X**3))) / 2 * Y,
        "c",
        {"a": X, "b": Y, "n_cols": 8},
    ),
    "_rms_norm_forward_kernel": (lambda: RMS * W, "Y_ptr", {"X_ptr": X, "W_ptr": W, "n_cols": 8}),
    "_layer_norm_forward_kernel": (
        lambda: (
            (X - X.mean(-1, keepdim=True))
            / (X.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
            * W
            + B
        ),
        "Y_ptr",
        {"X_ptr": X, "W_ptr": W, "B_ptr": B, "n_cols": 8},
    ),
    "token_shift_fwd_kernel_short": (
        lambda: torch.cat([torch.zeros(2, 1, 8), X[:, :-1]], 1) - X,
        "y",
        {"x": X, "cache": None},
    ),
    "k_update_fwd_kernel_short": (
        lambda: X * (1 + (Y - 1) * W),
        "out",
        {"k": X, "a": Y, "ka": W},
    ),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name):
    expected, out, arguments = ELEMENTWISE[name]
    close(run(name, out, **arguments)[0], expected())


def test_mixes_with_the_last_token():
    rates = {f"ix{letter}": torch.randn(8) for letter in "rwkvag"}
    out = " ".join(f"ox{letter}" for letter in "rwkvag")
    found = run("fused_addcmul_fwd_kernel", out, hidden=X, delta=Y, use_xg=True, **rates)
    for letter, mixed in zip("rwkvag", found, strict=True):
        close(mixed, X + Y * rates[f"ix{letter}"])


@pytest.mark.parametrize("interleaved", [False, True])
def test_rotations_are_complex_products(interleaved):
    x, angles = torch.randn(2, 5, 3, 8), torch.rand(5, 2)  # half of the features are turned
    (y,) = run(
        "rotary_embedding_kernel",
        "y",
        x=x,
        cos=angles.cos(),
        sin=angles.sin(),
        y=torch.empty_like(x),
        T=5,
        INTERLEAVED=interleaved,
    )
    turn = torch.polar(torch.ones(5, 2), angles)[:, None]
    axis = -1 if interleaved else -2
    one, other = x[..., :4].unflatten(-1, (2, 2)).unbind(axis)
    turned = torch.complex(one, other) * turn
    close(y[..., :4], torch.stack([turned.real, turned.imag], axis).flatten(-2))
    close(y[..., 4:], x[..., 4:])


def test_a_causal_convolution_reads_no_later_step():
    weight = torch.randn(8, 4)
    (y,) = run(
        "causal_conv1d_fwd_kernel",
        "y",
        x=X,
        weight=weight,
        bias=B,
        residual=Y,
        T=5,
        ACTIVATION="silu",
    )
    before = torch.cat([torch.zeros(2, 3, 8), X], 1)
    summed = sum(before[:, tap : tap + 5] * weight[:, tap] for tap in range(4)) + B
    close(y, summed * torch.sigmoid(summed) + Y)


def test_linear_attention_is_keys_with_values_and_then_queries():
    """The sum over all steps; that a step sees no later one is a mask."""
    query, key, value, gate = (torch.randn(2, 5, 3, 4) for _ in range(4))
    arguments = {"q": query, "k": key, "v": value, "g": None, "gk": gate, "gv": None, "h0": None}
    (o,) = run("fused_recurrent_fwd_kernel", "o", o=torch.empty(2, 5, 3, 4), **arguments)
    state = sum(
        (key[:, step] * gate[:, step])[..., :, None] * value[:, step][..., None, :]
        for step in range(5)
    )
    close(o, (query[..., None] * state[:, None]).sum(-2))


def test_another_kernel_of_the_name_is_not_known():
    assert known_kernel("swish_fwd_kernel", {"x": X, "into": Y}) is None
    assert known_kernel("swish_backward", {"x": X, "y": Y}) is None


def test_an_llm_with_ligers_kernels_is_the_llm(monkeypatch):
    liger = pytest.importorskip("liger_kernel.transformers")
    transformers = pytest.importorskip("transformers")
    llama = transformers.models.llama.modeling_llama
    config = transformers.LlamaConfig(num_hidden_layers=2, hidden_size=64, intermediate_size=96)

    def graph():
        with torch.device("meta"):
            return trace(transformers.LlamaModel(config), torch.ones(1, 9).long())

    plain = graph()
    monkeypatch.setattr(llama, "LlamaRMSNorm", liger.LigerRMSNorm)
    monkeypatch.setattr(llama, "LlamaMLP", liger.LigerSwiGLUMLP)
    monkeypatch.setattr(llama, "apply_rotary_pos_emb", liger.liger_rotary_pos_emb)
    assert graph().fingerprint == plain.fingerprint


def test_a_launch_of_a_known_kernel_leaves_torchs_nodes():
    pytest.importorskip("triton")
    from triton_kernel import swiglu_fwd_kernel

    class Gated(nn.Module):
        def __init__(self):
            super().__init__()
            self.wide, self.narrow = nn.Linear(8, 32), nn.Linear(16, 8)

        def forward(self, x):
            gate, value = self.wide(x).chunk(2, -1)
            z = torch.empty_like(gate)
            swiglu_fwd_kernel[(1,)](gate, value, z, z.numel(), BLOCK=16)
            return self.narrow(z)

    class Wrapped(Gated):
        def forward(self, x):
            gate, value = self.wide(x).chunk(2, -1)
            z = torch.empty_like(gate)
            wrapped = torch.library.wrap_triton(swiglu_fwd_kernel)
            wrapped[(1,)](gate, value, z, z.numel(), BLOCK=16)
            return self.narrow(z)

    class Plain(Gated):
        def forward(self, x):
            gate, value = self.wide(x).chunk(2, -1)
            return self.narrow(F.silu(gate) * value)

    models = Gated(), Wrapped(), Plain()
    assert len({trace(model, torch.ones(2, 8)).fingerprint for model in models}) == 1


def test_a_gate_that_is_not_known_leaves_a_node():
    pytest.importorskip("triton")
    from nar_plugin.tracing.foreign.triton_kernels import launched

    class Gating:
        """A launch as another library may have it."""

        __name__ = "layer_norm_gated_fwd_kernel"

    noted = []

    class Sources:
        def is_live(self, tensor):
            return tensor is X

        def is_learned(self, tensor):
            return tensor is W

    class Writes:
        def is_fresh(self, tensor):
            return tensor is y

    class Recorder:
        sources, writes = Sources(), Writes()

        def attempt(self, work, arguments):
            with pytest.raises(KeyError, match="mish"):
                work()
            return False

        def write(self, op, inputs, outputs):
            noted.append((op.kind, inputs, outputs))

    y = torch.empty_like(X)
    arguments = {"x": X, "g": G, "y": y, "w": W, "b": None, "residual": None, "D": 8}
    arguments |= {"residual_out": None, "ACTIVATION": "mish", "IS_RMS_NORM": True}
    launched(Recorder(), Gating(), arguments)
    assert [kind for kind, *_ in noted] == ["triton::layer_norm_gated_fwd_kernel"]
    assert noted[0][2] == [y]


class Launching(nn.Module):
    """A layer, launches on what it makes, and a layer."""

    def __init__(self, launches):
        super().__init__()
        self.a, self.o = nn.Linear(8, 8), nn.Linear(8, 8)
        self.weight, self.shift = nn.Parameter(W.clone()), nn.Parameter(B.clone())
        self.register_buffer("table", torch.ones(5, 8))
        self.launches = launches

    def forward(self, x):
        return self.o(self.launches(self, self.a(x)))


class Kernel:
    def __init__(self, name):
        self.__name__ = name


def launching(name, **arguments):
    """The graph of a launch into an empty `into`, with the layer's result as `data`."""
    from nar_plugin.tracing.foreign import triton_kernels

    def launches(model, data):
        into = torch.empty_like(data)
        named = {"data": data, "into": into, "weight": model.weight, "shift": model.shift}
        named |= {"table": model.table, "places": torch.arange(5)}
        given = {
            key: named.get(item, item) if isinstance(item, str) else item
            for key, item in arguments.items()
        }
        triton_kernels.launched(triton_kernels._tracing.recorder, Kernel(name), given)
        return into if "into" in arguments.values() else data

    return launches


def launch_graph(name, **arguments):
    pytest.importorskip("triton.runtime.jit")
    return trace(Launching(launching(name, **arguments)), X)


def test_tables_and_integers_are_no_outputs():
    into = launch_graph("turned", x="data", cos="table", at="places", y="into")
    assert [op.kind for op in into.ops] == ["linear", "triton::turned", "linear"]

    def twice(model, data):
        first = launching("turned", x="data", cos="table", at="places", y="into")(model, data)
        return first * model.table  # is the same for every input, still

    assert [op.kind for op in trace(Launching(twice), X).ops][:2] == ["linear", "triton::turned"]
    assert trace(Launching(twice), X).sources()[2] == [1]


def test_a_kernel_works_in_place_whatever_its_factors_are():
    for factor in ("table", "weight"):
        inside = launch_graph("scaled", x="data", factors=factor)
        assert [op.kind for op in inside.ops] == ["linear", "triton::scaled", "linear"]


REFUSED = {
    "swish_fwd_kernel": {"x": None, "z": "data", "y": "into"},
    "softmax_fwd_kernel": {"x": "data", "p": 12345, "o": "into"},
    "_layer_norm_forward_kernel": {
        **{"Y_ptr": "into", "X_ptr": "data", "W_ptr": 3, "B_ptr": 4, "n_cols": 8},
    },
    "layer_norm_fwd_kernel": {
        **{"x": "data", "y": "into", "w": None, "b": None, "res": "data", "res_out": "into"},
        **{"D": None, "IS_RMS_NORM": False},
    },
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_arguments_leave_a_node_and_nothing_else(name):
    found = launch_graph(name, **REFUSED[name])
    assert [op.kind for op in found.ops] == ["linear", f"triton::{name}", "linear"]


def test_an_rms_norm_with_a_bias_adds_it():
    arguments = {"x": "data", "y": "into", "w": "weight", "D": 8, "IS_RMS_NORM": True}
    biased = launch_graph("layer_norm_fwd_kernel", b="shift", **arguments, **NO_RESIDUAL)
    plain = launch_graph("layer_norm_fwd_kernel", b=None, **arguments, **NO_RESIDUAL)

    def norm(model, data):
        return F.rms_norm(data, (8,), model.weight)

    def norm_and_bias(model, data):
        return norm(model, data) + model.shift

    assert biased.fingerprint == trace(Launching(norm_and_bias), X).fingerprint
    assert plain.fingerprint == trace(Launching(norm), X).fingerprint
    assert biased.fingerprint != plain.fingerprint
    (y,) = run("layer_norm_fwd_kernel", "y", x=X, w=W, b=B, D=8, IS_RMS_NORM=True, **NO_RESIDUAL)
    close(y, RMS * W + B)


def test_a_state_goes_into_linear_attention_and_out_of_it():
    query, key, value = (torch.randn(2, 5, 3, 4) for _ in range(3))
    before = torch.randn(2, 3, 4, 4)
    arguments = {"q": query, "k": key, "v": value, "g": None, "gk": None, "gv": None}
    arguments |= {"o": torch.empty(2, 5, 3, 4), "ht": torch.empty(2, 3, 4, 4)}
    found, after = run("fused_recurrent_fwd_kernel", "o ht", h0=before, **arguments)
    state = before + sum(
        key[:, step][..., :, None] * value[:, step][..., None, :] for step in range(5)
    )
    close(after, state)
    close(found, (query[..., None] * state[:, None]).sum(-2))
