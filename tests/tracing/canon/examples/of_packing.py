"""Examples of the rules on layers that are written as one or as several."""

import torch
from torch import nn
from torch.nn import functional as F
from tracing.canon.examples.example import Example

HEADS, WIDTH = 4, 32


def layers():
    made = {name: nn.Linear(WIDTH, WIDTH) for name in ("q", "k", "v", "o", "other")}
    made |= {f"{name}_few": nn.Linear(WIDTH, WIDTH // 2) for name in ("k", "v")}
    made |= {f"{name}_bare": nn.Linear(WIDTH, WIDTH, bias=False) for name in ("q", "k", "v")}
    made |= {f"norm_{name}": nn.LayerNorm(WIDTH // HEADS) for name in ("q", "k")}
    made |= {"qkv": nn.Linear(WIDTH, 3 * WIDTH), "kv": nn.Linear(WIDTH, 2 * WIDTH)}
    made |= {"kv_bare": nn.Linear(WIDTH, 2 * WIDTH, bias=False)}
    made |= {"qkv_bare": nn.Linear(WIDTH, 3 * WIDTH, bias=False)}
    made |= {f"bias_{name}": nn.Parameter(torch.zeros(WIDTH)) for name in ("q", "v")}
    for name in ("heads_q", "heads_k", "heads_v"):
        made[name] = nn.ModuleList(nn.Linear(WIDTH, WIDTH // HEADS) for _ in range(HEADS))
    made |= {f"{name}_part": nn.Linear(8, WIDTH, bias=False) for name in "qkv"}
    made |= {"grouped": nn.Linear(WIDTH, 2 * WIDTH), "both": nn.Linear(WIDTH, 2 * WIDTH)}
    return made


def split(x):
    return x.unflatten(-1, (-1, WIDTH // HEADS)).transpose(1, 2)


def attend(m, q, k, v):
    y = F.scaled_dot_product_attention(split(q), split(k), split(v), enable_gqa=True)
    return m.o(y.transpose(1, 2).flatten(2))


def three(m, x):
    return attend(m, m.q(x), m.k(x), m.v(x))


def packed(m, x):
    return attend(m, *m.qkv(x).chunk(3, dim=-1))


def two(m, x):
    return attend(m, m.q(x), *m.kv(x).chunk(2, dim=-1))


def shared_key_bias(m, x):
    """As BEiT: a bias of the key would move all scores of a query alike."""
    return attend(m, m.q(x), m.k_bare(x), m.v(x))


def biased_parts(m, x):
    """As DeBERTa: a layer without a bias, and a bias for query and value."""
    q, k, v = m.qkv_bare(x).chunk(3, dim=-1)
    return attend(m, q + m.bias_q, k, v + m.bias_v)


def biased_query(m, x):
    q, k, v = m.qkv_bare(x).chunk(3, dim=-1)
    return attend(m, q + m.bias_q, k, v)


def by_weights(m, x):
    """As nn.MultiheadAttention: one parameter, cut into three."""
    weights, biases = m.qkv.weight.chunk(3), m.qkv.bias.chunk(3)
    return attend(m, *(F.linear(x, w, b) for w, b in zip(weights, biases, strict=True)))


def heads_of(layer):
    """The weight of a layer without a bias, as a matrix for each head."""
    return layer.weight.T.unflatten(1, (HEADS, -1)).transpose(0, 1).contiguous()


def by_matrices(m, x):
    """As Kool's attention model for routing: (heads, in, width) times what is the same for all."""
    q, k, v = (x[:, None] @ heads_of(m.get_submodule(f"{name}_bare")) for name in "qkv")
    return m.o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


def by_own_parts(m, x):
    """Each head has a matrix for its part of the input."""
    x = m.other(x)
    q, k, v = (
        split(x) @ m.get_submodule(f"{name}_part").weight.view(HEADS, 8, 8) for name in "qkv"
    )
    return m.o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


def three_bare(m, x):
    return attend(m, m.q_bare(x), m.k_bare(x), m.v_bare(x))


def cross(m, x):
    y = m.other(x)
    return attend(m, m.q(x), m.k(y), m.v(y))


def cross_packed(m, x):
    return attend(m, m.q(x), *m.kv(m.other(x)).chunk(2, dim=-1))


def sliced(m, x):
    """The query of one row, keys and values of all."""
    return attend(m, m.q(x[:, :1]), m.k(x), m.v(x))


def sliced_packed(m, x):
    return attend(m, m.q(x[:, :1]), *m.kv(x).chunk(2, dim=-1))


def halves(m, x):
    """Layers of different rows."""
    return attend(m, m.q(x[:, :5]), m.k(x[:, 5:]), m.v(x[:, 5:]))


def every_other(m, x):
    """Keys of every other row, values of the first half."""
    return attend(m, m.q(x), m.k(x[:, ::2]), m.v(x[:, :5]))


def value_without_bias(m, x):
    return attend(m, m.q(x), m.k(x), m.v_bare(x))


def both_without_bias(m, x):
    return attend(m, m.q(x), *m.kv_bare(x).chunk(2, dim=-1))


def normed(m, q, k, v):
    y = F.scaled_dot_product_attention(m.norm_q(split(q)), m.norm_k(split(k)), split(v))
    return m.o(y.transpose(1, 2).flatten(2))


def grouped(m, x):
    return attend(m, m.q(x), m.k_few(x), m.v_few(x))


def grouped_packed(m, x):
    return attend(m, *m.grouped(x).split((WIDTH, WIDTH // 2, WIDTH // 2), dim=-1))


def one_by_one(m, x):
    """A list of heads with their own layers, as the paper has them."""
    heads = [
        F.scaled_dot_product_attention(layers[0](x), layers[1](x), layers[2](x))
        for layers in zip(m.heads_q, m.heads_k, m.heads_v, strict=True)
    ]
    return m.o(torch.cat(heads, dim=-1))


def of_two_inputs(m, x):
    heads = [
        F.scaled_dot_product_attention(*(layers[part](y) for part in range(3)))
        for layers, y in zip(
            zip(m.heads_q, m.heads_k, m.heads_v, strict=True),
            (x, x, x, m.other(x)),
            strict=True,
        )
    ]
    return m.o(torch.cat(heads, dim=-1))


def joined_in_time(m, x):
    heads = [
        F.scaled_dot_product_attention(m.heads_q[n](x), m.heads_k[n](x), m.heads_v[n](x))
        for n in range(HEADS)
    ]
    return torch.cat(heads, dim=1)


def gate(m, x):
    return m.o(F.silu(m.q(x)) * m.k(x))


def gate_packed(m, x):
    gate, value = m.both(x).chunk(2, dim=-1)
    return m.o(value * F.silu(gate))


def gate_of_another(m, x):
    return m.o(F.silu(m.q(x)) * m.k(m.other(x)))


def gate_after_a_layer(m, x):
    return m.o(F.silu(m.v(m.q(x))) * m.k(x))


SHAPE = (2, 10, WIDTH)

EXAMPLES = {
    "a matrix for each head": Example(
        same=[three_bare, by_matrices],
        different=[by_own_parts, three],
        shape=(1, 6, WIDTH),
        layers=layers,
    ),
    "biases of query and value": Example(
        same=[packed, biased_parts],
        different=[biased_query, lambda m, x: attend(m, *m.qkv_bare(x).chunk(3, dim=-1))],
        shape=SHAPE,
        layers=layers,
    ),
    "heads one by one": Example(
        same=[packed, one_by_one],
        different=[of_two_inputs, joined_in_time],
        shape=SHAPE,
        layers=layers,
    ),
    "packed projections": Example(
        same=[three, packed, two, shared_key_bias, by_weights],
        different=[grouped, cross, sliced, every_other, value_without_bias, both_without_bias],
        shape=SHAPE,
        layers=layers,
    ),
    "packed gates": Example(
        same=[gate, gate_packed],
        different=[gate_of_another, gate_after_a_layer, lambda m, x: m.o(m.q(x) * m.k(x))],
        shape=SHAPE,
        layers=layers,
    ),
}

ALSO_SAME = {
    "of two inputs": [cross, cross_packed],
    "of slices": [sliced, sliced_packed, halves],
    "of grouped heads": [grouped, grouped_packed],
    "with norms": [
        lambda m, x: normed(m, m.q(x), m.k(x), m.v(x)),
        lambda m, x: normed(m, *m.qkv(x).chunk(3, dim=-1)),
    ],
}
