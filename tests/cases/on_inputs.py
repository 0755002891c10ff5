"""What is written out on the model's own input, in several spellings, and near functions."""

import math

import torch
from spellings import Operation
from torch import nn
from torch.nn import functional as F


class OnInput(nn.Module):
    """A spelling directly on the input, before a head."""

    def __init__(self, written):
        super().__init__()
        self.written = written
        self.head, self.wide = nn.Linear(8, 3), nn.Linear(4, 3)
        self.a, self.b, self.bare = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8, bias=False)
        self.norm, self.rms = nn.LayerNorm(8), nn.RMSNorm(8, eps=1e-6)
        self.router = nn.Linear(8, 4, bias=False)
        self.experts = nn.ModuleList([nn.Linear(8, 8, bias=False) for _ in range(4)])
        self.scale, self.group = nn.Parameter(torch.ones(8)), nn.GroupNorm(2, 6)
        turns = torch.arange(6.0)[:, None] / 10.0 ** torch.arange(4.0)
        self.register_buffer("cos", turns.cos().repeat(1, 2))
        self.register_buffer("sin", turns.sin().repeat(1, 2))

    def forward(self, x):
        return self.head(self.written(self, x))


def centred(m, x):
    mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
    return (x - mean) / torch.sqrt(var + m.norm.eps) * m.norm.weight + m.norm.bias


def of_squares(m, x):
    y = x - x.mean(-1, keepdim=True)
    y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + m.norm.eps)
    return y * m.norm.weight + m.norm.bias


def llama(m, x):
    kept = x.dtype
    y = x.to(torch.float64)
    y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
    return m.rms.weight * y.to(kept)


def exponentials(m, x):
    e = torch.exp(x)
    return e / e.sum(-1, keepdim=True)


def less_the_largest(m, x):
    e = torch.exp(x - x.max(-1, keepdim=True).values)
    return e / e.sum(-1, keepdim=True)


def tanh_gelu(m, x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x.pow(3))))


def groups(m, x):
    y = x.reshape(len(x), 2, -1)
    y = (y - y.mean(-1, keepdim=True)) / (y.var(-1, keepdim=True, unbiased=False) + 1e-5).sqrt()
    return y.reshape(x.shape) * m.group.weight[:, None] + m.group.bias[:, None]


def positions(m, x):
    y = x.mT[..., None]  # (samples, channels, places, 1)
    mean, var = y.mean((2, 3), keepdim=True), y.var((2, 3), keepdim=True, unbiased=False)
    return ((y - mean) / (var + 1e-5).sqrt())[..., 0].mT


def rotated(x):
    left, right = x.chunk(2, -1)
    return torch.cat([-right, left], -1)


def turned(m, x):
    return x * m.cos + rotated(x) * m.sin


def turned_in_halves(m, x):
    left, right = x.chunk(2, -1)
    cos, sin = m.cos[:, :4], m.sin[:, :4]
    return torch.cat([left * cos - right * sin, right * cos + left * sin], -1)


def turned_as_complex(m, x):
    pairs = torch.view_as_complex(torch.stack(x.chunk(2, -1), -1))
    y = pairs * torch.complex(m.cos[:, :4], m.sin[:, :4])
    return torch.view_as_real(y).mT.flatten(-2)


def all_experts(m, x):
    weights = m.router(x).softmax(-1)
    given = torch.stack([expert(x) for expert in m.experts], -2)
    return (weights[..., None, :] @ given)[..., 0, :]


def experts_in_a_loop(m, x):
    weights = m.router(x).softmax(-1)
    return sum(weights[..., i : i + 1] * expert(x) for i, expert in enumerate(m.experts))


def itself(m, x):
    return (x @ x.mT / math.sqrt(8)).softmax(-1) @ x


def relu_by_comparison(m, x):
    return torch.where(x > 0, x, torch.zeros_like(x))


