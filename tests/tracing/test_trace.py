"""What a trace says, on models small enough to work out by hand."""

import warnings

import pytest
import torch
from models import ConvNet, NanoGPT
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

import nar_plugin
from nar_plugin.errors import NarError, TraceError
from nar_plugin.tracing import trace


def kinds(graph):
    return [op.kind for op in graph.ops]


def test_a_convnet_operation_by_operation():
    graph = trace(ConvNet(residual=True, groups=2), torch.empty(1, 3, 32, 32))
    assert kinds(graph) == ["conv", "batch_norm", "relu", "conv", "add", "mean", "linear"]
    assert graph.edges.tolist() == [[0, 1], [1, 2], [2, 3], [3, 4], [2, 4], [4, 5], [5, 6]]
    assert dict(graph.ops[3].attributes) == {
        "in": 8,
        "out": 8,
        "kernel": "3x3",
        "stride": "1x1",
        "dilation": "1x1",
        "groups": 2,
        "bias": True,
        "transposed": False,
    }
    assert graph.paths == ("stem", "norm", "act", "conv", "", "", "head")
    # 3*3*3*8+8, 2*8, 3*3*4*8+8, 8*10+10
    assert graph.params == 224 + 16 + 296 + 90
    # two for each multiply-add: 32*32*(27*8 + 36*8) + 80
    assert graph.flops == 2 * (32 * 32 * (27 * 8 + 36 * 8) + 80)


def test_a_gpt_block_by_block():
    graph = trace(NanoGPT(layers=2), torch.arange(8)[None])
    block = ["layer_norm", "linear", "attention", "linear", "add"]
    block += ["layer_norm", "linear", "gelu", "linear", "add"]
    assert kinds(graph) == ["embedding", "embedding", "add", *block, *block, "layer_norm", "linear"]
    assert dict(graph.ops[5].attributes) == {
        "heads": 6,
        "width": 64,
        "value_width": 64,
        "bias": False,
    }


def test_tied_parameters_count_once():
    model = NanoGPT(layers=1)
    assert trace(model, torch.arange(8)[None]).params == sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("model", [ConvNet(), ConvNet(kernel=5, groups=8)], ids=["plain", "dw"])
def test_flops_are_those_of_torchs_counter(model):
    x = torch.randn(1, 3, 24, 24)
    with FlopCounterMode(display=False) as counter:
        model(x)
    assert trace(model, x).flops == counter.get_total_flops()


def test_recurrent_layers_are_one_operation_whatever_the_length():
    model = nn.LSTM(8, 16, num_layers=2, bidirectional=True, batch_first=True)
    short, long = (trace(model, torch.empty(1, steps, 8)) for steps in (3, 50))
    assert kinds(short) == ["lstm"]
    assert short.fingerprint == long.fingerprint
    with FlopCounterMode(display=False) as counter:  # on meta it sees the single products
        model.to("meta")(torch.empty(1, 50, 8, device="meta"))
    assert long.flops == counter.get_total_flops()


def test_buffers_written_in_slices_keep_their_sources():
    class Canvas(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
            self.head = nn.Linear(8, 2)

        def forward(self, x):
            canvas = torch.zeros(x.shape[0], 8, device=x.device)
            canvas[:, :4] = self.a(x)
            canvas[:, 4:] = self.b(x)
            return self.head(canvas)

    graph = trace(Canvas(), torch.empty(1, 4))
    order = kinds(graph)
    assert order.count("linear") == 3
    ancestors = {len(order) - 1}
    for source, target in reversed(graph.edges.tolist()):
        if target in ancestors:
            ancestors.add(source)
    assert len(ancestors) == len(order), "every layer leads to the head"


def test_values_are_known_where_a_forward_asks_for_them():
    class Asks(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(5))

        def forward(self, x, lengths):
            for layer in self.layers[: int(lengths.max().item())]:
                x = layer(x)
            kept = (torch.arange(4, device=x.device) > 1).nonzero().tolist()
            assert kept == [[2], [3]]
            if torch.isnan(x).any():
                raise ValueError("not a number")
            return x

    graph = trace(Asks(), (torch.empty(1, 4), torch.tensor([1, 3])))
    assert kinds(graph) == ["linear"] * 3


class UnderInferenceMode(ConvNet):
    @torch.inference_mode()
    def forward(self, image):
        return super().forward(image)


def test_a_forward_under_inference_mode_has_the_same_operations():
    # There torch hands composite operators (conv2d, linear) to a dispatch mode as they are.
    image = torch.empty(1, 3, 32, 32)
    plain, inside = trace(ConvNet(), image), trace(UnderInferenceMode(), image)
    assert inside.fingerprint == plain.fingerprint
    assert (inside.flops, inside.work) == (plain.flops, plain.work)
    assert plain.flops > 0


def test_dead_branches_leave_no_trace():
    class Dead(ConvNet):
        def forward(self, x):
            self.conv(self.stem(x))
            return super().forward(x)

    image = torch.empty(1, 3, 16, 16)
    assert trace(Dead(), image).fingerprint == trace(ConvNet(), image).fingerprint


def test_parameters_that_the_forward_passes_by():
    class Early(ConvNet):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(8, 8))
            self.never = nn.Parameter(torch.ones(5))  # of a module that is called: not counted
            self.later = nn.Sequential(nn.Linear(10, 20), nn.LayerNorm(20))

        def forward(self, x):
            y = super().forward(x) + x.mean((2, 3)) @ self.head.weight[:, :3].t()
            y = y + self.scale.t().mean()
            return self.later(y) if self.later is None else y

    image = torch.empty(1, 3, 16, 16)
    assert trace(ConvNet(), image).unread == 0
    assert trace(Early(), image).unread == 10 * 20 + 20 + 20 + 20


