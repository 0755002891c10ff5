"""Examples of the rule on low-rank adapters."""

import torch
from torch import nn
from torch.nn import functional as F
from tracing.canon.examples.example import Example

WIDTH, RANK = 32, 4


def layers():
    made = {name: nn.Linear(WIDTH, WIDTH) for name in ("layer", "other", "last")}
    made |= {f"down_{name}": nn.Linear(WIDTH, RANK, bias=False) for name in ("a", "b")}
    made |= {f"up_{name}": nn.Linear(RANK, WIDTH, bias=False) for name in ("a", "b")}
    made |= {"wide_down": nn.Linear(WIDTH, WIDTH // 2, bias=False)}
    made |= {"wide_up": nn.Linear(WIDTH // 2, WIDTH, bias=False)}
    made |= {"biased": nn.Linear(WIDTH, RANK), "drop": nn.Dropout(0.1)}
    made |= {
        "a": nn.Parameter(torch.randn(RANK, WIDTH)),
        "b": nn.Parameter(torch.zeros(WIDTH, RANK)),
    }
    return made


def in_place(m, x):
    """As loralib."""
    result = m.layer(x)
    result += (m.drop(x) @ m.a.t() @ m.b.t()) * 2.0
    return m.last(result.relu())


def as_a_weight(m, x):
    """As minLoRA, a parametrization."""
    weight = m.layer.weight + torch.matmul(m.b, m.drop(m.a)).view(WIDTH, WIDTH) * 0.5
    return m.last(F.linear(x, weight, m.layer.bias).relu())


def before_attention(m, x):
    """Queries, keys and values in one layer, two of the three adapted."""
    q, k, v = m.layer(x) + 2 * m.up_a(m.down_a(x)), m.other(x), m.last(x) + m.up_b(m.down_b(x))
    return attended(q, k, v)


def attended(q, k, v):
    heads = (y.unflatten(-1, (4, -1)).transpose(1, 2) for y in (q, k, v))
    return F.scaled_dot_product_attention(*heads)


def shared(m, x, *, of_each):
    """One layer at two depths; with an adapter of each, as in Zamba2, or with one."""
    x = (m.layer(x) + m.up_a(m.down_a(x))).relu()
    more = m.up_b(m.down_b(x)) if of_each else m.up_a(m.down_a(x))
    return m.last((m.layer(x) + more).relu())


EXAMPLES = {
    "low-rank adapters": Example(
        same=[
            lambda m, x: m.last(m.layer(x).relu()),
            lambda m, x: m.last((m.layer(x) + 2 * m.up_a(m.down_a(m.drop(x)))).relu()),
            lambda m, x: m.last((m.up_a(m.down_a(x)) + m.layer(x) + m.up_b(m.down_b(x))).relu()),
            lambda m, x: m.last((m.layer(x) + F.linear(F.linear(x, m.a), m.b)).relu()),
            in_place,
            as_a_weight,
        ],
        different=[
            lambda m, x: m.last((m.layer(x) + m.up_a(m.down_a(x).relu())).relu()),
            lambda m, x: m.last((m.layer(x) + m.up_a(m.biased(x))).relu()),
            lambda m, x: m.last((m.layer(x) + m.wide_up(m.wide_down(x))).relu()),
            lambda m, x: m.last((m.layer(x) + m.up_a(m.down_a(x.flip(1)))).relu()),
            lambda m, x: m.last((m.layer(x) * m.up_a(m.down_a(x))).relu()),
            lambda m, x: shared(m, x, of_each=True),
        ],
        shape=(1, 10, WIDTH),
        layers=layers,
    )
}

ALSO_SAME = {
    "before one attention": [
        before_attention,
        lambda m, x: attended(m.layer(x), m.other(x), m.last(x)),
    ],
    "of a layer at two depths": [
        lambda m, x: shared(m, x, of_each=False),
        lambda m, x: m.last(m.layer(m.layer(x).relu()).relu()),
    ],
}
