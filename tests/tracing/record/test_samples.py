"""A batch of several samples has the graph of one."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from nar_plugin.tracing import trace

WIDTH, QUERIES = 32, 4


def repeated(q, batch):
    return q.repeat(batch, 1, 1)


def expanded(q, batch):
    return q.expand(batch, -1, -1)


def tiled(q, batch):
    return torch.tile(q, (batch, 1, 1))


def joined(q, batch):
    return torch.cat([q] * batch)


def scaled(q, batch):
    return 0.5 * q.expand(batch, -1, -1) + 1


class Pooling(nn.Module):
    """Learned queries look at a sequence, by torch's layer or by hand."""

    def __init__(self, copy, attention):
        super().__init__()
        self.copy, self.attend = copy, attention
        self.queries = nn.Parameter(torch.randn(1, QUERIES, WIDTH))
        self.layer = nn.MultiheadAttention(WIDTH, 4, batch_first=attention is not by_steps)
        self.keys, self.values = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, x):
        return self.head(self.attend(self, self.copy(self.queries, len(x)), x))


def by_layer(m, q, x):
    return m.layer(q, x, x)[0]


def by_steps(m, q, x):
    q, x = q.transpose(0, 1), x.transpose(0, 1)
    return m.layer(q, x, x, need_weights=False)[0]


def by_hand(m, q, x):
    scores = q @ m.keys(x).transpose(1, 2)
    return scores.softmax(-1) @ m.values(x)


def by_kernel(m, q, x):
    q, k, v = (y.unflatten(-1, (4, -1)).transpose(1, 2) for y in (q, m.keys(x), m.values(x)))
    return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)


def of_batches(model, *shape):
    return {batch: trace(model, torch.randn(batch, *shape)) for batch in (1, 2, 3)}


@pytest.mark.parametrize("attention", [by_layer, by_steps, by_hand, by_kernel])
@pytest.mark.parametrize("copy", [repeated, expanded, tiled, joined, scaled])
def test_learned_queries(copy, attention):
    graphs = of_batches(Pooling(copy, attention), 10, WIDTH)
    assert len({graph.fingerprint for graph in graphs.values()}) == 1
    assert "experts=2" not in str(graphs[2].ops)


class Written(nn.Module):
    def __init__(self, forward):
        super().__init__()
        self.written = forward
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 8)
        self.parts = nn.Parameter(torch.randn(1, 6, 8, 5))
        self.number = nn.Parameter(torch.randn(1))

    def forward(self, x):
        return self.written(self, x)


def starts_at_zero(m, x):
    """As the log-determinant of a flow."""
    return x.new_zeros(len(x)) - m.first(x).sum(1)


def numbered(m, x):
    """As the rows of a batch that is flattened before it is indexed."""
    return m.second(m.first(x).relu() + torch.arange(len(x), device=x.device)[:, None] * 6)


def one_number_for_each(m, x):
    return m.second(m.first(x).relu() * m.number.expand(len(x))[:, None])


@pytest.mark.parametrize("forward", [starts_at_zero, numbered, one_number_for_each])
def test_a_number_for_each_sample_is_a_number(forward):
    graphs = of_batches(Written(forward), 8)
    assert len({graph.fingerprint for graph in graphs.values()}) == 1
    assert not any(op.get("operand") for op in graphs[2].ops)


def matrices(m, x):
    """Six matrices, as capsules have, not six for each sample."""
    return m.parts.repeat(len(x), 1, 1, 1) @ m.second(m.first(x))[:, None, :5, None].expand(
        -1, 6, -1, -1
    )


def test_matrices_of_a_weight():
    graphs = of_batches(Written(matrices), 8)
    assert len({graph.fingerprint for graph in graphs.values()}) == 1
    assert graphs[3].ops[-1].get("experts") == 6


class Modulated(nn.Module):
    """A convolution whose weights each sample scales: Karras et al. 2020, section 2.2."""

    def __init__(self):
        super().__init__()
        self.weight, self.style = nn.Parameter(torch.randn(12, 8, 3, 3)), nn.Linear(4, 8)
        self.start = nn.Parameter(torch.randn(1, 8, 6, 6))

    def forward(self, z):
        weight = self.weight * self.style(z)[:, None, :, None, None]  # (batch, 12, 8, 3, 3)
        x = self.start.repeat(len(z), 1, 1, 1).view(1, -1, 6, 6)
        x = F.conv2d(x, weight.flatten(0, 1), padding=1, groups=len(z))
        return x.view(len(z), 12, 6, 6).relu()


def test_a_modulated_convolution_has_the_groups_of_one_sample():
    graphs = of_batches(Modulated(), 4)
    assert len({graph.fingerprint for graph in graphs.values()}) == 1
    (conv,) = (op for op in graphs[2].ops if op.kind == "conv")
    assert (conv.get("in"), conv.get("out"), conv.get("groups")) == (8, 12, 1)


def test_groups_and_experts_of_a_design_stay():
    """A batch of as many samples as a layer has groups, or a mixture experts."""

    class Grouped(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv1d(8, 8, 3, groups=2)
            self.experts = nn.Parameter(torch.randn(2, 8, 8))

        def forward(self, x):
            x = self.conv(x)  # (batch, 8, positions)
            return torch.einsum("bcn,edc->bedn", x, self.experts).sum(1)

    graphs = of_batches(Grouped(), 8, 10)
    assert len({graph.fingerprint for graph in graphs.values()}) == 1
    assert graphs[2].ops[0].get("groups") == 2


def test_a_list_of_images_is_no_batch_of_channels():
    class Sizes(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.randn(1, 8))
            self.conv = nn.Conv2d(3, 8, 3)

        def forward(self, images):
            x = self.conv(torch.stack(images)).mean((2, 3))
            return x @ self.scale.expand(3, -1).contiguous().t()

    images = [torch.randn(3, 8, 8), torch.randn(3, 8, 8)]
    assert trace(Sizes(), (images,)).ops[-1].get("out") == 3
