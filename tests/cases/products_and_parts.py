"""Parts of joined values, and products by multiplying and adding up, in several spellings."""

import torch
from spellings import Operation
from torch import nn
from torch.nn import functional as F


class Parts(nn.Module):
    """A spelling on (samples, 6 places, 8 features), behind a layer, before a head."""

    def __init__(self, written):
        super().__init__()
        self.written = written
        self.before, self.head = nn.Linear(8, 8), nn.LazyLinear(3)
        self.a, self.b, self.c = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 4)
        self.one, self.wide = nn.Linear(8, 1, bias=False), nn.Linear(8, 16)
        self.conv1, self.conv2 = nn.Conv1d(8, 12, 1), nn.Conv1d(8, 12, 1)
        self.conv1, self.conv2 = nn.Conv1d(8, 12, 3, padding=1), nn.Conv1d(8, 12, 3, padding=1)
        self.last = nn.Conv1d(16, 8, 3, padding=1)

    def forward(self, x):
        return self.head(self.written(self, self.before(x)))


def dual_path(m, x):
    """DPN: residual features and dense ones, joined and taken apart at each block."""
    y, z = m.conv1(x.mT), m.conv2(x.mT).relu()
    joined = torch.cat([y[:, :8], y[:, 8:]], 1)
    first = torch.cat([joined[:, :8] + z[:, :8], torch.cat([joined[:, 8:], z[:, 8:]], 1)], 1)
    return m.last(first)


def dual_path_in_tuples(m, x):
    y, z = m.conv1(x.mT), m.conv2(x.mT).relu()
    return m.last(torch.cat([y[:, :8] + z[:, :8], y[:, 8:], z[:, 8:]], 1))


def ab(m, x):
    return torch.cat([m.a(x), m.c(x)], -1)


