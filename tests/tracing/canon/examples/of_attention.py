"""Examples of the rules on attention and positions."""

import torch
from torch import nn
from torch.nn import functional as F
from tracing.canon.examples.example import Example

HEADS, WIDTH = 4, 32


def projections():
    layers = {name: nn.Linear(WIDTH, WIDTH) for name in ("q", "k", "v", "o")}
    layers["temperature"] = nn.Parameter(torch.ones(1))
    layers["table"] = nn.Parameter(torch.zeros(HEADS, 10, 10))
    layers["distances"] = nn.Embedding(8, HEADS)
    layers["learned"] = nn.Parameter(torch.zeros(2, HEADS, 1, WIDTH // HEADS))
    layers["few"] = nn.Linear(WIDTH, WIDTH // 2)
    layers["packed"] = nn.Linear(WIDTH, 3 * WIDTH)
    return layers


def summed(weight):
    """Each head's result times its own matrix, all added up."""
    return lambda m, x: (heads_of(m, x) @ weight(m).T.reshape(HEADS, -1, WIDTH)).sum(1)


def heads_of(m, x):
    return F.scaled_dot_product_attention(*(split(layer(x)) for layer in (m.q, m.k, m.v)))


def split(x):
    return x.view(*x.shape[:2], HEADS, -1).transpose(1, 2)


def attend(attention, many=HEADS):
    """Multi-head attention around a function of (B, H, L, D)."""

    def forward(m, x):
        y = attention(m, *(split(layer(x)) for layer in (m.q, m.k, m.v)))
        return m.o(y.transpose(1, 2).flatten(2))

    return forward


def fused(m, q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def causal(m, q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def masked(m, q, k, v):
    mask = torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool).tril()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def eager(m, q, k, v):
    return (q @ k.transpose(-1, -2) / 8**0.5).softmax(-1) @ v


def watched(m, q, k, v):
    """As nn.MultiheadAttention by default: the mean of the weights is offered, and nobody asks."""
    weights = (q @ k.transpose(-1, -2) / 8**0.5).softmax(-1)
    weights.mean(dim=1)
    return weights @ v


def upcast(m, q, k, v):
    scores = torch.matmul(q * 8**-0.5, k.transpose(2, 3))
    mask = torch.full((q.shape[-2],) * 2, float("-inf")).triu(1)
    weights = F.softmax(scores + mask, dim=-1, dtype=torch.float32).to(q.dtype)
    return torch.matmul(F.dropout(weights, 0.1, training=False), v)


def exponentials(m, q, k, v):
    weights = torch.exp(q @ k.transpose(-1, -2) / 8**0.5)
    return weights / weights.sum(-1, keepdim=True) @ v


def stable(m, q, k, v):
    scores = q @ k.transpose(-1, -2)
    weights = torch.exp(scores - scores.max(-1, keepdim=True).values)
    weights = weights * torch.ones(weights.shape[-2:]).tril()
    return (weights / weights.sum(-1, keepdim=True)) @ v


def of_logarithms(m, q, k, v):
    scores = q @ k.transpose(-1, -2)
    return (scores - scores.logsumexp(-1, keepdim=True)).exp() @ v


def exponentials_over_queries(m, q, k, v):
    weights = torch.exp(q @ k.transpose(-1, -2))
    return weights / weights.sum(-2, keepdim=True) @ v


def less_the_mean(m, q, k, v):
    scores = q @ k.transpose(-1, -2)
    weights = torch.exp(scores - scores.mean(-1, keepdim=True))
    return weights / weights.sum(-1, keepdim=True) @ v


def with_another(m, q, k, v):
    """Not all is the softmax's: the sum is used a second time."""
    weights = torch.exp(q @ k.transpose(-1, -2))
    total = weights.sum(-1, keepdim=True)
    return (weights / total) @ v + total


def weights_of_keys(m, q, k, v):
    return (q @ k.mT).softmax(-1).mT @ v


def weights_on_the_right(m, q, k, v):
    return (v.mT @ (q @ k.mT).softmax(-1).mT).mT


def weights_of_keys_on_the_right(m, q, k, v):
    return (v.mT @ (q @ k.mT).softmax(-1)).mT


def einsum(m, q, k, v):
    scores = torch.einsum("bhid,bhjd->bhij", q, k) * 8**-0.5
    return torch.einsum("bhij,bhjd->bhid", scores.softmax(dim=-1), v)


def cached(m, x):
    """A step of decoding: keys and values of the steps before come in."""
    q, k, v = (split(layer(x)) for layer in (m.q, m.k, m.v))
    k, v = (torch.cat([split(x[:, :3]), part], dim=2) for part in (k, v))
    return m.o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


def joined(k_more, v_more):
    def forward(m, x):
        q, k, v = (split(layer(x)) for layer in (m.q, m.k, m.v))
        k, v = torch.cat([k_more(m, x), k], dim=2), torch.cat([v_more(m, x), v], dim=2)
        return m.o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))

    return forward


def folded(m, x):
    """As nn.MultiheadAttention and fairseq do: heads in the batch from the start."""
    b, t, _ = x.shape
    q, k, v = (
        layer(x).view(b, t, HEADS, -1).permute(0, 2, 1, 3).reshape(b * HEADS, t, -1)
        for layer in (m.q, m.k, m.v)
    )
    y = torch.bmm(torch.bmm(q, k.transpose(1, 2)).softmax(-1), v)
    return m.o(y.view(b, HEADS, t, -1).transpose(1, 2).reshape(b, t, -1))


def folded_sideways(m, x):
    """Length first, then batch times heads, without a fourth dimension: torch's own way."""
    b, t, _ = x.shape
    q, k, v = (
        layer(x).transpose(0, 1).reshape(t, b * HEADS, -1).transpose(0, 1)
        for layer in (m.q, m.k, m.v)
    )
    y = torch.baddbmm(torch.zeros(1, t, t), q, k.transpose(1, 2)).softmax(-1) @ v
    return m.o(y.transpose(0, 1).reshape(t, b, -1).transpose(0, 1))


def einsum_heads_last(m, x):
    q, k, v = (layer(x).unflatten(-1, (HEADS, -1)) for layer in (m.q, m.k, m.v))
    weights = torch.einsum("bqhd,bkhd->bhqk", q, k).softmax(-1)
    return m.o(torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2))


def single(m, x):
    return m.o((m.q(x) @ m.k(x).transpose(1, 2)).softmax(-1) @ m.v(x))


def channel_attention(m, q, k, v):
    weights = (q.transpose(-1, -2) @ k / 8**0.5).softmax(-1)
    return (weights @ v.transpose(-1, -2)).transpose(-1, -2)


def over_queries(m, q, k, v):
    return (q @ k.transpose(-1, -2)).softmax(-2) @ v


def biased(m, q, k, v):
    return (q @ k.transpose(-1, -2) + m.table[:, : q.shape[2], : q.shape[2]]).softmax(-1) @ v


def biased_but_for_the_first(m, q, k, v):
    """As MViT: the class token has no place."""
    scores = q @ k.mT
    scores[:, :, 1:, 1:] += m.table[:, : q.shape[2] - 1, : q.shape[2] - 1]
    return scores.softmax(-1) @ v


def biased_columns(m, q, k, v):
    scores = q @ k.mT
    first, others = scores.split((1, q.shape[2] - 1), dim=-1)
    others = others + m.table[:, : q.shape[2], : q.shape[2] - 1]
    return torch.cat([first, others], dim=-1).softmax(-1) @ v


def relative(m):
    """T5's position bias: an embedding of distances, one for each head."""
    distances = (torch.arange(10)[:, None] - torch.arange(10)).clamp(0, 7)
    return m.distances(distances).permute(2, 0, 1)[None]


def twice(bias):
    """Two attentions that share a bias."""

    def forward(m, x):
        shared = bias(m)
        block = attend(lambda m, q, k, v: (q @ k.transpose(-1, -2) + shared).softmax(-1) @ v)
        return block(m, block(m, x))

    return forward


def fused_bias(m, q, k, v):
    bias = m.table[None, :, : q.shape[2], : q.shape[2]]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias)


