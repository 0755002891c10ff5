"""Examples of the rules on mixtures of experts."""

import torch
from torch import nn
from torch.nn import functional as F
from tracing.canon.examples.example import Example

EXPERTS, CHOICES, WIDTH, INNER = 4, 2, 8, 12


def parameter(*shape):
    return nn.Parameter(torch.zeros(shape))


def layers():
    def perceptron(inner):
        return nn.Sequential(nn.Linear(WIDTH, inner), nn.GELU(), nn.Linear(inner, WIDTH))

    made = {"norm": nn.LayerNorm(WIDTH), "gate": nn.Linear(WIDTH, EXPERTS)}
    made["of_given"] = nn.Linear(EXPERTS * WIDTH, EXPERTS)
    made["wider"] = nn.Linear(WIDTH, EXPERTS * WIDTH)
    made["experts"] = nn.ModuleList(perceptron(INNER) for _ in range(EXPERTS))
    made["narrow"] = nn.ModuleList(nn.Linear(INNER // EXPERTS, 2) for _ in range(EXPERTS))
    made["uneven"] = nn.ModuleList(perceptron(INNER + (n == 0)) for n in range(EXPERTS))
    made |= {"up": parameter(EXPERTS, WIDTH, INNER), "down": parameter(EXPERTS, INNER, WIDTH)}
    made |= {"up_bias": parameter(EXPERTS, INNER), "down_bias": parameter(EXPERTS, WIDTH)}
    return made


def mixture(experts, routed=None):
    """A forward that routes tokens, and lets a function apply the experts to them."""

    def forward(m, x):
        tokens = m.norm(x).flatten(0, 1)
        weights, chosen = (routed or normalised)(m.gate(tokens))
        return x + experts(m, tokens, weights, chosen).view_as(x)

    return forward


def normalised(scores):
    weights, chosen = scores.softmax(-1).topk(CHOICES, dim=-1)
    return weights / weights.sum(-1, keepdim=True), chosen


def softmax_of_some(scores):
    """As Mixtral's paper."""
    weights, chosen = scores.topk(CHOICES, dim=-1)
    return weights.softmax(-1), chosen


def as_they_are(scores):
    return scores.softmax(-1).topk(CHOICES, dim=-1)


def sigmoid(scores):
    return scores.sigmoid().topk(CHOICES, dim=-1)


def dense(weights, chosen):
    return torch.zeros(len(weights), EXPERTS).scatter(1, chosen, weights)


def added(m, tokens, weights, chosen):
    """As transformers' Mixtral was: by one-hot vectors, with index_add."""
    out = torch.zeros_like(tokens)
    mask = F.one_hot(chosen, EXPERTS).permute(2, 1, 0)
    for number, expert in enumerate(m.experts):
        place, token = torch.where(mask[number])
        out.index_add_(0, token, expert(tokens[token]) * weights[token, place, None])
    return out


def put(m, tokens, weights, chosen):
    """As litgpt."""
    out = torch.zeros_like(tokens)
    for number, expert in enumerate(m.experts):
        token, place = torch.where(chosen == number)
        out[token] += weights[token, place, None] * expert(tokens[token])
    return out


def masked(m, tokens, weights, chosen):
    out = torch.zeros_like(tokens)
    for number, expert in enumerate(m.experts):
        mine = chosen == number
        mask = mine.any(-1)
        if mask.any():
            out[mask] += expert(tokens[mask]) * (weights * mine).sum(-1)[mask][:, None]
    return out


def all_tokens(m, tokens, weights, chosen):
    gates, out = dense(weights, chosen), 0
    for number, expert in enumerate(m.experts):
        out = out + gates[:, number : number + 1] * expert(tokens)
    return out


def stacked(m, tokens, weights, chosen):
    given = torch.stack([expert(tokens) for expert in m.experts], dim=1)
    return (given * dense(weights, chosen)[..., None]).sum(1)


def chosen_of_stacked(m, tokens, weights, chosen):
    given = torch.stack([expert(tokens) for expert in m.experts], dim=1)
    given = given.gather(1, chosen[..., None].expand(-1, -1, WIDTH))
    return torch.einsum("tk,tkd->td", weights, given)


def in_order(m, tokens, weights, chosen):
    """As DeepSeek: tokens in the order of experts."""
    order = chosen.flatten().argsort()
    some = tokens[order // CHOICES].chunk(EXPERTS)
    given = torch.cat([expert(part) for expert, part in zip(m.experts, some, strict=True)])
    return brought_back(given, order, weights)


def loop_by_loop(m, tokens, weights, chosen):
    """As JetMoE: one loop for the first layers of all experts, and one for the second."""
    order = chosen.flatten().argsort()
    inner = each_its_part([up for up, _, _ in m.experts], tokens[order // CHOICES])
    given = each_its_part([down for _, _, down in m.experts], F.gelu(inner))
    return brought_back(given, order, weights)


def of_channels(m, tokens, weights, chosen):
    """The second layers have their own channels of all tokens."""
    order = chosen.flatten().argsort()
    inner = each_its_part([up for up, _, _ in m.experts], tokens[order // CHOICES])
    return brought_back(each_its_part(m.narrow, F.gelu(inner), dim=-1), order, weights)


def each_its_part(experts, x, dim=0):
    parts = zip(experts, x.chunk(EXPERTS, dim), strict=True)
    return torch.cat([expert(part) for expert, part in parts], dim)


def brought_back(given, order, weights):
    back = torch.empty_like(given)
    back[order] = given
    return (back.view(*weights.shape, -1) * weights[..., None]).sum(1)


def for_training(m, tokens, weights, chosen):
    """As DeepSeek trains: each token as often as it chooses."""
    often = tokens.repeat_interleave(CHOICES, dim=0)
    given = torch.empty_like(often)
    for number, expert in enumerate(m.experts):
        given[chosen.flatten() == number] = expert(often[chosen.flatten() == number])
    return (given.view(*chosen.shape, -1) * weights[..., None]).sum(1)


def batched(m, tokens, weights, chosen):
    inner = F.gelu(torch.einsum("td,edh->teh", tokens, m.up) + m.up_bias)
    given = torch.einsum("teh,ehd->ted", inner, m.down) + m.down_bias
    return torch.einsum("te,ted->td", dense(weights, chosen), given)


def with_capacity(m, tokens, weights, chosen):
    """As GShard: one-hot tensors bring tokens to places in a buffer of each expert, and back."""
    size = 2 * len(tokens) // EXPERTS
    mask = F.one_hot(chosen, EXPERTS).float()
    places = F.one_hot(((mask.cumsum(0) - 1) * mask).long().clamp(0, size - 1), size)
    brought = (mask[..., None] * places).sum(1)
    back = (weights[..., None, None] * mask[..., None] * places).sum(1)
    inner = torch.einsum("tec,td->ecd", brought, tokens)
    inner = F.gelu(torch.baddbmm(m.up_bias[:, None], inner, m.up))
    return torch.einsum("tec,ecd->td", back, torch.baddbmm(m.down_bias[:, None], inner, m.down))


def averaged(m, tokens, weights, chosen):
    """No router weights them."""
    return torch.stack([expert(tokens) for expert in m.experts]).mean(0)


def of_other_sizes(m, tokens, weights, chosen):
    given = torch.stack([expert(tokens) for expert in m.uneven], dim=1)
    return (given * dense(weights, chosen)[..., None]).sum(1)


def one(m, tokens, weights, chosen):
    return m.experts[0](tokens)


def of_parts(m, tokens, weights, chosen):
    """Each has its own part of a token, as in a network that selects variables."""
    parts = m.wider(tokens).chunk(EXPERTS, dim=-1)
    given = [expert(part) for expert, part in zip(m.experts, parts, strict=True)]
    return (torch.stack(given, dim=1) * dense(weights, chosen)[..., None]).sum(1)


def of_streams(m, tokens, weights, chosen):
    """As MotionBERT: what the streams say decides how they are weighted."""
    given = torch.stack([expert(tokens) for expert in m.experts], dim=1)
    return (given * m.of_given(given.flatten(1)).softmax(-1)[..., None]).sum(1)


def weighted_before(m, tokens, weights, chosen):
    """As Llama 4: the weights are multiplied with the tokens."""
    gates = dense(weights, chosen)
    return sum(expert(tokens * gates[:, n : n + 1]) for n, expert in enumerate(m.experts))


EXAMPLES = {
    "experts one by one": Example(
        same=[
            *map(mixture, (added, put, masked, all_tokens, stacked, chosen_of_stacked, batched)),
            *map(mixture, (in_order, loop_by_loop, for_training)),
        ],
        different=[
            *map(mixture, (averaged, of_other_sizes, one, weighted_before)),
            *map(mixture, (of_parts, of_channels, of_streams)),
        ],
        layers=layers,
    ),
    "tokens to experts and back": Example(
        same=[
            *map(mixture, (batched, with_capacity, added)),
            mixture(batched, softmax_of_some),
            mixture(put, softmax_of_some),
        ],
        different=[
            mixture(batched, as_they_are),
            mixture(batched, sigmoid),
            mixture(one),
        ],
        layers=layers,
    ),
}