PARTS = {
    "first part": Operation(
        [
            lambda m, x: (lambda a, c: torch.cat([a.relu(), c.tanh()], -1))(m.a(x), m.c(x)),
            lambda m, x: (lambda y: torch.cat([y[..., :8].relu(), y[..., 8:].tanh()], -1))(
                ab(m, x)
            ),
            lambda m, x: (lambda a, c: torch.cat([a.relu(), c.tanh()], -1))(
                *ab(m, x).split([8, 4], -1)
            ),
        ],
        [lambda m, x: (lambda y: torch.cat([y[..., :4].relu(), y[..., 4:].tanh()], -1))(ab(m, x))],
    ),
    "chunks": Operation(
        [
            lambda m, x: m.a(x) * m.b(x).sigmoid(),
            lambda m, x: (lambda a, b: a * b.sigmoid())(
                *torch.cat([m.a(x), m.b(x)], -1).chunk(2, -1)
            ),
            lambda m, x: F.glu(torch.cat([m.a(x), m.b(x)], -1)),
        ],
        [lambda m, x: m.b(x) * m.a(x.relu()).sigmoid()],
    ),
    "the last of two": Operation(
        [
            lambda m, x: m.b(x).relu() + x,
            lambda m, x: torch.cat([m.a(x), m.b(x)], -1)[..., 8:].relu() + x,
            lambda m, x: torch.cat([m.a(x), m.b(x)], -1).narrow(-1, 8, 8).relu() + x,
        ],
        [lambda m, x: torch.cat([m.a(x), m.b(x)], -1)[..., 4:12].relu() + x],
    ),
    "a part of a part": Operation(
        [
            lambda m, x: m.a(x)[..., :4].relu(),
            lambda m, x: torch.cat([m.a(x), m.c(x)], -1)[..., :4].relu(),
        ],
        [lambda m, x: torch.cat([m.a(x), m.c(x)], -1)[..., 6:10].relu()],
    ),
    "two of three": Operation(
        [
            lambda m, x: torch.cat([m.a(x), m.b(x)], -1).relu(),
            lambda m, x: torch.cat([m.a(x), m.b(x), m.c(x)], -1)[..., :16].relu(),
        ],
        [lambda m, x: torch.cat([m.a(x), m.b(x), m.c(x)], -1).relu()],
    ),
    "a stack taken apart": Operation(
        [
            lambda m, x: m.a(x).relu() + m.b(x).tanh(),
            lambda m, x: (lambda a, b: a.relu() + b.tanh())(
                *torch.stack([m.a(x), m.b(x)]).unbind(0)
            ),
            lambda m, x: (lambda y: y[0].relu() + y[1].tanh())(torch.stack([m.a(x), m.b(x)])),
            lambda m, x: (lambda y: y[:, :, 0].relu() + y[:, :, 1].tanh())(
                torch.stack([m.a(x), m.b(x)], 2)
            ),
        ],
        [lambda m, x: m.a(x).relu() + m.a(x).tanh() + m.b(x)],
    ),
    "dual path": Operation(
        [dual_path_in_tuples, dual_path], [lambda m, x: m.last(torch.cat([x.mT, x.mT], 1))]
    ),
    "behind a transpose": Operation(
        [
            lambda m, x: m.a(x).mT.relu(),
            lambda m, x: torch.cat([m.a(x), m.c(x)], -1).mT[:, :8].relu(),
            lambda m, x: torch.cat([m.a(x).mT, m.c(x).mT], 1)[:, :8].relu(),
        ],
        [lambda m, x: m.c(x).mT.relu()],
    ),
    "behind a view": Operation(
        [
            lambda m, x: m.a(x).relu(),
            lambda m, x: (
                torch.cat([m.a(x), m.c(x)], -1).view(len(x) * 6, 12)[:, :8].view(x.shape).relu()
            ),
            lambda m, x: (
                torch.cat([m.a(x), m.c(x)], -1).unflatten(1, (2, 3))[..., :8].flatten(1, 2).relu()
            ),
        ],
        [lambda m, x: torch.cat([m.a(x), m.c(x)], -1).relu()],
    ),
    "places": Operation(
        [
            lambda m, x: m.a(x).relu(),
            lambda m, x: torch.cat([x.mean(1, keepdim=True), m.a(x)], 1)[:, 1:].relu(),
        ],
        [lambda m, x: torch.cat([x.mean(1, keepdim=True), m.a(x)], 1)[:, :6].relu()],
    ),
    "a token that is dropped again": Operation(
        [
            lambda m, x: m.b(torch.cat([x[:, :1].tanh(), m.a(x)], 1))[:, 1:],
            lambda m, x: m.b(torch.cat([x[:, :1].tanh(), m.a(x)], 1)).narrow(1, 1, 6),
        ],
        [lambda m, x: m.b(m.a(x))],
    ),
}


def state(m, x):
    return m.wide(x).unflatten(-1, (4, 4)), m.c(x)  # (samples, places, 4, 4), (samples, places, 4)


def both(m, x):
    return m.a(x.relu()), m.b(x.tanh())