def linear_attention(m, q, k, v):
    return q.softmax(-1) @ (k.softmax(-2).transpose(-1, -2) @ v)


def decays(length):
    """Of retention: how much of an earlier step is left."""
    ago = torch.arange(length)[:, None] - torch.arange(length)
    return torch.where(ago >= 0, 0.9 ** ago.clamp(min=0), 0.0)


def grouped(repeat):
    def forward(m, x):
        q, k, v = split(m.q(x)), m.few(x), m.few(x)
        k, v = (y.view(*y.shape[:2], HEADS // 2, -1).transpose(1, 2) for y in (k, v))
        return m.o(repeat(q, k, v).transpose(1, 2).flatten(2))

    return forward


def native_groups(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)


def repeated(q, k, v):
    k, v = (y.repeat_interleave(2, dim=1) for y in (k, v))
    return F.scaled_dot_product_attention(q, k, v)


def expanded(q, k, v):
    b, h, t, d = k.shape
    k, v = (y[:, :, None].expand(b, h, 2, t, d).reshape(b, 2 * h, t, d) for y in (k, v))
    return (q @ k.transpose(-1, -2)).softmax(-1) @ v


def angles(length):
    return torch.arange(length)[:, None] * torch.tensor([1.0, 0.1, 0.01, 0.001])


def rotated_halves(m, x):
    q = split(m.q(x))
    table = torch.cat([angles(q.shape[2])] * 2, dim=-1)
    a, b = q.chunk(2, dim=-1)
    return q * table.cos() + torch.cat((-b, a), dim=-1) * table.sin()


def rotated_pairs(m, x):
    q = split(m.q(x))
    cos, sin = angles(q.shape[2]).cos(), angles(q.shape[2]).sin()
    a, b = q[..., ::2], q[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


def rotated_complex(m, x):
    q = split(m.q(x))
    table = torch.polar(torch.ones(q.shape[2], 4), angles(q.shape[2]))
    return torch.view_as_real(torch.view_as_complex(q.unflatten(-1, (-1, 2))) * table).flatten(3)


def turned(q):
    """Rotary positions by halves."""
    table = angles(q.shape[2])[:, : q.shape[-1] // 2].repeat(1, 2)
    a, b = q.chunk(2, dim=-1)
    return q * table.cos() + torch.cat((-b, a), dim=-1) * table.sin()


def partial(m, q, first=True):
    """Half of each head's features are turned, as in GPT-NeoX a quarter."""
    parts = (turned(q[..., :4]), q[..., 4:]) if first else (q[..., :4], turned(q[..., 4:]))
    return torch.cat(parts, dim=-1)


def turned_in_place(m, x):
    q = split(m.q(x)).clone()
    q[..., :4] = turned(q[..., :4])
    return q


def without_class_token(m, x):
    """EVA's: the first token has no place."""
    q = split(m.q(x))
    return torch.cat((q[:, :, :1], turned(q[:, :, 1:])), dim=2)


def decomposed(add):
    """Positions by row and by column, from the query."""

    def scored(m, q, k, v):
        high, wide = (q @ part.mT for part in (m.table[:, :, :8], m.table[:, :, 2:]))
        return (add(q @ k.mT, high, wide)).softmax(-1) @ v

    return attend(scored)


@attend
def decomposed_mask(m, q, k, v):
    high, wide = (q @ part.mT for part in (m.table[:, :, :8], m.table[:, :, 2:]))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=high + wide)


SHAPE = (2, 10, WIDTH)

EXAMPLES = {
    "a matrix for the result of each head": Example(
        same=[
            lambda m, x: F.linear(heads_of(m, x).transpose(1, 2).flatten(2), m.o.weight),
            summed(lambda m: m.o.weight),
            lambda m, x: torch.einsum(
                "bhtk,dhk->btd", heads_of(m, x), m.o.weight.view(WIDTH, HEADS, -1)
            ),
        ],
        different=[
            lambda m, x: (heads_of(m, x) @ m.o.weight.T.reshape(HEADS, -1, WIDTH)).sum(2),
            lambda m, x: (heads_of(m, x) @ m.o.weight.T.reshape(HEADS, -1, WIDTH)).amax(1),
            lambda m, x: (heads_of(m, x) @ m.o.weight.T[: WIDTH // HEADS]).sum(1),
        ],
        shape=(2, 10, WIDTH),
        layers=projections,
    ),
    "softmax by hand": Example(
        same=[attend(way) for way in (fused, exponentials, stable, of_logarithms)],
        different=[attend(way) for way in (exponentials_over_queries, less_the_mean, with_another)],
        shape=(2, 10, WIDTH),
        layers=projections,
    ),
    "keys and values that come in": Example(
        same=[attend(fused), cached],
        different=[
            joined(*[lambda m, x: m.learned] * 2),
            joined(*[lambda m, x: torch.cat([m.learned, split(x[:, :3])], dim=2)] * 2),
            joined(*[lambda m, x: split(m.packed(x)[..., :WIDTH])] * 2),
        ],
        shape=(2, 10, WIDTH),
        layers=projections,
    ),
    "linear attention": Example(
        same=[
            attend(lambda m, q, k, v: q @ (k.mT @ v)),
            attend(lambda m, q, k, v: (q @ k.mT) @ v),
            attend(lambda m, q, k, v: torch.einsum("bhqd,bhde->bhqe", q, k.mT @ v)),
            attend(lambda m, q, k, v: (q @ k.mT * decays(q.shape[-2])) @ v),
            attend(lambda m, q, k, v: ((v.mT @ k) @ q.mT).mT),
            lambda m, x: attend(lambda m, q, k, v: q @ (k.mT @ v))(m, x[:, :7]),
        ],
        different=[
            attend(eager),
            attend(lambda m, q, k, v: (q @ k.mT).relu() @ v),
            attend(lambda m, q, k, v: (q @ k.mT * m.table) @ v),
            attend(lambda m, q, k, v: (scores := q @ k.mT) @ v + scores.mean()),
        ],
        shape=SHAPE,
        layers=projections,
    ),
    "attention by hand": Example(
        same=[
            attend(fused),
            attend(eager),
            attend(watched),
            attend(upcast),
            attend(einsum),
            attend(weights_on_the_right),
            folded,
            folded_sideways,
            einsum_heads_last,
        ],
        different=[
            single,
            attend(biased),
            attend(over_queries),
            attend(linear_attention),
            lambda m, x: m.o(m.v(x)),
        ],
        shape=SHAPE,
        layers=projections,
    ),
    "attention kernels": Example(
        same=[
            attend(fused),
            attend(causal),
            attend(masked),
            attend(lambda m, q, k, v: F.scaled_dot_product_attention(q, k, v, scale=1.0)),
        ],
        different=[attend(fused_bias), grouped(native_groups)],
        shape=SHAPE,
        layers=projections,
    ),
    "heads and direction of attention": Example(
        same=[
            attend(channel_attention),
            lambda m, x: attend(channel_attention)(m, x[:, :7]),
        ],
        different=[
            attend(eager),
            grouped(native_groups),
            attend(weights_of_keys),
            attend(weights_of_keys_on_the_right),
        ],
        shape=SHAPE,
        layers=projections,
    ),
    "mask on a shared bias": Example(
        same=[
            twice(lambda m: relative(m)),
            twice(lambda m: relative(m) + torch.ones(10, 10).tril().log()),
        ],
        different=[twice(lambda m: 0.0), twice(lambda m: relative(m) + m.table)],
        shape=SHAPE,
        layers=projections,
    ),
    "sums of biases": Example(
        same=[
            decomposed(lambda q_k, high, wide: q_k + high + wide),
            decomposed(lambda q_k, high, wide: q_k + (high + wide)),
            decomposed(lambda q_k, high, wide: q_k + (wide + high)),
            decomposed_mask,
        ],
        different=[
            decomposed(lambda q_k, high, wide: q_k + high),
            decomposed(lambda q_k, high, wide: q_k),
            decomposed(lambda q_k, high, wide: q_k + high * wide),
        ],
        shape=SHAPE,
        layers=projections,
    ),
    "partial rotary positions": Example(
        same=[
            lambda m, x: partial(m, split(m.q(x))),
            lambda m, x: partial(m, split(m.q(x)), first=False),
            turned_in_place,
        ],
        different=[
            rotated_halves,
            lambda m, x: split(m.q(x)),
            lambda m, x: torch.cat((turned(split(m.q(x))[..., :4]), split(m.k(x))[..., 4:]), -1),
        ],
        shape=SHAPE,
        layers=projections,
    ),
    "rotary positions": Example(
        same=[rotated_halves, rotated_pairs, rotated_complex],
        different=[
            lambda m, x: split(m.q(x)),
            lambda m, x: split(m.q(x)) * angles(10).repeat(1, 2).cos(),
        ],
        shape=SHAPE,
        layers=projections,
    ),
}

ALSO_SAME = {
    "biases of some scores": [
        attend(way) for way in (biased, biased_but_for_the_first, biased_columns)
    ],
    "tokens without a place": [rotated_halves, without_class_token],
    "attention kernels": [grouped(native_groups), grouped(repeated), grouped(expanded)],
}
