"""Examples of the rules on products, parts of joined values, inputs and times."""

import torch
from torch import nn
from torch.nn import functional as F
from tracing.canon.examples.example import Example


def layers():
    return {
        "a": nn.Linear(8, 8),
        "b": nn.Linear(8, 8),
        "c": nn.Linear(8, 4),
        "wide": nn.Linear(8, 32),
        "one": nn.Linear(8, 1, bias=False),
        "norm": nn.LayerNorm(8),
        "encoder": nn.TransformerEncoderLayer(8, 2, 16, batch_first=True),
        "attention": nn.MultiheadAttention(8, 2, batch_first=True),
        "freqs": nn.Buffer(torch.ones(8)),
        "edges": nn.Buffer(torch.ones(5, 5)),
    }


def pair(m, x):
    return m.a(x.relu()), m.b(x.tanh())


def state(m, x):
    return m.wide(x).unflatten(-1, (8, 4)), m.c(x)


def of_pair(function):
    return lambda m, x: function(*pair(m, x))


def of_state(function):
    return lambda m, x: function(*state(m, x))


def native(m, x):
    its = m.attention
    weights = (its.in_proj_weight, its.in_proj_bias, its.out_proj.weight, its.out_proj.bias)
    return m.a(torch._native_multi_head_attention(x, x, x, 8, 2, *weights, None, False)[0])


def masked_rows(m, x):
    scores = m.a(x)
    masked = (~(~scores.eq(-torch.inf)).any(-1, keepdim=True)).expand_as(scores)
    return torch.where(masked, torch.zeros_like(scores), scores.softmax(-1))


def joined(m, x):
    return torch.cat([m.a(x), m.c(x)], -1)


def of_joined(function):
    return lambda m, x: function(joined(m, x))


def told(function):
    return lambda m, x: m.a(function(m, x[0, :, 0]))


def sines(m, angles):
    return torch.cat([angles.cos()[..., :4], angles.sin()[..., 4:]], -1)


def adjacency(x):
    return x[0, :, :6]


def messages(m, x, source, target):
    y = m.a(x[0])
    return torch.zeros_like(y).index_add(0, target, y[source])


def gated(m, x, source, target):
    y = m.a(x[0])
    return torch.zeros_like(y).index_add(0, target, y[source] * y[source].sigmoid())


def edges(x):
    return x[0, 0].long(), x[0, 1].long()


