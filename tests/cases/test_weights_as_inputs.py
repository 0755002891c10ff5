"""Functional programs: an input that is used only as a weight is a weight.

Each program is equal to a module that holds its weights itself, by graph and by parameters.
"""

import itertools
import math

import pytest
import torch
from torch import nn
from torch.func import functional_call
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional as F

from nar_plugin.tracing import trace

pytestmark = pytest.mark.usefixtures("in_this_process")
IDS = torch.arange(8)[None]
x1, x2, x3 = torch.randn(8), torch.randn(4, 8), torch.randn(2, 5, 8)
picture = torch.randn(1, 3, 32, 32)


class Program(nn.Module):
    """A function as a module without parameters."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args, **kwargs):
        return self.function(*args, **kwargs)


class Block(nn.Module):
    def __init__(self, width=32, heads=4):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.heads = heads

    def forward(self, x):
        parts = self.qkv(self.norm1(x)).chunk(3, -1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        x = x + self.out(y)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Language(nn.Module):
    def __init__(self, layers=2, words=50, places=16, width=32):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(places, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, ids):
        x = self.words(ids) + self.places.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Pictures(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch, self.norm = nn.Conv2d(3, 32, 4, stride=4), nn.BatchNorm2d(32)
        self.conv, self.head = nn.Conv2d(32, 64, 3, padding=1), nn.Linear(64, 7)

    def forward(self, x):
        x = self.norm(self.patch(x)).relu()
        return self.head(self.conv(x).mean((2, 3)))


def weights_of(model):
    return {name: item.detach() for name, item in model.named_parameters()}


def state_of(model):
    buffers = {name: item for name, item in model.named_buffers() if "num" not in name}
    return {**weights_of(model), **buffers}


def perceptron(x, weights):
    """As lessons on JAX write it: a list of pairs."""
    for weight, bias in weights[:-1]:
        x = torch.tanh(x @ weight + bias)
    weight, bias = weights[-1]
    return x @ weight + bias


def layers_of(*widths):
    return [(torch.randn(a, b), torch.randn(b)) for a, b in itertools.pairwise(widths)]


def with_tanh(*widths):
    layers = []
    for a, b in itertools.pairwise(widths):
        layers += [nn.Linear(a, b), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def layer_norm(x, scale, offset):
    centred = x - x.mean(-1, keepdim=True)
    return centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + 1e-5) * scale + offset


def attend(x, block, heads):
    q, k, v = (torch.einsum("btd,hdk->bhtk", x, block[name]) for name in ("q", "k", "v"))
    scores = torch.einsum("bhtk,bhsk->bhts", q, k) / math.sqrt(q.shape[-1])
    mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
    return torch.einsum("bhtk,hkd->btd", weights @ v, block["o"])


def language(params, ids):
    """A GPT as JAX code has it: dicts in a list, heads by einsum, norms by hand."""
    x = params["words"][ids] + params["places"][: ids.shape[1]]
    for block in params["blocks"]:
        x = x + attend(layer_norm(x, block["scale1"], block["offset1"]), block, 4)
        y = layer_norm(x, block["scale2"], block["offset2"])
        y = F.gelu(y @ block["up"] + block["up_bias"])
        x = x + (y @ block["down"] + block["down_bias"])
    return x @ params["head"]


def of_block(width=32, heads=4):
    each = width // heads
    made = {name: torch.randn(heads, width, each) for name in "qkv"}
    made |= {name: torch.randn(width) for name in ("scale1", "offset1", "scale2", "offset2")}
    made |= {"o": torch.randn(heads, each, width), "down_bias": torch.randn(width)}
    made |= {"up": torch.randn(width, 4 * width), "up_bias": torch.randn(4 * width)}
    return made | {"down": torch.randn(4 * width, width)}


def of_language():
    made = {"words": torch.randn(50, 32), "places": torch.randn(16, 32)}
    return made | {"blocks": [of_block(), of_block()], "head": torch.randn(32, 50)}


def pictures(x, kernel, bias, scale, offset, mean, var, second, second_bias, head, head_bias):
    x = F.conv2d(x, kernel, bias, stride=4)
    x = F.batch_norm(x, mean, var, scale, offset).relu()
    return F.linear(F.conv2d(x, second, second_bias, padding=1).mean((2, 3)), head, head_bias)


def of_pictures():
    shapes = [(32, 3, 4, 4), (32,), (32,), (32,), (32,), (32,)]
    shapes += [(64, 32, 3, 3), (64,), (7, 64), (7,)]
    return [torch.rand(shape) for shape in shapes]


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.x, self.h = nn.Linear(8, 16), nn.Linear(16, 16, bias=False)

    def forward(self, x):
        h = torch.zeros(x.shape[0], 16)
        for step in range(x.shape[1]):
            h = torch.tanh(self.x(x[:, step]) + self.h(h))
        return h


def recurrent(x, params):
    h = torch.zeros(x.shape[0], 16)
    for step in range(x.shape[1]):
        h = torch.tanh(x[:, step] @ params["x"] + params["b"] + h @ params["h"])
    return h


def gated(x, gate, up, down):
    return (F.silu(x @ gate) * (x @ up)) @ down


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.up = (nn.Linear(8, 24, bias=False) for _ in range(2))
        self.down = nn.Linear(24, 8, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


def normed(x, length, direction):
    return F.linear(x, length * direction / direction.norm(dim=1, keepdim=True))


def captured(model, *args):
    def call(weights, *args):
        return functional_call(model, weights, args)

    return make_fx(call)(state_of(model), *args)


def exported(model, *args):
    """The graph of an exported program, whose weights are arguments in its order."""
    program = torch.export.export(model, args)
    names = [item.target or "" for item in program.graph_signature.input_specs]
    given = [program.state_dict[name] for name in names if name in program.state_dict]
    return program.graph_module, (*given, *args)


PROGRAMS = {
    "pairs in a list": (perceptron, (x2, layers_of(8, 16, 12, 3)), with_tanh(8, 16, 12, 3)),
    "of one output": (perceptron, (x2, layers_of(8, 16, 1)), with_tanh(8, 16, 1)),
    "dicts of a language model": (language, (of_language(), IDS), Language()),
    "functional convolutions": (pictures, (picture, *of_pictures()), Pictures().eval()),
    "a recurrence by hand": (
        recurrent,
        (x3, {"x": torch.randn(8, 16), "b": torch.randn(16), "h": torch.randn(16, 16)}),
        Recurrent(),
    ),
    "a gated layer": (
        gated,
        (x3, torch.randn(8, 24), torch.randn(8, 24), torch.randn(24, 8)),
        Gated(),
    ),
    "a normed weight": (
        normed,
        (x2, torch.randn(16, 1), torch.randn(16, 8)),
        nn.Linear(8, 16, bias=False),
    ),
    "functional_call of a transformer": (
        lambda weights, x: functional_call(Language().eval(), weights, (x,)),
        (weights_of(Language()), IDS),
        Language(),
    ),
    "captured transformer": (
        captured(Language().eval(), IDS),
        (state_of(Language()), IDS),
        Language(),
    ),
    "captured convolutions": (
        captured(Pictures().eval(), picture),
        (state_of(Pictures()), picture),
        Pictures().eval(),
    ),
    "exported convolutions": (*exported(Pictures().eval(), picture), Pictures().eval()),
    "exported transformer": (*exported(Language().eval(), IDS), Language()),
    "a matrix and one sample": (
        lambda x, first, second: second @ torch.tanh(first @ x),
        (x1, torch.randn(16, 8), torch.randn(3, 16)),
        nn.Sequential(nn.Linear(8, 16, bias=False), nn.Tanh(), nn.Linear(16, 3, bias=False)),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_the_module_that_holds_its_weights(name):
    function, given, model = PROGRAMS[name]
    program = function if isinstance(function, nn.Module) else Program(function)
    own = next(item for item in given if any(item is known for known in (IDS, x1, x2, x3, picture)))
    one, other = trace(program, tuple(given)), trace(model, own)
    assert [str(op) for op in one.ops] == [str(op) for op in other.ops]
    assert one.fingerprint == other.fingerprint


def test_its_parameters_are_counted_and_its_caption_is_short():
    model = Language()
    graph = trace(Program(language), (of_language(), IDS))
    given = of_language()
    count = sum(item.numel() for item in given.values() if isinstance(item, torch.Tensor))
    count += sum(item.numel() for block in given["blocks"] for item in block.values())
    assert graph.params == count
    assert graph.inputs.count("float32") == 5
    assert graph.inputs.endswith("and 23 more")
    called = Program(lambda weights, x: functional_call(model, weights, (x,)))
    assert trace(called, (weights_of(model), IDS)).params == sum(
        item.numel() for item in model.parameters()
    )


def test_what_is_no_weight_stays_data():
    def convolved(x, neighbours, first, second):
        return neighbours @ ((neighbours @ (x @ first)).relu() @ second)

    def attended(q, k, v):
        return (q @ k.mT).softmax(-1) @ v

    def conditioned(x, condition, first, second):
        return torch.tanh(x @ first + condition) @ second

    given = (torch.randn(9, 8), torch.eye(9), torch.randn(8, 16), torch.randn(16, 3))
    graph = trace(Program(convolved), given)
    kinds = ["linear", "matmul", "relu", "linear", "matmul"]
    assert [op.kind for op in graph.ops] == kinds
    heads = tuple(torch.randn(5, 8) for _ in range(3))
    assert "linear" not in {op.kind for op in trace(Program(attended), heads).ops}
    given = (x2, torch.randn(4, 16), torch.randn(8, 16), torch.randn(16, 3))
    graph = trace(Program(conditioned), given)
    assert [op.kind for op in graph.ops] == ["linear", "add", "tanh", "linear"]
    assert "bias=True" not in str(graph.ops[0])
