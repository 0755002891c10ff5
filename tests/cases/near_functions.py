"""Functions that a rule once took for a named one: turned, spread along another axis, shifted."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

Written = Callable[[Any, torch.Tensor], torch.Tensor]


class Square(nn.Module):
    """A spelling on 8 places of 8 features, where an axis can be mistaken for another one."""

    def __init__(self, written: Written) -> None:
        super().__init__()
        self.written = written
        self.a, self.b, self.c, self.d = (nn.Linear(8, 8) for _ in range(4))
        self.wide, self.one, self.router = nn.Linear(8, 16), nn.Linear(8, 1), nn.Linear(8, 4)
        self.experts = nn.ModuleList([nn.Linear(8, 8) for _ in range(4)])
        self.before, self.layer, self.after = nn.Linear(8, 16), nn.Linear(16, 16), nn.Linear(16, 8)
        self.down, self.up = nn.Linear(16, 2, bias=False), nn.Linear(2, 16, bias=False)
        self.scale, self.shift = nn.Parameter(torch.randn(8)), nn.Parameter(torch.randn(8))
        self.table = nn.Parameter(torch.randn(8, 8))
        self.register_buffer("cos", torch.randn(8, 8))
        self.register_buffer("sin", torch.randn(8, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.written(self, x)


def after(function: Callable[[torch.Tensor], torch.Tensor], layer: str = "a") -> Written:
    return lambda m, x: function(getattr(m, layer)(x))


def divided(numerator=lambda e: e, summed=lambda e: e, more=0.0, keepdim=True):
    def forward(x):
        e = x.exp()
        return numerator(e) / (summed(e).sum(-1, keepdim=keepdim) + more)

    return after(forward)


def centred(mean=lambda x: x.mean(-1, keepdim=True), var=None, x=lambda x: x, more=1e-5):
    var = var or (lambda x: x.var(-1, keepdim=True, unbiased=False))
    return after(lambda y: (x(y) - mean(y)) / (var(y) + more).sqrt())


def root(x, keepdim=True, more=1e-6):
    return torch.rsqrt(x.pow(2).mean(-1, keepdim=keepdim) + more)


def attended(m, x, change):
    return m.d(change((m.a(x) @ m.b(x).mT).softmax(-1)) @ m.c(x))


def adapted(change_down=lambda y: y, change_up=lambda y: y):
    def forward(m, x):
        y = m.before(x)
        return m.after((m.layer(y) + change_up(m.up(change_down(m.down(y))))).relu())

    return forward


def mixed(pick):
    def forward(m, x):
        weights = m.router(x).softmax(-1)
        return sum(pick(weights, i) * expert(x) for i, expert in enumerate(m.experts))

    return forward


def marked(x):
    return torch.zeros(1, 8, 8, dtype=x.dtype).scatter_(-1, x.argmax(-1, keepdim=True), 1.0)


def halves(x):
    return torch.cat([-x[..., 4:], x[..., :4]], -1)


def rolled(x):
    return x[:, [1, 2, 3, 4, 5, 6, 7, 0]]


NEAR: dict[str, tuple[Written, list[Written]]] = {
    "silu": (
        after(F.silu),
        [
            after(lambda x: x * x.mT.sigmoid()),
            after(lambda x: x * x.mT.contiguous().sigmoid()),
            after(lambda x: x * rolled(x).sigmoid()),
            after(lambda x: x * halves(x).sigmoid()),
            after(lambda x: x * (1 + x.sigmoid())),
            after(lambda x: (x + 1) / (1 + (-x).exp())),
            after(lambda x: x.mT / (1 + (-x).exp())),
        ],
    ),
    "outer product": (after(F.silu, "one"), [after(lambda x: x * x.mT.sigmoid(), "one")]),
    "gelu": (
        after(F.gelu),
        [
            after(lambda x: x * torch.erf(x / 2**0.5)),
            after(lambda x: x * (1 + torch.erf(x.mT / 2**0.5))),
        ],
    ),
    "tanh gelu": (
        after(lambda x: F.gelu(x, approximate="tanh")),
        [
            after(lambda x: x * torch.tanh(0.8 * (x + 0.044715 * x**3))),
            after(lambda x: x * (1 + torch.tanh(0.8 * (x + 0.044715 * x.mT**3)))),
        ],
    ),
    "mish": (after(F.mish), [after(lambda x: x * F.softplus(x.mT).tanh())]),
    "hardswish": (after(F.hardswish), [after(lambda x: x * F.hardsigmoid(x.mT))]),
    "softplus": (after(F.softplus), [after(lambda x: torch.log1p(-0.01 * x.exp()))]),
    "relu": (
        after(F.relu),
        [
            after(lambda x: x * (x.mT > 0)),
            after(lambda x: x * (x.mT.contiguous() > 0)),
            after(lambda x: x * (rolled(x) > 0)),
            after(lambda x: x * (x[..., :1].clone() > 0)),
            after(lambda x: x * (x - 0.5 > 0)),
            after(lambda x: torch.where(x > 0, x + 1, 0.0)),
            after(lambda x: x.masked_fill(x.mT < 0, 0.0)),
        ],
    ),
    "sigmoid": (
        after(torch.sigmoid),
        [
            after(lambda x: x.exp() / (1 + x.mT.exp())),
            after(lambda x: (lambda e: e / (1 + e.mT))(x.exp())),
            after(lambda x: (lambda e: (e - 1) / (1 + e))(x.exp())),
        ],
    ),
    "square": (after(torch.square), [after(lambda x: x * (1 - x))]),
    "quotient": (
        lambda m, x: m.a(x) / m.b(x),
        [lambda m, x: m.a(x) * (1 / m.b(x) + 1)],
    ),
    "softmax": (
        after(lambda x: x.softmax(-1)),
        [
            divided(keepdim=False),
            divided(lambda e: e.mT),
            divided(summed=lambda e: e.mT),
            divided(lambda e: e.mT.contiguous()),
            divided(more=1.0),
            divided(lambda e: e - 1),
            divided(summed=lambda e: e + 1),
            after(lambda x: (x - x.logsumexp(-1)).exp()),
            after(lambda x: (x - 0.5 * x.logsumexp(-1, keepdim=True)).exp()),
            after(lambda x: (lambda e: e / e.sum(-1, True))((x - x.amax(1, True)).exp())),
            after(lambda x: (lambda e: e / e.sum(-1, True))((x - x.amax(-1)).exp())),
        ],
    ),
    "log-softmax": (
        after(lambda x: x.log_softmax(-1)),
        [
            after(lambda x: x - x.logsumexp(-1)),
            after(lambda x: x.mT - x.logsumexp(-1, keepdim=True)),
            after(lambda x: x - x.mT.exp().sum(-1, keepdim=True).log()),
            after(lambda x: (lambda z: z - z.exp().sum(-1, True).log())(x - x.amax(1, True))),
        ],
    ),
    "layer norm": (
        after(lambda x: F.layer_norm(x, (8,))),
        [
            centred(lambda x: x.mean(-1), lambda x: x.var(-1, unbiased=False)),
            centred(var=lambda x: x.var(-1, unbiased=False)),
            centred(lambda x: x.mT.mean(-1, keepdim=True)),
            centred(x=lambda x: x.mT),
            centred(x=lambda x: x.mT.contiguous()),
            centred(lambda x: 0.5 * x.mean(-1, keepdim=True)),
            centred(lambda x: -x.mean(-1, keepdim=True)),
            centred(more=1.0),
        ],
    ),
    "layer norm with weights": (
        lambda m, x: F.layer_norm(m.a(x), (8,), m.scale, m.shift),
        [
            lambda m, x: F.layer_norm(m.a(x), (8,)) * m.scale[:, None] + m.shift[:, None],
            lambda m, x: F.layer_norm(m.a(x), (8,)) * m.scale + m.shift[:, None],
            lambda m, x: F.layer_norm(m.a(x), (8,)).mT * m.scale + m.shift,
        ],
    ),
    "rms norm": (
        after(lambda x: x * root(x)),
        [
            after(lambda x: x * root(x, keepdim=False)),
            after(lambda x: x.mT * root(x)),
            after(lambda x: x * root(x.mT)),
            after(lambda x: x * root(x, more=1.0)),
            after(lambda x: (x + 1) * root(x)),
        ],
    ),
    "l2 norm": (
        after(lambda x: F.normalize(x, dim=-1)),
        [
            after(lambda x: x / x.norm(dim=-1)),
            after(lambda x: x.mT / x.norm(dim=-1, keepdim=True)),
            after(lambda x: x / (1 + x.norm(dim=-1, keepdim=True))),
        ],
    ),
    "maximum": (
        lambda m, x: torch.maximum(m.a(x), m.b(x)),
        [
            lambda m, x: (lambda a, b: torch.where(a > b.mT, a, b))(m.a(x), m.b(x)),
            lambda m, x: (lambda a, b: torch.where((a > b).mT, a, b))(m.a(x), m.b(x)),
        ],
    ),
    "sum of a stack": (
        lambda m, x: m.a(x)[:, :2] + m.b(x)[:, :2],
        [lambda m, x: torch.stack([m.a(x)[:, :2], m.b(x)[:, :2]], 1).transpose(1, 2).sum(1)],
    ),
    "straight-through": (
        after(torch.tanh),
        [after(lambda x: x + (x.tanh() - x.mT)), after(lambda x: x + (x.tanh() - x).mT)],
    ),
    "rotary": (
        lambda m, x: (lambda y: m.d(y * m.cos + halves(y) * m.sin))(m.a(x)),
        [lambda m, x: (lambda y: m.d(y * m.cos + y * m.sin))(m.a(x))],
    ),
    "attention": (
        lambda m, x: attended(m, x, lambda weights: weights),
        [
            lambda m, x: attended(m, x, lambda weights: 1 - weights),
            lambda m, x: m.d(F.scaled_dot_product_attention(m.a(x), m.a(x), m.c(x))),
        ],
    ),
    "gate": (
        lambda m, x: m.d(m.a(x).sigmoid() * m.b(x)),
        [lambda m, x: m.d(m.a(x).sigmoid() * m.a(x))],
    ),
    "adapter": (
        adapted(),
        [
            adapted(lambda y: y[:, :1]),
            adapted(rolled),
            adapted(lambda y: y + 1),
        ],
    ),
    "experts": (
        mixed(lambda weights, i: weights[..., i : i + 1]),
        [
            mixed(lambda weights, i: weights[..., :1]),
            mixed(lambda weights, i: weights[..., min(i, 2), None]),
        ],
    ),
    "look-up": (
        lambda m, x: marked(m.a(x)) @ m.table,
        [
            lambda m, x: marked(m.a(x)).mT @ m.table,
            lambda m, x: (1 - marked(m.a(x))) @ m.table,
        ],
    ),
}