PRODUCTS = {
    "read-out of a state": Operation(
        [
            lambda m, x: (lambda h, c: (h @ c[..., None])[..., 0])(*state(m, x)),
            lambda m, x: (lambda h, c: (h * c[..., None, :]).sum(-1))(*state(m, x)),
            lambda m, x: torch.einsum("btdn,btn->btd", *state(m, x)),
            lambda m, x: (lambda h, c: (c[..., None, :] * h).sum(-1))(*state(m, x)),
        ],
        [
            lambda m, x: (lambda h, c: (h * c[..., None, :]).mean(-1))(*state(m, x)),
            lambda m, x: (lambda h, c: (h + c[..., None, :]).sum(-1))(*state(m, x)),
        ],
    ),
    "product of a pair": Operation(
        [
            lambda m, x: (lambda a, b: (a * b).sum(-1, keepdim=True))(*both(m, x)),
            lambda m, x: (lambda a, b: (b * a).sum(-1, keepdim=True))(*both(m, x)),
            lambda m, x: torch.einsum("btd,btd->bt", *both(m, x))[..., None],
            lambda m, x: (lambda a, b: (a[..., None, :] @ b[..., None])[..., 0])(*both(m, x)),
            lambda m, x: torch.linalg.vecdot(*both(m, x))[..., None],
        ],
        [lambda m, x: (lambda a, b: (a - b).sum(-1, keepdim=True))(*both(m, x))],
    ),
    "outer product": Operation(
        [
            lambda m, x: (lambda a, b: a[..., :, None] * b[..., None, :])(*both(m, x)).flatten(-2),
            lambda m, x: torch.einsum("bti,btj->btij", *both(m, x)).flatten(-2),
            lambda m, x: (lambda a, b: a[..., :, None] @ b[..., None, :])(*both(m, x)).flatten(-2),
        ],
        [lambda m, x: (lambda a, b: a[..., :, None] + b[..., None, :])(*both(m, x)).flatten(-2)],
    ),
    "outer product in a batch": Operation(
        [
            lambda m, x: (
                lambda a, b: torch.bmm(a.flatten(0, 1)[:, :, None], b.flatten(0, 1)[:, None])
            )(*both(m, x)).view(*x.shape[:2], -1),
            lambda m, x: torch.einsum("bti,btj->btij", *both(m, x)).flatten(-2),
        ],
        [lambda m, x: (lambda a, b: a.mT @ b)(*both(m, x))],
    ),
    "a row of weights": Operation(
        [
            lambda m, x: m.one(x),
            lambda m, x: (x * m.one.weight[0]).sum(-1, keepdim=True),
            lambda m, x: x @ m.one.weight.T,
            lambda m, x: (x @ m.one.weight[0])[..., None],
        ],
        [
            lambda m, x: x * m.one.weight[0],
            lambda m, x: (x * m.one.weight[0]).mean(-1, keepdim=True),
        ],
    ),
    "scores of pairs": Operation(
        [
            lambda m, x: (lambda a, b: a @ b.mT)(*both(m, x)),
            lambda m, x: (lambda a, b: (a[:, :, None] * b[:, None]).sum(-1))(*both(m, x)),
            lambda m, x: torch.einsum("bid,bjd->bij", *both(m, x)),
        ],
        [lambda m, x: (lambda a, b: (a[:, :, None] - b[:, None]).sum(-1))(*both(m, x))],
    ),
    "weighted pooling": Operation(
        [
            lambda m, x: (lambda w: (w * m.a(x)).sum(1))(m.one(x).softmax(1)),
            lambda m, x: (lambda w: (w.mT @ m.a(x))[:, 0])(m.one(x).softmax(1)),
            lambda m, x: torch.einsum("btn,btd->bd", m.one(x).softmax(1), m.a(x)),
        ],
        [lambda m, x: (lambda w: (w * m.a(x)).amax(1))(m.one(x).softmax(1))],
    ),
    "matrix and vector": Operation(
        [
            lambda m, x: (lambda h, c: torch.bmm(h.flatten(0, 1), c.flatten(0, 1)[..., None]))(
                *state(m, x)
            ).view(len(x), 6, 4),
            lambda m, x: torch.einsum("btdn,btn->btd", *state(m, x)),
            lambda m, x: (lambda h, c: (c[..., None, :] @ h.mT)[..., 0, :])(*state(m, x)),
        ],
        [
            lambda m, x: (
                (lambda h, c: (c[..., None, :] @ h)[..., 0, :])(*state(m, x)) + state(m, x)[1]
            )
        ],
    ),
    "attention by adding up": Operation(
        [
            lambda m, x: (lambda a, b: (a @ b.mT).softmax(-1) @ x)(*both(m, x)),
            lambda m, x: (lambda a, b: ((a[:, :, None] * b[:, None]).sum(-1)).softmax(-1) @ x)(
                *both(m, x)
            ),
        ],
        [
            lambda m, x: (lambda a, b: (a[:, :, None] - b[:, None]).sum(-1).softmax(-1) @ x)(
                *both(m, x)
            )
        ],
    ),
    "square of a length": Operation(
        [
            lambda m, x: (x * x).sum(-1, keepdim=True),
            lambda m, x: x.square().sum(-1, keepdim=True),
            lambda m, x: torch.einsum("btd,btd->bt", x, x)[..., None],
        ],
        [lambda m, x: x.sum(-1, keepdim=True)],
    ),
}
