"""Examples of the rules on codebooks, bags of embeddings and straight-through estimators."""

import torch
from torch import nn
from torch.nn import functional as F
from tracing.canon.examples.example import Example

ROWS = 9


def codebook():
    return {
        "fc": nn.Linear(8, 8),
        "table": nn.Parameter(torch.zeros(ROWS, 8)),
        "other": nn.Parameter(torch.zeros(ROWS, 8)),
        "large": nn.Parameter(torch.zeros(40, 8)),
        "bias": nn.Parameter(torch.zeros(ROWS)),
    }


def behind(*functions):
    """Each function of the model and a linear layer's result."""
    return [lambda m, x, f=f: f(m, m.fc(x)) for f in functions]


def ids(x):
    return x.argmax(-1)


def marked(places):
    nothing = torch.zeros(*places.shape, ROWS)
    return nothing.scatter_(-1, places[..., None], 1.0)


def squared(m, x, of=None):
    squares = x.pow(2).sum(-1, keepdim=True) + (m.table if of is None else of).pow(2).sum(1)
    return squares - 2 * x @ m.table.T


def kernel(x, table):
    return torch.cdist(x, table[None])


EXAMPLES = {
    "distances": Example(
        same=behind(
            lambda m, x: kernel(x, m.large).softmax(-1),
            lambda m, x: torch.cdist(
                x, m.large[None], compute_mode="donot_use_mm_for_euclid_dist"
            ).softmax(-1),
        ),
        different=behind(
            lambda m, x: torch.cdist(x, m.large[None], p=1.0).softmax(-1),
            lambda m, x: (x @ m.large.T).softmax(-1),
        ),
        layers=codebook,
    ),
    "nearest of a codebook": Example(
        same=behind(
            lambda m, x: F.embedding(kernel(x, m.table).argmin(-1), m.table),
            lambda m, x: m.table[squared(m, x).argmin(-1)],
            lambda m, x: m.table[squared(m, x).clamp(min=0).sqrt().argmin(-1)],
            lambda m, x: m.table[(x[..., None, :] - m.table).pow(2).sum(-1).argmin(-1)],
            lambda m, x: m.table[(x[..., None, :] - m.table).norm(dim=-1).min(-1).indices],
            lambda m, x: m.table[(-squared(m, x)).max(-1)[1]],
        ),
        different=behind(
            lambda m, x: m.table[squared(m, x).argmax(-1)],
            lambda m, x: m.table[squared(m, x, of=m.other).argmin(-1)],
            lambda m, x: m.table[(x @ m.table.T + m.bias).argmin(-1)],
            lambda m, x: m.table[(x[..., None, :] - m.table).abs().sum(-1).argmin(-1)],
            lambda m, x: (-squared(m, x)).softmax(-1) @ m.table,
            lambda m, x: squared(m, x).min(-1).values,
            lambda m, x: m.large[kernel(x, m.large).argmin(-1)],
        ),
        layers=codebook,
    ),
    "look-ups by products": Example(
        same=behind(
            lambda m, x: F.embedding(ids(x), m.table),
            lambda m, x: F.one_hot(ids(x), ROWS).float() @ m.table,
            lambda m, x: marked(ids(x)) @ m.table,
            lambda m, x: (ids(x)[..., None] == torch.arange(ROWS)).float() @ m.table,
        ),
        different=behind(
            lambda m, x: (ids(x)[..., None] == torch.arange(ROWS) * 2).float() @ m.table,
            lambda m, x: (x @ m.table.T).softmax(-1) @ m.table,
            lambda m, x: marked(ids(x)),
        ),
        layers=codebook,
    ),
    "bags of embeddings": Example(
        same=behind(
            lambda m, x: m.table[ids(x)].sum(1),
            lambda m, x: F.embedding_bag(ids(x), m.table, mode="sum"),
            lambda m, x: F.embedding_bag(ids(x).flatten(), m.table, torch.tensor([0]), mode="sum"),
            lambda m, x: torch._embedding_bag_forward_only(
                m.table, ids(x).flatten(), torch.zeros(1, dtype=torch.long)
            )[0],
        ),
        different=behind(
            lambda m, x: F.embedding_bag(ids(x), m.table, mode="mean"),
            lambda m, x: F.embedding_bag(ids(x), m.table, mode="max"),
            lambda m, x: F.embedding_bag(
                ids(x), m.table, mode="sum", per_sample_weights=x.amax(-1)
            ),
            lambda m, x: F.embedding(ids(x), m.table),
        ),
        layers=codebook,
    ),
    "straight-through estimator": Example(
        same=behind(
            lambda m, x: x.round(),
            lambda m, x: x + (x.round() - x).detach(),
            lambda m, x: (x.round() - x).detach() + x,
            lambda m, x: x - (x - x.round()).detach(),
            lambda m, x: x.round() - x.detach() + x,
        ),
        different=behind(
            lambda m, x: x - (x.round() - x),
            lambda m, x: x + 0.5 * (x.round() - x),
            lambda m, x: torch.lerp(x, x.round(), 0.5) * x,
            lambda m, x: x + (x.round() - m.fc(x)),
            lambda m, x: 2 * x + (x.round() - x).relu(),
        ),
        layers=codebook,
    ),
}

ALSO_SAME = {
    "straight-through estimator": behind(
        lambda m, x: x[..., :4] + (x[..., :4].round() - x[..., 4:]),
        lambda m, x: x[..., :4] + 0.5 * (x[..., :4].round() - x[..., :4]),
    ),
    "bags of embeddings": behind(
        lambda m, x: m.table[ids(x)].mean(1), lambda m, x: F.embedding_bag(ids(x), m.table)
    ),
    "look-ups by products": behind(
        lambda m, x: m.table[ids(x)] * x.amax(1, keepdim=True),
        lambda m, x: marked(ids(x)) @ m.table * x.amax(1, keepdim=True),
    ),
}
