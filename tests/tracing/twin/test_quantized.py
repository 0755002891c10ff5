"""A quantized model is its float design: eager or FX, static, dynamic, or still in training.

torch folds norms into convolutions before it quantizes; the float model is then the folded one.
"""

import copy
import warnings

import pytest
import torch
from torch import nn
from torch.ao import quantization
from torch.ao.nn import quantized as packed
from torch.ao.quantization import quantize_fx
from torch.nn import functional as F

from nar_plugin.tracing import trace

pytestmark = pytest.mark.filterwarnings("ignore")
ENGINE = "x86" if "x86" in torch.backends.quantized.supported_engines else "qnnpack"
IMAGE = torch.randn(1, 3, 64, 64)


@pytest.fixture(scope="module")
def resnets():
    """The float model for eager quantization, and its fingerprint with norms folded or not."""
    models = pytest.importorskip("torchvision.models.quantization")
    model = models.resnet18(weights=None, quantize=False).eval()
    folded = copy.deepcopy(model)
    folded.fuse_model()
    return model, trace(folded), trace(model)


def static(model):
    model.fuse_model()
    model.qconfig = quantization.get_default_qconfig(ENGINE)
    quantization.prepare(model, inplace=True)
    model(IMAGE)
    return model


def in_training(model):
    model.train().fuse_model(is_qat=True)
    model.qconfig = quantization.get_default_qat_qconfig(ENGINE)
    return quantization.prepare_qat(model)


def eager_converted(model):
    return quantization.convert(static(model))


def trained_and_converted(model):
    return quantization.convert(in_training(model).eval())


def by_fx(model):
    mapping = quantization.get_default_qconfig_mapping(ENGINE)
    prepared = quantize_fx.prepare_fx(model, mapping, (IMAGE,))
    prepared(IMAGE)
    return prepared


def fx_converted(model):
    return quantize_fx.convert_fx(by_fx(model))


def fx_reference(model):
    return quantize_fx.convert_to_reference_fx(by_fx(model))


@pytest.mark.parametrize(
    "quantize",
    [static, eager_converted, trained_and_converted, by_fx, fx_converted, fx_reference],
)
def test_a_quantized_resnet_is_the_folded_one(quantize, resnets):
    model, folded, _ = resnets
    graph = trace(quantize(copy.deepcopy(model)))
    assert graph.fingerprint == folded.fingerprint
    assert graph.method == "meta"
    assert graph.params == folded.params
    assert graph.inputs == "float32[1, 3, 224, 224]"
    kinds = [op.kind for op in graph.ops]
    assert "batch_norm" not in kinds
    assert kinds.count("relu") == 17
    assert all(op.get("bias") for op in graph.ops if op.kind == "conv")


def test_before_norms_are_folded_a_model_in_training_is_the_float_one(resnets):
    model, _, plain = resnets
    prepared = in_training(copy.deepcopy(model))
    before = {name: value.clone() for name, value in prepared.state_dict().items()}
    assert trace(prepared).fingerprint == plain.fingerprint
    after = prepared.state_dict()
    assert all(torch.equal(after[name].nan_to_num(), before[name].nan_to_num()) for name in before)


