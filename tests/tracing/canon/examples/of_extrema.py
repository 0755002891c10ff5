"""Examples of the rules on maxima, on where they are, and on logarithms of softmax."""

import torch
from torch import nn
from torch.nn import functional as F
from tracing.canon.examples.example import Example


def layers():
    return {name: nn.Linear(8, 8) for name in ("a", "b")} | {"c": nn.Linear(8, 8, bias=False)}


def of_two(function):
    return lambda m, x: function(m.a(x), m.b(x))


def of_three(function):
    return lambda m, x: function(m.a(x), m.b(x), m.c(x))


def after(*functions):
    return [lambda m, x, f=f: f(m.a(x)) for f in functions]


def lessened(x):
    return x - x.amax(-1, keepdim=True)


def total(x):
    return x.exp().sum(-1, keepdim=True).log()


EXAMPLES = {
    "maximum of several": Example(
        same=[
            of_two(torch.maximum),
            of_two(lambda a, b: torch.stack([a, b]).amax(0)),
            of_two(lambda a, b: torch.stack([a, b], -1).max(-1).values),
            of_two(lambda a, b: torch.cat([a[None], b[None]]).max(0)[0]),
            of_two(lambda a, b: torch.where(a > b, a, b)),
            of_two(lambda a, b: torch.where(a < b, b, a)),
        ],
        different=[
            of_two(torch.minimum),
            of_two(lambda a, b: torch.cat([a, b], 1).amax(1)),
            of_two(lambda a, b: torch.where(a > 2 * b, a, b)),
            of_two(lambda a, b: torch.stack([a, b]).max(0).indices.float()),
            of_three(lambda a, b, c: torch.stack([a, b, c]).amax(0)),
            of_three(lambda a, b, c: torch.maximum(torch.minimum(a, b), c)),
            of_three(lambda a, b, c: torch.where(a > c, a, b)),
        ],
        layers=layers,
    ),
    "place of the largest": Example(
        same=after(
            lambda x: x.argmax(-1),
            lambda x: (-x).argmin(-1),
            lambda x: x.softmax(-1).argmax(-1),
            lambda x: x.log_softmax(-1).argmax(-1),
        ),
        different=after(
            lambda x: x.argmin(-1),
            lambda x: (-x).argmax(-1) * x.argmax(-1),
            lambda x: x.softmax(1).argmax(-1),
            lambda x: x.amax(-1),
        ),
        layers=layers,
    ),
    "log-softmax by hand": Example(
        same=after(
            lambda x: F.log_softmax(x, -1),
            lambda x: x - x.logsumexp(-1, keepdim=True),
            lambda x: x.softmax(-1).log(),
            lambda x: x - total(x),
            lambda x: lessened(x) - total(lessened(x)),
            lambda x: x - (x.amax(-1, keepdim=True) + total(lessened(x))),
        ),
        different=after(
            lambda x: x.softmax(-1),
            lambda x: x - total(lessened(x)),
            lambda x: x - 2 * total(x),
            lambda x: x.softmax(-1).log1p(),
            lambda x: (x.exp() / x.exp().sum(-1, keepdim=True)).relu(),
        ),
        layers=layers,
    ),
}

ALSO_SAME = {
    "maximum of several": [
        of_three(lambda a, b, c: torch.stack([a, b, c]).amax(0)),
        of_three(lambda a, b, c: torch.maximum(a, torch.maximum(c, b))),
    ],
    "log-softmax by hand": after(
        lambda x: x.softmax(-1),
        lambda x: x.exp() / x.exp().sum(-1, keepdim=True),
        lambda x: x.log_softmax(-1).exp(),
        lambda x: lessened(x).exp() / lessened(x).exp().sum(-1, keepdim=True),
    ),
    "place of the largest": after(
        lambda x: x.argmax(-1)[..., None] * x, lambda x: x.max(-1).indices[..., None] * x
    ),
}