ON_INPUTS = {
    "layer norm": Operation(
        [lambda m, x: m.norm(x), centred, of_squares],
        [lambda m, x: F.layer_norm(x, (8,)), lambda m, x: (x - x.mean(-1, True)) * m.scale],
    ),
    "layer norm without weights": Operation(
        [
            lambda m, x: F.layer_norm(x, (8,)),
            lambda m, x: (
                (x - x.mean(-1, True)) / (x.var(-1, keepdim=True, correction=0) + 1e-5).sqrt()
            ),
        ],
        [lambda m, x: (x - x.mean(1, True)) / (x.var(-1, keepdim=True) + 1e-5).sqrt()],
    ),
    "RMS norm": Operation(
        [
            lambda m, x: m.rms(x),
            llama,
            lambda m, x: x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6) * m.rms.weight,
            lambda m, x: x / x.square().mean(-1, keepdim=True).add(1e-6).sqrt() * m.rms.weight,
        ],
        [lambda m, x: x / torch.sqrt((x * x).mean(1, keepdim=True) + 1e-6) * m.rms.weight],
    ),
    "length one": Operation(
        [
            lambda m, x: F.normalize(x, dim=-1),
            lambda m, x: x / x.norm(dim=-1, keepdim=True),
            lambda m, x: x * torch.rsqrt(x.square().sum(-1, keepdim=True)),
        ],
        [lambda m, x: x / x.abs().sum(-1, keepdim=True)],
    ),
    "softmax": Operation(
        [lambda m, x: x.softmax(-1), exponentials, less_the_largest],
        [lambda m, x: x.exp(), lambda m, x: x.sigmoid()],
    ),
    "GELU": Operation(
        [lambda m, x: F.gelu(x), lambda m, x: x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))],
        [lambda m, x: torch.erf(x), lambda m, x: x.flip(-1) * torch.erf(x / math.sqrt(2))],
    ),
    "tanh GELU": Operation(
        [lambda m, x: F.gelu(x, approximate="tanh"), tanh_gelu], [lambda m, x: F.gelu(x)]
    ),
    "SiLU": Operation(
        [
            lambda m, x: F.silu(x),
            lambda m, x: x * torch.sigmoid(x),
            lambda m, x: x / (1 + torch.exp(-x)),
        ],
        [
            lambda m, x: torch.cat([x[..., :4] * x[..., 4:].sigmoid()] * 2, -1),
            lambda m, x: x * torch.sigmoid(1.702 * x),
        ],
    ),
    "sigmoid": Operation(
        [lambda m, x: x.sigmoid(), lambda m, x: 1 / (1 + torch.exp(-x))],
        [lambda m, x: x.tanh()],
    ),
    "hard swish": Operation(
        [
            lambda m, x: F.hardswish(x),
            lambda m, x: x * F.relu6(x + 3) / 6,
            lambda m, x: x * F.hardsigmoid(x),
        ],
        [lambda m, x: F.hardsigmoid(x)],
    ),
    "Mish": Operation(
        [
            lambda m, x: F.mish(x),
            lambda m, x: x * torch.tanh(F.softplus(x)),
            lambda m, x: x * torch.log(1 + torch.exp(x)).tanh(),
        ],
        [lambda m, x: F.softplus(x).tanh()],
    ),
    "ReLU": Operation(
        [lambda m, x: x.relu(), relu_by_comparison, lambda m, x: x * (x > 0)],
        [lambda m, x: x.abs()],
    ),
    "square": Operation(
        [lambda m, x: x.square(), lambda m, x: x * x, lambda m, x: x**2],
        [lambda m, x: x * x.flip(-1), lambda m, x: x.pow(3)],
    ),
    "group norm": Operation([lambda m, x: m.group(x), groups], [lambda m, x: m.norm(x)]),
    "instance norm": Operation(
        [lambda m, x: F.instance_norm(x.mT[..., None])[..., 0].mT, positions],
        [lambda m, x: F.layer_norm(x, (8,))],
    ),
    "rotary positions": Operation(
        [turned, turned_in_halves, turned_as_complex],
        [lambda m, x: x * m.cos, lambda m, x: m.bare(x) * m.cos + rotated(x) * m.sin],
    ),
    "experts": Operation([all_experts, experts_in_a_loop], [lambda m, x: m.experts[0](x)]),
    "attention of itself": Operation(
        [
            itself,
            lambda m, x: F.scaled_dot_product_attention(x[:, None], x[:, None], x[:, None])[:, 0],
        ],
        [lambda m, x: (x @ x.mT).sigmoid() @ x],
    ),
    "division": Operation(
        [
            lambda m, x: x / m.a(x).exp(),
            lambda m, x: x * (1 / m.a(x).exp()),
            lambda m, x: x * m.a(x).exp().reciprocal(),
        ],
        [lambda m, x: x * m.a(x).exp()],
    ),
    "pre-norm block": Operation(
        [
            lambda m, x: x + m.a(m.rms(x)),
            lambda m, x: x + m.a(llama(m, x)),
            lambda m, x: (
                (x * torch.rsqrt((x**2).mean(-1, True) + 1e-6) * m.rms.weight) @ m.a.weight.T
                + m.a.bias
                + x
            ),
        ],
        [lambda m, x: m.a(m.rms(x))],
    ),
    "slices": Operation(
        [
            lambda m, x: torch.cat([F.silu(x[..., :4]), F.gelu(x[..., 4:])], -1),
            lambda m, x: (lambda a, b: torch.cat([a * a.sigmoid(), F.gelu(b)], -1))(
                *x.chunk(2, -1)
            ),
        ],
        [lambda m, x: torch.cat([x[..., 4:] * x[..., :4].sigmoid(), F.gelu(x[..., 4:])], -1)],
    ),
}