class Stubbed(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.Sequential(*layers)
        self.quant, self.dequant = quantization.QuantStub(), quantization.DeQuantStub()

    def forward(self, x):
        return self.dequant(self.layers(self.quant(x)))


def converted(model, x, engine=ENGINE):
    model.qconfig = quantization.get_default_qconfig(engine)
    quantization.prepare(model, inplace=True)
    model(x)
    return quantization.convert(model)


SEQUENCE, PICTURE = torch.randn(2, 4, 12), torch.randn(2, 4, 12, 12)
VOLUME, ROWS = torch.randn(2, 4, 6, 6, 6), torch.randn(2, 12)
LAYERS = {
    "conv1d": (SEQUENCE, lambda: [nn.Conv1d(4, 8, 3, 2, 1)]),
    "conv2d": (PICTURE, lambda: [nn.Conv2d(4, 8, 3, groups=2, bias=False)]),
    "padding": (PICTURE, lambda: [nn.Conv2d(4, 8, 3, padding=1, padding_mode="reflect")]),
    "conv3d": (VOLUME, lambda: [nn.Conv3d(4, 8, 3, dilation=2)]),
    "transposed": (PICTURE, lambda: [nn.ConvTranspose2d(4, 8, 3, 2, 1, 1)]),
    "batch norm": (PICTURE, lambda: [nn.BatchNorm2d(4)]),
    "layer norm": (PICTURE, lambda: [nn.LayerNorm(12)]),
    "group norm": (PICTURE, lambda: [nn.GroupNorm(2, 4)]),
    "instance norm": (PICTURE, lambda: [nn.InstanceNorm2d(4, affine=True)]),
    "linear": (ROWS, lambda: [nn.Linear(12, 8), nn.Dropout()]),
    **{
        type(layer).__name__: (PICTURE, lambda layer=layer: [copy.deepcopy(layer)])
        for layer in (nn.ReLU6(), nn.Hardswish(), nn.ELU(0.7), nn.LeakyReLU(0.2), nn.Sigmoid())
    },
}


@pytest.mark.parametrize("name", LAYERS)
def test_static_layers(name):
    x, make = LAYERS[name]
    engine = "qnnpack" if name == "transposed" else ENGINE
    if engine not in torch.backends.quantized.supported_engines:
        pytest.skip(f"no {engine}")
    plain = trace(Stubbed(*make()), x)
    assert trace(converted(Stubbed(*make()).eval(), x, engine), x).fingerprint == plain.fingerprint


FUSED = {
    "conv, norm, relu": (PICTURE, [nn.Conv2d(4, 8, 3), nn.BatchNorm2d(8), nn.ReLU()]),
    "conv, relu": (VOLUME, [nn.Conv3d(4, 8, 3), nn.ReLU()]),
    "norm, relu": (PICTURE, [nn.BatchNorm2d(4), nn.ReLU()]),
    "linear, relu": (ROWS, [nn.Linear(12, 8), nn.ReLU()]),
}


@pytest.mark.parametrize("name", FUSED)
def test_fused_layers_keep_their_activation(name):
    x, layers = FUSED[name]
    model = Stubbed(*copy.deepcopy(layers)).eval()
    names = [f"layers.{place}" for place in range(len(layers))]
    quantization.fuse_modules(model, names, inplace=True)
    plain = trace(model, x)
    graph = trace(converted(model, x), x)
    assert graph.fingerprint == plain.fingerprint
    assert [op.kind for op in graph.ops][-1] == "relu"


class Sums(nn.Module):
    """Every method of the module that stands for operators in eager quantization."""

    def __init__(self):
        super().__init__()
        self.quant, self.dequant = quantization.QuantStub(), quantization.DeQuantStub()
        self.a, self.b = nn.Conv2d(4, 4, 1), nn.Conv2d(4, 4, 1)
        self.of = nn.ModuleList([packed.FloatFunctional() for _ in range(4)])

    def forward(self, x):
        x = self.quant(x)
        y = self.of[1].mul(self.of[0].add(self.a(x), self.b(x)), self.b(x))
        y = self.of[2].add_relu(self.of[3].cat([y, self.a(x)], 1), self.of[3].cat([x, x], 1))
        return self.dequant(self.of[2].mul_scalar(self.of[2].add_scalar(y, 3.0), 2.0))


def test_sums_and_products():
    plain = trace(Sums(), PICTURE)
    assert trace(converted(Sums().eval(), PICTURE), PICTURE).fingerprint == plain.fingerprint


class Words(nn.Module):
    def __init__(self, cell=nn.LSTM, bidirectional=True):
        super().__init__()
        self.embedding = nn.Embedding(100, 16)
        self.bag = nn.EmbeddingBag(100, 16, mode="sum", include_last_offset=True)
        self.rnn = cell(16, 32, 2, batch_first=True, bidirectional=bidirectional)
        self.head = nn.Linear(self.rnn.hidden_size * (1 + bidirectional) + 16, 5)

    def forward(self, ids):
        y = self.rnn(self.embedding(ids))[0][:, -1]
        bag = self.bag(ids.flatten(), torch.arange(len(ids) + 1) * ids.shape[1])
        return self.head(torch.cat([y, bag], 1))


IDS = torch.randint(0, 100, (2, 7))


@pytest.mark.parametrize("dtype", [torch.qint8, torch.float16])
@pytest.mark.parametrize("cell", [nn.LSTM, nn.GRU])
def test_dynamic_recurrent_layers(cell, dtype):
    model = quantization.quantize_dynamic(Words(cell).eval(), {cell, nn.Linear}, dtype=dtype)
    model(IDS)
    for inputs in (IDS, None):
        graph = trace(model, inputs)
        assert graph.fingerprint == trace(Words(cell), inputs).fingerprint
        assert graph.method == "meta"


class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru = nn.LSTMCell(12, 32), nn.GRUCell(32, 32)
        self.rnn = nn.RNNCell(32, 32, nonlinearity="relu")

    def forward(self, x):
        h = torch.zeros(len(x), 32)
        h, c = self.lstm(x, (h, h))
        return self.rnn(self.gru(h, c), h)


def test_dynamic_cells():
    kinds = {nn.LSTMCell, nn.GRUCell, nn.RNNCell}
    model = quantization.quantize_dynamic(Cells().eval(), kinds, dtype=torch.qint8)
    assert trace(model, ROWS).fingerprint == trace(Cells(), ROWS).fingerprint


def test_embeddings():
    model = Words().eval()
    model.embedding.qconfig = quantization.float_qparams_weight_only_qconfig
    model.bag.qconfig = quantization.float_qparams_weight_only_qconfig_4bit
    quantization.convert(quantization.prepare(model, inplace=True), inplace=True)
    assert isinstance(model.bag, packed.EmbeddingBag)
    assert trace(model, IDS).fingerprint == trace(Words(), IDS).fingerprint


class Attentive(nn.Module):
    """Layers that torch takes apart before it quantizes them: a loop over steps, heads by hand."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(12, 32, 2, batch_first=True)
        self.attention = nn.MultiheadAttention(32, 4, batch_first=True)

    def forward(self, x):
        y, _ = self.rnn(x)
        return self.attention(y, y, y)[0]


def test_layers_that_are_taken_apart():
    model = Attentive().eval()
    model.qconfig = quantization.get_default_qconfig(ENGINE)
    prepared = quantization.prepare(model)
    assert not isinstance(prepared.rnn, nn.LSTM)
    x = torch.randn(2, 5, 12)
    assert trace(prepared, x).fingerprint == trace(Attentive(), x).fingerprint


class Functional(nn.Module):
    """FX lowers these to `torch.ops.quantized`, with packed weights as attributes."""

    def __init__(self):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(8, 4, 3, 3)), nn.Parameter(torch.randn(8))
        self.matrix, self.offset = nn.Parameter(torch.randn(5, 8)), nn.Parameter(torch.randn(5))
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        x = F.relu(F.conv2d(x, self.weight, self.bias, (1, 1), (1, 1), (1, 1), 1))
        x = F.hardswish(x)
        x = torch.cat([x * x + x, x.sigmoid()], -1)
        return F.linear(self.norm(x.mean((2, 3))), self.matrix, self.offset).softmax(-1)


def test_functional_layers_by_fx():
    mapping = quantization.get_default_qconfig_mapping(ENGINE)
    prepared = quantize_fx.prepare_fx(Functional().eval(), mapping, (PICTURE,))
    prepared(PICTURE)
    model = quantize_fx.convert_fx(prepared)
    assert "torch.ops.quantized.conv2d_relu" in model.code
    graph, plain = trace(model, PICTURE), trace(Functional(), PICTURE)
    assert graph.fingerprint == plain.fingerprint
    assert graph.params == plain.params


class ByHand(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 8, 3)

    def forward(self, x):
        scale, point = torch.ones(8), torch.zeros(8, dtype=torch.int32)
        weight = torch.fake_quantize_per_channel_affine(
            self.conv.weight, scale, point, 0, -128, 127
        )
        x = torch.fake_quantize_per_tensor_affine(x, 0.1, 0, 0, 255)
        x = torch.quantize_per_tensor(x, 0.1, 0, torch.quint8).dequantize()
        return F.conv2d(x, weight, self.conv.bias)


def test_quantizers_by_hand_are_passed_by():
    assert trace(ByHand(), PICTURE).fingerprint == trace(nn.Conv2d(4, 8, 3), PICTURE).fingerprint


def test_integer_weights_of_an_exported_model():
    pt2e = pytest.importorskip("torchao.quantization.pt2e.quantize_pt2e")
    x86 = pytest.importorskip("torchao.quantization.pt2e.quantizer.x86_inductor_quantizer")
    layers = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Flatten(), nn.Linear(1152, 10)).eval()
    x = torch.randn(1, 3, 8, 8)
    quantizer = x86.X86InductorQuantizer()
    quantizer.set_global(x86.get_default_x86_inductor_quantization_config())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prepared = pt2e.prepare_pt2e(torch.export.export(layers, (x,)).module(), quantizer)
        prepared(x)
        model = pt2e.convert_pt2e(prepared)
    assert trace(model, x).fingerprint == trace(layers, x).fingerprint


def test_training_with_torchao():
    qat = pytest.importorskip("torchao.quantization.qat")
    torchao = pytest.importorskip("torchao.quantization")
    model = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32))
    plain = trace(model, torch.randn(2, 32))
    config = qat.IntxFakeQuantizeConfig(torch.int4, group_size=32)
    torchao.quantize_(model, qat.QATConfig(weight_config=config, step="prepare"))
    assert trace(model, torch.randn(2, 32)).fingerprint == plain.fingerprint