def test_weights_of_attention_that_nobody_reads():
    class Attention(nn.Module):
        def __init__(self, **asked):
            super().__init__()
            self.enter = nn.Linear(32, 32)
            self.heads = nn.MultiheadAttention(32, 4, batch_first=True)
            self.asked = asked

        def forward(self, x):
            x = self.enter(x)
            return x + self.heads(x, x, x, **self.asked)[0]

    words = torch.empty(2, 10, 32)
    default = trace(Attention(), words)
    assert [op.kind for op in default.ops] == ["linear", "linear", "attention", "linear", "add"]
    for asked in ({"need_weights": False}, {"average_attn_weights": False}):
        assert trace(Attention(**asked), words).fingerprint == default.fingerprint


def test_refused_inputs_are_told_with_the_models_own_words():
    class Picky(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(7, 7)

        def forward(self, x):
            raise ValueError("I want a banana")

    with pytest.raises(TraceError, match=r"(?s)Picky.*I want a banana.*example_inputs="):
        trace(Picky(), torch.empty(1, 7))
    graph = trace(Picky())
    assert graph.method == "modules"
    assert [op.kind for op in graph.ops] == ["linear"]
    assert "I want a banana" in graph.reason


def test_a_refusal_is_told_once():
    """It is tried on meta and, since the model is small, for real."""

    class Picky(nn.Module):
        def forward(self, x):
            raise ValueError("I want a banana")

    with pytest.raises(TraceError) as refused:
        trace(Picky(), torch.empty(1, 7))
    assert str(refused.value).count("I want a banana") == 1


def test_a_forward_of_ours_warns_nobody():
    class Warns(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(7, 7)

        def forward(self, x):
            warnings.warn("of the model", stacklevel=1)
            torch.nn.functional.softmax(x)  # torch's own, which warns that no dim is given
            return self.linear(x)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        filters = list(warnings.filters)
        assert kinds(trace(Warns(), torch.empty(1, 7))) == ["linear"]
        assert kinds(trace(Warns())) == ["linear"]
        assert warnings.filters == filters
        with pytest.raises(UserWarning, match="of the model"):
            Warns()(torch.empty(1, 7))


def test_not_a_model():
    with pytest.raises(NarError, match="int"):
        nar_plugin.trace(3)


def test_a_scripted_model_is_the_eager_one():
    eager = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 5))
    inputs = torch.empty(1, 2)
    assert trace(torch.jit.script(eager), inputs).fingerprint == trace(eager, inputs).fingerprint


def test_lazy_layers_need_inputs_that_tell_their_sizes():
    with pytest.raises(TraceError, match="Pass example_inputs="):
        trace(nn.LazyLinear(3))
    inputs = torch.empty(1, 2)
    assert trace(nn.LazyLinear(3), inputs).fingerprint == trace(nn.Linear(2, 3), inputs).fingerprint


class Emptied(nn.Module):
    """Lets go of what it has used, as pytorchcv's reversible blocks do."""

    def __init__(self, let_go):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 3), nn.Conv2d(4, 5, 3)
        self.norm = nn.BatchNorm2d(4)
        self.let_go = let_go

    def forward(self, x):
        halfway = self.first(x)
        normed = self.norm(halfway)
        out = self.second(normed)
        self.let_go(halfway)
        self.let_go(normed)
        return out


@pytest.mark.parametrize(
    "let_go",
    [
        torch.Tensor.set_,
        torch.Tensor.squeeze_,
        lambda tensor: tensor.squeeze_().transpose_(0, 2),
    ],
    ids=["set_", "squeeze_", "transpose_"],
)
def test_a_shape_that_changes_later_is_not_that_of_earlier_calls(let_go):
    image = torch.empty(1, 3, 9, 9)
    expected = trace(Emptied(lambda tensor: None), image)
    assert trace(Emptied(let_go), image).fingerprint == expected.fingerprint
