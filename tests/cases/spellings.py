"""Operations, each in several spellings that are one function, and near ones that are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

Written = Callable[[Any, torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Operation:
    """Spellings of one function from (samples, places, width) to the same, and near functions."""

    same: list[Written]
    near: list[Written] = field(default_factory=list)


class Model(nn.Module):
    """A spelling between a linear layer and a head, with the layers that spellings use."""

    def __init__(self, written: Written, width: int) -> None:
        super().__init__()
        self.written, self.width = written, width
        self.before, self.head = nn.Linear(6, width), nn.Linear(width, 3)
        self.a, self.b = nn.Linear(width, width), nn.Linear(width, width)
        self.bare = nn.Linear(width, width, bias=False)
        self.one, self.wide = nn.Linear(width, 1), nn.Linear(width, 2 * width)
        self.norm, self.rms = nn.LayerNorm(width), nn.RMSNorm(width, eps=1e-6)
        self.table = nn.Parameter(torch.randn(9, width))
        self.heads = nn.Parameter(torch.randn(3, 4, width, width // 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.written(self, self.before(x)))


def split(x):
    return x.unflatten(-1, (4, -1)).transpose(1, 2)


def joined(x):
    return x.transpose(1, 2).flatten(2)


def scores(m, x):
    q, k = split(m.a(x)), split(m.b(x))
    return q @ k.mT / q.shape[-1] ** 0.5, split(m.bare(x))


def by_hand(m, x):
    weights, v = scores(m, x)
    return joined(weights.softmax(-1) @ v)


def by_exponentials(m, x):
    weights, v = scores(m, x)
    weights = torch.exp(weights - weights.max(-1, keepdim=True).values)
    return joined(weights / weights.sum(-1, keepdim=True) @ v)


def kernel(m, x, **told):
    return joined(
        F.scaled_dot_product_attention(split(m.a(x)), split(m.b(x)), split(m.bare(x)), **told)
    )


def centred(m, x):
    mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
    return (x - mean) / torch.sqrt(var + m.norm.eps) * m.norm.weight + m.norm.bias


def of_squares(m, x):
    y = x - x.mean(-1, keepdim=True)
    y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + m.norm.eps)
    return y * m.norm.weight + m.norm.bias


def written_into(m, x):
    y = torch.empty(*x.shape[:-1], 2 * m.width, dtype=x.dtype)
    y[..., : m.width], y[..., m.width :] = m.a(x), m.b(x)
    return y @ m.wide.weight


def ids(x):
    return x[..., :8].argmax(-1)


def of_heads(m, x, how):
    if how == "matmul":
        q, k, v = (x[:, None] @ weight for weight in m.heads)
    elif how == "einsum":
        q, k, v = (torch.einsum("btd,hdk->bhtk", x, weight) for weight in m.heads)
    else:
        q, k, v = (split(x @ weight.transpose(0, 1).flatten(1)) for weight in m.heads)
    return joined(F.scaled_dot_product_attention(q, k, v))


def closest(m, x):
    return torch.cdist(x, m.table[None].expand(len(x), -1, -1)).argmin(-1)


def lessened(x):
    return x - x.amax(-1, keepdim=True)


def of_terms(m, x):
    """Squares of the distances to a codebook, as VQ-VAE writes them."""
    squares = x.pow(2).sum(-1, keepdim=True) + m.table.pow(2).sum(1)
    return squares - 2 * x @ m.table.T


def marked(places, x, size=None):
    """One in the place of each, else nothing."""
    nothing = torch.zeros(*places.shape, size or x.shape[-1], dtype=x.dtype)
    return nothing.scatter_(-1, places[..., None], 1.0)


def flat_ids(x):
    return ids(x).flatten()


def bags(x):
    return torch.arange(0, x.shape[0] * x.shape[1], x.shape[1])


def attended(m, x):
    return F.scaled_dot_product_attention(split(m.a(x)), split(m.b(x)), split(m.bare(x)))


OPERATIONS = {
    "linear": Operation(
        [
            lambda m, x: m.a(x),
            lambda m, x: x @ m.a.weight.T + m.a.bias,
            lambda m, x: torch.einsum("btd,ed->bte", x, m.a.weight) + m.a.bias,
            lambda m, x: torch.addmm(m.a.bias, x.flatten(0, 1), m.a.weight.T).view(x.shape),
            lambda m, x: (m.a.weight @ x.mT).mT + m.a.bias,
            lambda m, x: F.conv1d(x.mT, m.a.weight[..., None], m.a.bias).mT,
        ],
        [lambda m, x: m.bare(x), lambda m, x: m.b(m.a(x))],
    ),
    "linear without bias": Operation(
        [
            lambda m, x: m.bare(x),
            lambda m, x: x @ m.bare.weight.T,
            lambda m, x: torch.tensordot(x, m.bare.weight, dims=([2], [1])),
            lambda m, x: F.linear(x, m.bare.weight.clone()),
        ],
        [lambda m, x: m.a(x), lambda m, x: m.bare(x) + x],
    ),
    "one output": Operation(
        [
            lambda m, x: m.one(x).sigmoid() * x,
            lambda m, x: (x @ m.one.weight.T + m.one.bias).sigmoid() * x,
            lambda m, x: torch.sigmoid(F.linear(x, m.one.weight) + m.one.bias) * x,
        ],
        [lambda m, x: F.linear(x, m.one.weight).sigmoid() * x, lambda m, x: m.a(x).sigmoid() * x],
    ),
    "relu": Operation(
        [
            lambda m, x: x.relu(),
            lambda m, x: x.clamp(min=0),
            lambda m, x: torch.maximum(x, torch.zeros(1)),
            lambda m, x: torch.where(x > 0, x, 0.0),
        ],
        [lambda m, x: F.leaky_relu(x, 0.1), lambda m, x: x.clamp(min=0, max=6), lambda m, x: x],
    ),
    "sigmoid": Operation(
        [lambda m, x: x.sigmoid(), lambda m, x: 1 / (1 + torch.exp(-x))],
        [lambda m, x: x.tanh(), lambda m, x: F.hardsigmoid(x)],
    ),
    "silu": Operation(
        [lambda m, x: F.silu(x), lambda m, x: x * x.sigmoid(), lambda m, x: x / (1 + (-x).exp())],
        [lambda m, x: x * m.a(x).sigmoid(), lambda m, x: F.mish(x)],
    ),
    "gelu": Operation(
        [
            lambda m, x: F.gelu(x),
            lambda m, x: 0.5 * x * (1 + torch.erf(x / 2**0.5)),
            lambda m, x: x * (torch.erf(x * 0.5**0.5) + 1) / 2,
        ],
        [lambda m, x: F.gelu(x, approximate="tanh"), lambda m, x: x * torch.sigmoid(1.702 * x)],
    ),
    "tanh gelu": Operation(
        [
            lambda m, x: F.gelu(x, approximate="tanh"),
            lambda m, x: 0.5 * x * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3))),
        ],
        [lambda m, x: x.tanh()],
    ),
    "hard swish": Operation(
        [lambda m, x: F.hardswish(x), lambda m, x: x * F.relu6(x + 3) / 6],
        [lambda m, x: x * F.relu6(x)],
    ),
    "gated linear unit": Operation(
        [
            lambda m, x: F.glu(m.wide(x)),
            lambda m, x: (y := m.wide(x))[..., : m.width] * y[..., m.width :].sigmoid(),
            lambda m, x: (lambda one, two: one * two.sigmoid())(*m.wide(x).chunk(2, -1)),
        ],
        [lambda m, x: (lambda one, two: one * two)(*m.wide(x).chunk(2, -1))],
    ),
    "softmax": Operation(
        [
            lambda m, x: x.softmax(-1),
            lambda m, x: (
                x.exp() / x.exp().sum(-1, keepdim=True)
                if False
                else (y := x.exp()) / y.sum(-1, keepdim=True)
            ),
            lambda m, x: (x - x.logsumexp(-1, keepdim=True)).exp(),
            lambda m, x: (y := (x - x.amax(-1, keepdim=True)).exp()) / y.sum(-1, keepdim=True),
            lambda m, x: x.exp() / x.exp().sum(-1, keepdim=True),
            lambda m, x: x.log_softmax(-1).exp(),
            lambda m, x: lessened(x).exp() / lessened(x).exp().sum(-1, keepdim=True),
        ],
        [
            lambda m, x: x.log_softmax(-1),
            lambda m, x: x.exp(),
            lambda m, x: x.exp() / m.a(x).exp().sum(-1, keepdim=True),
        ],
    ),
    "log-softmax": Operation(
        [
            lambda m, x: F.log_softmax(x, -1),
            lambda m, x: x - x.logsumexp(-1, keepdim=True),
            lambda m, x: torch.distributions.Categorical(logits=x, validate_args=False).logits,
            lambda m, x: x.softmax(-1).log(),
            lambda m, x: x - x.exp().sum(-1, keepdim=True).log(),
            lambda m, x: lessened(x) - lessened(x).exp().sum(-1, keepdim=True).log(),
            lambda m, x: (y := lessened(x)) - y.exp().sum(-1, keepdim=True).log(),
            lambda m, x: (
                x - (x.amax(-1, keepdim=True) + lessened(x).exp().sum(-1, keepdim=True).log())
            ),
        ],
        [
            lambda m, x: x - m.a(x).logsumexp(-1, keepdim=True),
            lambda m, x: x - x.logsumexp(-1, keepdim=True) - x.logsumexp(-1, keepdim=True),
            lambda m, x: x.softmax(-1).log1p(),
        ],
    ),
    "layer norm": Operation(
        [
            lambda m, x: m.norm(x),
            centred,
            of_squares,
            lambda m, x: F.layer_norm(x, (m.width,)) * m.norm.weight + m.norm.bias,
        ],
        [lambda m, x: F.layer_norm(x, (m.width,)), lambda m, x: m.rms(x)],
    ),
    "RMS norm": Operation(
        [
            lambda m, x: m.rms(x),
            lambda m, x: m.rms.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)),
            lambda m, x: x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6) * m.rms.weight,
        ],
        [
            lambda m, x: x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6),
            lambda m, x: m.rms(x) + x,
        ],
    ),
    "length one": Operation(
        [
            lambda m, x: F.normalize(x, dim=-1),
            lambda m, x: x / x.norm(dim=-1, keepdim=True),
            lambda m, x: x * torch.rsqrt(x.square().sum(-1, keepdim=True)),
        ],
        [lambda m, x: x / x.abs().sum(-1, keepdim=True)],
    ),
    "attention": Operation(
        [kernel, by_hand, by_exponentials],
        [
            lambda m, x: kernel(m, x) + x,
            lambda m, x: joined(scores(m, x)[0].sigmoid() @ scores(m, x)[1]),
        ],
    ),
    "matrices of heads": Operation(
        [lambda m, x, how=how: of_heads(m, x, how) for how in ("linear", "einsum", "matmul")],
        [lambda m, x: of_heads(m, x, "linear").relu()],
    ),
    "embedding": Operation(
        [
            lambda m, x: x + m.bare(F.embedding(ids(x), m.table)),
            lambda m, x: x + m.bare(m.table[ids(x)]),
            lambda m, x: x + m.bare(F.one_hot(ids(x), 9).to(x.dtype) @ m.table),
            lambda m, x: x + m.bare((ids(x)[..., None] == torch.arange(9)).to(x.dtype) @ m.table),
            lambda m, x: (
                x + m.bare(torch.einsum("btn,nd->btd", F.one_hot(ids(x), 9).to(x.dtype), m.table))
            ),
        ],
        [
            lambda m, x: x * m.bare(m.table[ids(x)]),
            lambda m, x: x + m.bare((x @ m.table.T).softmax(-1) @ m.table),
            lambda m, x: x + m.bare(ids(x)[..., None].to(x.dtype) * m.table[0]),
        ],
    ),
    "codebook": Operation(
        [
            lambda m, x: F.embedding(closest(m, x), m.table),
            lambda m, x: m.table[closest(m, x)],
            lambda m, x: m.table.index_select(0, closest(m, x).flatten()).view(x.shape),
            lambda m, x: F.one_hot(closest(m, x), 9).to(x.dtype) @ m.table,
            lambda m, x: m.table[of_terms(m, x).argmin(-1)],
            lambda m, x: F.embedding((-of_terms(m, x)).argmax(-1), m.table),
            lambda m, x: F.embedding(of_terms(m, x).min(-1).indices, m.table),
            lambda m, x: m.table[(x[..., None, :] - m.table).square().sum(-1).argmin(-1)],
            lambda m, x: m.table[(x[..., None, :] - m.table).norm(dim=-1).argmin(-1)],
            lambda m, x: marked(of_terms(m, x).argmin(-1), x, 9) @ m.table,
            lambda m, x: x + (m.table[of_terms(m, x).argmin(-1)] - x).detach(),
        ],
        [
            lambda m, x: m.table[closest(m, x)] + x,
            lambda m, x: (
                (-torch.cdist(x, m.table[None].expand(len(x), -1, -1))).softmax(-1) @ m.table
            ),
            lambda m, x: m.table[(x @ m.table.T).argmax(-1)],
            lambda m, x: m.wide.weight[closest(m, x)],
            lambda m, x: m.table[torch.cdist(x, m.table[None].expand(len(x), -1, -1)).argmax(-1)],
        ],
    ),
    "straight through": Operation(
        [
            lambda m, x: x.round(),
            lambda m, x: x + (x.round() - x).detach(),
            lambda m, x: x.round().detach() + x - x.detach(),
            lambda m, x: x - (x - x.round()).detach(),
            lambda m, x: (x.round() - x).detach() + x,
            lambda m, x: x.round() - x.detach() + x,
            lambda m, x: x + torch.sub(x.round(), x).detach(),
        ],
        [
            lambda m, x: x + (m.a(x) - x).round(),
            lambda m, x: x + 0.5 * (x.round() - x).detach(),
            lambda m, x: x + (x.round() - m.a(x)).detach(),
            lambda m, x: x - (x.round() - x),
        ],
    ),
    "maximum of two": Operation(
        [
            lambda m, x: torch.maximum(m.a(x), m.b(x)),
            lambda m, x: torch.stack([m.a(x), m.b(x)]).amax(0),
            lambda m, x: torch.stack([m.a(x), m.b(x)]).max(0).values,
            lambda m, x: torch.where((y := m.a(x)) > (z := m.b(x)), y, z),
            lambda m, x: torch.where((y := m.a(x)) < (z := m.b(x)), z, y),
            lambda m, x: torch.stack([m.a(x), m.b(x)], -1).max(-1).values,
            lambda m, x: torch.cat([m.a(x)[:, None], m.b(x)[:, None]], 1).amax(1),
            lambda m, x: torch.max(m.a(x), m.b(x)),
        ],
        [
            lambda m, x: torch.minimum(m.a(x), m.b(x)),
            lambda m, x: m.a(x) + m.b(x),
            lambda m, x: torch.stack([m.a(x), m.b(x), m.bare(x)]).amax(0),
            lambda m, x: torch.where((y := m.a(x)) > (z := m.b(x)), z, y),
            lambda m, x: torch.where((y := m.a(x)) > 2 * (z := m.b(x)), y, z),
        ],
    ),
    "minimum of two": Operation(
        [
            lambda m, x: torch.minimum(m.a(x), m.b(x)),
            lambda m, x: torch.stack([m.a(x), m.b(x)]).amin(0),
            lambda m, x: torch.stack([m.a(x), m.b(x)], 1).min(1).values,
            lambda m, x: torch.where((y := m.a(x)) <= (z := m.b(x)), y, z),
        ],
        [lambda m, x: torch.stack([m.a(x), m.b(x)]).amax(0)],
    ),
    "maximum of three": Operation(
        [
            lambda m, x: torch.maximum(torch.maximum(m.a(x), m.b(x)), m.bare(x)),
            lambda m, x: torch.maximum(m.a(x), torch.maximum(m.b(x), m.bare(x))),
            lambda m, x: torch.stack([m.a(x), m.b(x), m.bare(x)], 1).amax(1),
        ],
        [
            lambda m, x: torch.minimum(torch.maximum(m.a(x), m.b(x)), m.bare(x)),
            lambda m, x: torch.maximum(m.a(x), m.b(x)),
        ],
    ),
    "hard assignment": Operation(
        [
            lambda m, x: marked(x.argmax(-1), x),
            lambda m, x: (marked(x.argmax(-1), x) - (y := x.softmax(-1))).detach() + y,
            lambda m, x: marked((y := x.softmax(-1)).argmax(-1), x) - y.detach() + y,
        ],
        [lambda m, x: x.softmax(-1), lambda m, x: marked(x.argmax(-1), x) + x.softmax(-1)],
    ),
    "bag of embeddings": Operation(
        [
            lambda m, x: x + m.table[ids(x)].sum(1, keepdim=True),
            lambda m, x: x + F.embedding_bag(ids(x), m.table, mode="sum")[:, None],
            lambda m, x: x + F.embedding(ids(x), m.table).sum(1)[:, None],
        ],
        [
            lambda m, x: x + F.embedding_bag(ids(x), m.table, mode="mean")[:, None],
            lambda m, x: x + F.embedding_bag(ids(x), m.table, mode="max")[:, None],
            lambda m, x: x + F.embedding(ids(x), m.table),
        ],
    ),
    "mean of a bag": Operation(
        [
            lambda m, x: x + m.table[ids(x)].mean(1, keepdim=True),
            lambda m, x: x + F.embedding_bag(ids(x), m.table)[:, None],
            lambda m, x: x + F.embedding_bag(flat_ids(x), m.table, bags(x))[:, None],
        ]
    ),
    "maximum of a bag": Operation(
        [
            lambda m, x: x + m.table[ids(x)].amax(1, keepdim=True),
            lambda m, x: x + F.embedding_bag(ids(x), m.table, mode="max")[:, None],
        ]
    ),
    "log of a sigmoid": Operation(
        [lambda m, x: F.logsigmoid(x), lambda m, x: x.sigmoid().log()],
        [lambda m, x: x.sigmoid(), lambda m, x: F.softplus(x), lambda m, x: x.sigmoid().log1p()],
    ),
    "heads to outputs": Operation(
        [
            lambda m, x: m.bare(joined(attended(m, x))),
            lambda m, x: torch.einsum(
                "bhtk,dhk->btd", attended(m, x), m.bare.weight.view(m.width, 4, -1)
            ),
            lambda m, x: (attended(m, x) @ m.bare.weight.T.reshape(4, -1, m.width)).sum(1),
        ],
        [lambda m, x: joined(attended(m, x))],
    ),
    "sum of two": Operation(
        [
            lambda m, x: m.a(x) + m.b(x),
            lambda m, x: torch.stack([m.a(x), m.b(x)]).sum(0),
            lambda m, x: torch.add(m.b(x), m.a(x)),
            lambda m, x: m.a(x).add_(m.b(x)),
        ],
        [lambda m, x: m.a(x) * m.b(x), lambda m, x: m.a(x) - m.b(x)],
    ),
    "residual": Operation(
        [lambda m, x: x + m.a(x.relu()), lambda m, x: m.a(x.relu()).add(x)],
        [lambda m, x: m.a(x.relu()), lambda m, x: x.relu() + m.a(x.relu())],
    ),
    "joined": Operation(
        [
            lambda m, x: torch.cat([m.a(x), m.b(x)], -1) @ m.wide.weight,
            lambda m, x: torch.stack([m.a(x), m.b(x)], -2).flatten(-2) @ m.wide.weight,
            written_into,
        ],
        [lambda m, x: torch.cat([m.b(x), m.a(x.relu())], -1) @ m.wide.weight],
    ),
    "mean over places": Operation(
        [
            lambda m, x: x - m.a(x.mean(1, keepdim=True)),
            lambda m, x: x - m.a(x.sum(1, keepdim=True) / x.shape[1]),
            lambda m, x: x - m.a(F.adaptive_avg_pool1d(x.mT, 1).mT),
        ],
        [lambda m, x: x - m.a(x.amax(1, keepdim=True))],
    ),
    "square": Operation(
        [lambda m, x: x.square(), lambda m, x: x * x, lambda m, x: x.pow(2), lambda m, x: x**2.0],
        [lambda m, x: x.pow(3), lambda m, x: x * m.a(x), lambda m, x: x.abs()],
    ),
    "division": Operation(
        [
            lambda m, x: m.a(x) / m.b(x),
            lambda m, x: m.a(x) * (1 / m.b(x)),
            lambda m, x: m.a(x) * m.b(x).reciprocal(),
        ],
        [lambda m, x: m.b(x) * m.a(x), lambda m, x: m.a(x) / m.a(x).relu()],
    ),
    "interpolation": Operation(
        [
            lambda m, x: torch.lerp(x, m.a(x), m.b(x)),
            lambda m, x: x + m.b(x) * (m.a(x) - x),
            lambda m, x: torch.addcmul(x, m.b(x), m.a(x) - x),
        ],
        [lambda m, x: x + m.b(x) * m.a(x)],
    ),
    "computed weight": Operation(
        [
            lambda m, x: F.linear(x, m.bare.weight),
            lambda m, x: F.linear(x, torch.linalg.inv(torch.linalg.inv(m.bare.weight))),
            lambda m, x: x @ torch.fft.ifft(torch.fft.fft(m.bare.weight.T)).real,
            lambda m, x: (
                x @ (m.bare.weight.T.cumsum(0).diff(dim=0, prepend=m.bare.weight[:, :1].T * 0))
            ),
        ],
        [lambda m, x: F.linear(x, m.bare.weight).exp()],
    ),
}