EXAMPLES = {
    "patterns on inputs": Example(
        same=[
            lambda m, x: m.a(F.layer_norm(x, (8,), m.norm.weight, m.norm.bias)),
            lambda m, x: m.a(
                (x - x.mean(-1, keepdim=True))
                / (x.var(-1, keepdim=True, correction=0) + 1e-5).sqrt()
                * m.norm.weight
                + m.norm.bias
            ),
        ],
        different=[
            lambda m, x: m.a((x - x.mean(-1, keepdim=True)) * m.norm.weight + m.norm.bias),
            lambda m, x: m.a(x * x.mT.sigmoid().mean(-2, keepdim=True).mean(-1, keepdim=True)),
        ],
        layers=layers,
    ),
    "slices of joined values": Example(
        same=[
            lambda m, x: torch.cat([m.a(x).relu(), m.c(x).tanh()], -1),
            of_joined(lambda y: torch.cat([y[..., :8].relu(), y[..., 8:].tanh()], -1)),
            of_joined(
                lambda y: torch.cat([y.mT[:, :8].mT.relu(), y.split([8, 4], -1)[1].tanh()], -1)
            ),
        ],
        different=[
            of_joined(lambda y: torch.cat([y[..., :4].relu(), y[..., 4:].tanh()], -1)),
            of_joined(lambda y: torch.cat([y.relu(), y.tanh()], -1)),
        ],
        layers=layers,
    ),
    "fast paths of torch": Example(
        same=[
            lambda m, x: m.a(m.attention(x, x, x, need_weights=False)[0]),
            native,
        ],
        different=[lambda m, x: m.a(m.encoder(x))],
        layers=layers,
    ),
    "softmax of masked rows": Example(
        same=[lambda m, x: m.a(x).softmax(-1), masked_rows],
        different=[
            lambda m, x: torch.where((m.a(x) == 0).any(-1, keepdim=True), 0.0, m.a(x).softmax(-1))
        ],
        layers=layers,
    ),
    "dot products": Example(
        same=[
            of_pair(lambda a, b: (a * b).sum(-1)),
            of_pair(lambda a, b: (b * a).sum(-1)),
            of_pair(lambda a, b: torch.einsum("btd,btd->bt", a, b)),
            of_pair(torch.linalg.vecdot),
        ],
        different=[
            of_pair(lambda a, b: (a * b).amax(-1)),
            of_pair(lambda a, b: (a - b).sum(-1)),
            of_pair(lambda a, b: a @ b.mT),
        ],
        layers=layers,
    ),
    "multiplied and added up": Example(
        same=[
            of_state(lambda h, c: (h @ c[..., None])[..., 0]),
            of_state(lambda h, c: (h * c[..., None, :]).sum(-1)),
            of_state(lambda h, c: (c[..., None, :] * h).sum(-1)),
            of_state(lambda h, c: torch.einsum("btdn,btn->btd", h, c)),
            of_state(lambda h, c: (c[..., None, :] @ h.mT)[..., 0, :]),
        ],
        different=[
            of_state(lambda h, c: h * c[..., None, :]),
            of_state(lambda h, c: (h * c[..., None, :]).mean(-1)),
            of_state(lambda h, c: (h + c[..., None, :]).sum(-1)),
        ],
        layers=layers,
    ),
    "a row of weights": Example(
        same=[
            lambda m, x: m.one(m.a(x)),
            lambda m, x: (m.a(x) * m.one.weight[0]).sum(-1, keepdim=True),
            lambda m, x: m.a(x) @ m.one.weight[0],
        ],
        different=[
            lambda m, x: (m.a(x) * m.one.weight[0]).sum(1),
            lambda m, x: m.a(x) * m.one.weight[0],
        ],
        layers=layers,
    ),
    "outer products": Example(
        same=[
            of_pair(lambda a, b: a[..., None] * b[..., None, :]),
            of_pair(lambda a, b: a[..., None] @ b[..., None, :]),
            of_pair(lambda a, b: torch.einsum("bti,btj->btij", a, b)),
        ],
        different=[
            of_pair(lambda a, b: a[..., None] + b[..., None, :]),
            of_pair(lambda a, b: a.mT @ b),
        ],
        layers=layers,
    ),
    "sines of a time": Example(
        same=[
            told(lambda m, t: sines(m, t[:, None] * m.freqs)),
            told(lambda m, t: sines(m, t.long()[:, None].float() * m.freqs)),
        ],
        different=[
            told(lambda m, t: m.a(t[:, None] * m.freqs).sin()),
        ],
        layers=layers,
    ),
    "sparse products": Example(
        same=[
            lambda m, x: adjacency(x) @ m.a(x[0]),
            lambda m, x: torch.sparse.mm(adjacency(x), m.a(x[0])),
            lambda m, x: torch.spmm(adjacency(x), m.a(x[0])),
        ],
        different=[
            lambda m, x: m.a(adjacency(x) @ x[0]),
            lambda m, x: m.b(adjacency(x) @ m.a(x[0])),
        ],
        layers=layers,
    ),
    "sums over edges": Example(
        same=[
            lambda m, x: adjacency(x) @ m.a(x[0]),
            lambda m, x: messages(m, x, *edges(x)),
        ],
        different=[
            lambda m, x: m.a(x[0])[edges(x)[0]],
            lambda m, x: gated(m, x, *edges(x)),
        ],
        layers=layers,
    ),
}
