"""Mixtures of experts as people write them: a loop that asks which tokens go to an expert."""

import numpy as np
import pytest
import torch
from torch import nn

from nar_plugin.tracing import trace

EXPERTS, TOKENS, EACH, WIDTH = 3, 5, 2, 8


class Mixture(nn.Module):
    """A router and its experts.

    Args:
        visit: Adds up what the experts say, from these, the tokens, the choices and weights.
        experts: How many.
    """

    def __init__(self, visit, experts=EXPERTS):
        super().__init__()
        self.gate = nn.Linear(WIDTH, experts)
        self.experts = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(experts))
        self.visit = visit

    def forward(self, x):
        weights, chosen = self.gate(x).topk(EACH, -1)
        return self.visit(self.experts, x, chosen, weights)


def asking(is_asked):
    """Each expert in turn, if a mask (tokens, choices) says that it has tokens."""

    def visit(experts, x, chosen, weights):
        out = torch.zeros_like(x)
        for number, expert in enumerate(experts):
            sent = chosen == number
            if is_asked(sent):
                token, place = sent.nonzero(as_tuple=True)
                out[token] += expert(x[token]) * weights[token, place, None]
        return out

    return visit


def scattered(experts, x, chosen, weights):
    """Weights of all experts, zero where a token does not go."""
    gates = torch.zeros(TOKENS, len(experts)).scatter(1, chosen, weights)
    out = torch.zeros_like(x)
    for number, expert in enumerate(experts):
        if (gates[:, number] > 0).any():
            out = out + expert(x) * gates[:, number, None]
    return out


def sorted_by_expert(experts, x, chosen, weights):
    """As DeepSeek-V3 was released: tokens in the order of their experts, counts by scatter."""
    counts = chosen.new_zeros((TOKENS, len(experts))).scatter_(1, chosen, 1).sum(dim=0)
    order = chosen.view(-1).argsort()
    rows = x[order // EACH]
    parts, start = [], 0
    for number, count in enumerate(counts.cpu().numpy()):
        if count:
            parts.append(experts[number](rows[start : start + count]))
        start += count
    together = torch.cat(parts)
    out = torch.empty_like(together)
    out[order] = together
    return (out.view(TOKENS, EACH, WIDTH) * weights[..., None]).sum(1)


def ends_by_bincount(experts, x, chosen, weights):
    """As DeepSeek-V2 was released: where each expert's tokens end."""
    order = chosen.view(-1).argsort()
    ends = chosen.view(-1).bincount().cpu().numpy().cumsum(0)
    out = torch.zeros_like(x)
    for number, (start, stop) in enumerate(zip(np.r_[0, ends[:-1]], ends, strict=True)):
        if start != stop:
            rows = (order // EACH)[start:stop]
            part = experts[number](x[rows]) * weights.view(-1, 1)[order[start:stop]]
            out.index_add_(0, rows, part)
    return out


@pytest.mark.parametrize(
    "visit",
    [
        asking(lambda sent: sent.any()),
        asking(torch.any),
        asking(lambda sent: sent.any(dim=-1).any()),
        asking(lambda sent: sent.max()),
        asking(lambda sent: sent.sum() > 0),
        asking(lambda sent: sent.t().int().sum() != 0),
        asking(lambda sent: sent.sum().item() > 0),
        asking(lambda sent: not sent.sum() == 0),
        scattered,
        sorted_by_expert,
        ends_by_bincount,
    ],
)
def test_each_expert_gets_a_token(visit):
    graph = trace(Mixture(visit), torch.ones(TOKENS, WIDTH))
    assert graph.method == "meta", graph.reason
    matrices = [op.get("experts", 1) for op in graph.ops if op.kind == "linear"]
    assert sum(matrices) == 1 + EXPERTS


def test_more_experts_than_choices():
    """Ten choices are made, so the rest of the experts computes nothing."""
    graph = trace(Mixture(sorted_by_expert, 40), torch.ones(TOKENS, WIDTH))
    assert graph.method == "meta", graph.reason
    assert [op.kind for op in graph.ops].count("linear") == 1 + TOKENS * EACH
