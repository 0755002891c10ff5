"""Examples of the rules on what leaves no node, and on kernels that do several things."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations
from tracing.canon.examples.example import Example


class DropPath(nn.Module):
    """Stochastic depth as timm and torchvision have it."""

    def forward(self, x):
        if not self.training:
            return x
        return x * x.new_empty(x.shape[0], 1, 1).bernoulli_(0.5) / 0.5


def assigned(x, places, values):
    x = x.clone()
    x[places] = values
    return x


def plain():
    return {
        "a": nn.Linear(8, 8),
        "b": nn.Linear(8, 8),
        "wide": nn.Linear(8, 16),
        "identity": nn.Identity(),
        "wrapped": nn.Sequential(nn.Sequential(nn.Linear(8, 8))),
        "drop": nn.Dropout(0.5),
        "drops": nn.Sequential(nn.Dropout1d(0.3), nn.AlphaDropout(0.2), nn.FeatureAlphaDropout()),
        "depth": DropPath(),
        "weight": nn.Parameter(torch.ones(8)),
        "number": nn.Parameter(torch.ones(1)),
        "once": nn.Parameter(torch.ones(1, 8, 8)),
        "twice": nn.Parameter(torch.ones(2, 8, 8)),
        "table": nn.Parameter(torch.ones(50, 8)),
        "conv": nn.Conv1d(8, 8, 3, padding=1),
        "valid": nn.Conv1d(8, 8, 3),
        "reflecting": nn.Conv1d(8, 8, 3, padding=1, padding_mode="reflect"),
    }


def normed():
    return {
        "plain": nn.Linear(8, 8),
        "weight": nn.utils.weight_norm(nn.Linear(8, 8)),
        "parametrized": parametrizations.weight_norm(nn.Linear(8, 8)),
        "spectral": parametrizations.spectral_norm(nn.Linear(8, 8)),
        "conv": nn.Conv2d(1, 8, 3, padding=1),
        "norm": nn.LayerNorm(8),
        "scale": nn.Parameter(torch.ones(8)),
    }


def standardised(m, x):
    weight = m.conv.weight
    var, mean = torch.var_mean(weight, dim=(1, 2, 3), keepdim=True)
    return F.conv2d(x[:, None], (weight - mean) / torch.sqrt(var + 1e-5), m.conv.bias, padding=1)


def standardised_by_batch_norm(m, x):  # timm's
    weight = F.batch_norm(m.conv.weight.view(1, 8, -1), None, None, training=True)
    return F.conv2d(x[:, None], weight.view_as(m.conv.weight), m.conv.bias, padding=1)


def dead(m, x):
    m.b(m.a(x)).softmax(-1).sum()
    return m.a(x)


def rows(x):
    return torch.arange(6)[:, None].expand(len(x), 6, 8)


EXAMPLES = {
    "views and copies": Example(
        same=[
            lambda m, x: m.a(x),
            lambda m, x: m.identity(m.wrapped(x)),
            lambda m, x: m.a(x.view(-1, 8)).clone().reshape(1, 6, 8).contiguous(),
            lambda m, x: torch.stack(m.a(x).unbind(1), 1),
            lambda m, x: m.a(x[:, :4].expand(3, 4, 8)).permute(2, 0, 1),
        ],
        different=[lambda m, x: m.a(m.a(x)), lambda m, x: m.a(x) + m.b(x), lambda m, x: m.wide(x)],
        layers=plain,
    ),
    "precision and device": Example(
        same=[
            lambda m, x: m.a(x).softmax(-1),
            lambda m, x: F.softmax(m.a(x), dim=-1, dtype=torch.float32).to(x.dtype),
            lambda m, x: m.a(x).double().softmax(-1).half().to("cpu").type_as(x),
            lambda m, x: torch.fake_quantize_per_tensor_affine(m.a(x), 0.1, 0, 0, 255).softmax(-1),
            lambda m, x: (
                torch.quantize_per_tensor(m.a(x), 1, 0, torch.qint8).dequantize().softmax(-1)
            ),
        ],
        different=[lambda m, x: m.a(x).log_softmax(-1), lambda m, x: m.a(x).sigmoid()],
        layers=plain,
    ),
    "losses": Example(
        same=[
            lambda m, x: m.a(x),
            lambda m, x: F.mse_loss(m.a(x), x),
            lambda m, x: (y := m.a(x), F.smooth_l1_loss(y, x)),
            lambda m, x: F.binary_cross_entropy_with_logits(m.a(x), x),
            lambda m, x: F.huber_loss(m.a(x), x, reduction="none"),
            lambda m, x: F.cross_entropy(m.a(x)[0], x[0, :, 0].long()),
        ],
        different=[
            lambda m, x: F.mse_loss(m.a(x), m.b(x)),
            lambda m, x: F.mse_loss(m.a(x), m.table[:6].expand_as(x), reduction="none"),
            lambda m, x: (y := m.a(x).log_softmax(-1), F.nll_loss(y[0], x[0, :, 0].long())),
            lambda m, x: m.b(m.a(x)),
        ],
        layers=plain,
    ),
    "dropout": Example(
        same=[
            lambda m, x: m.a(x),
            lambda m, x: m.drop(m.a(x)),
            lambda m, x: m.drops(m.a(x)),
            lambda m, x: m.depth(m.a(x)),
            lambda m, x: F.dropout(m.a(x), 0.1, training=m.training),
        ],
        different=[lambda m, x: m.depth(m.a(x)) + x * m.weight],
        layers=plain,
    ),
    "constant padding": Example(
        same=[lambda m, x: m.conv(x.mT), lambda m, x: m.valid(F.pad(x.mT, (1, 1)))],
        different=[lambda m, x: m.reflecting(x.mT)],
        layers=plain,
    ),
    "constants": Example(
        same=[
            lambda m, x: m.a(x) + torch.arange(6.0)[None, :, None],
            lambda m, x: m.a(x) + torch.linspace(0, 1, 6).cos().outer(torch.ones(8)),
        ],
        different=[lambda m, x: m.a(x) + m.weight.sin(), lambda m, x: m.a(x) + m.b(x)],
        layers=plain,
    ),
    "samples of a batch": Example(
        same=[
            lambda m, x: m.a(x) @ m.once,
            lambda m, x: m.a(x) @ m.once.repeat(2, 1, 1),
            lambda m, x: m.a(x) @ m.once[0] + torch.arange(2)[:, None, None],
        ],
        different=[
            lambda m, x: m.a(x) @ m.twice,
            lambda m, x: m.a(x) @ m.once + torch.arange(12).view(2, 6, 1),
        ],
        shape=(2, 6, 8),
        layers=plain,
    ),
    "dead branches": Example(
        same=[dead, lambda m, x: m.a(x)],
        different=[lambda m, x: m.b(m.a(x)).softmax(-1)],
        layers=plain,
    ),
    "numbers": Example(
        same=[
            lambda m, x: m.a(x) + m.b(x),
            lambda m, x: 2 * m.a(x) + (m.b(x) - 1) / 3,
            lambda m, x: torch.add(m.a(x), m.b(x), alpha=0.5),
            lambda m, x: m.a(x) + m.number * m.b(x),
            lambda m, x: -(m.a(x) + m.b(x)),
        ],
        different=[
            lambda m, x: m.a(x) - m.b(x),
            lambda m, x: m.a(x) + m.weight * m.b(x),
            lambda m, x: m.a(x) * m.b(x),
            lambda m, x: m.a(x) + torch.div(m.b(x), 2, rounding_mode="floor"),
        ],
        layers=plain,
    ),
    "masks": Example(
        same=[
            lambda m, x: m.a(x),
            lambda m, x: m.a(x).masked_fill(torch.arange(6)[:, None] > 3, 0.0),
            lambda m, x: torch.where(torch.arange(6)[:, None] > 3, m.a(x), 0.0),
            lambda m, x: m.a(x).nan_to_num(),
            lambda m, x: m.a(x).index_put((torch.tensor([0]), torch.arange(3)), torch.zeros(())),
        ],
        different=[
            lambda m, x: m.a(x).index_put((torch.tensor([0]), torch.arange(6)), m.b(x)[0]),
            lambda m, x: torch.where(torch.arange(6)[:, None] > 3, m.a(x), m.b(x)),
            lambda m, x: torch.maximum(m.a(x), m.b(x)),
        ],
        layers=plain,
    ),
    "masks that come in": Example(
        same=[
            lambda m, x: m.a(x),
            lambda m, x: m.a(x).masked_fill(x == 0, -1e9),
            lambda m, x: torch.where(~(x > 0.5), m.a(x), -1e9),
            lambda m, x: m.a(x).masked_fill(~((x != 0) & (x < 9)), -1e9),
        ],
        different=[
            lambda m, x: m.a(x).masked_fill(m.b(x) == 0, -1e9),
            lambda m, x: torch.where(x > 0, m.a(x), m.b(x)),
        ],
        layers=plain,
    ),
    "scaled inputs": Example(
        same=[
            lambda m, x: m.a(x),
            lambda m, x: m.a((x - torch.arange(8.0)) / torch.arange(1.0, 9.0)),
            lambda m, x: m.a(x * torch.arange(8.0)),
        ],
        different=[
            lambda m, x: m.a(x) * torch.arange(8.0),
            lambda m, x: m.a(x * m.weight),
            lambda m, x: m.a(x.exp()),
        ],
        layers=plain,
    ),
    "division by hand": Example(
        same=[
            lambda m, x: m.a(x) / m.b(x),
            lambda m, x: m.a(x) * (1 / m.b(x)),
            lambda m, x: m.b(x).reciprocal() * m.a(x),
        ],
        different=[
            lambda m, x: 1 / m.a(x),
            lambda m, x: m.a(x) * m.b(x),
            lambda m, x: (y := m.b(x).reciprocal()) * m.a(x) + y,
            lambda m, x: (y := m.b(x).reciprocal())[..., :4] * y[..., 4:],
        ],
        layers=plain,
    ),
    "sum of copies": Example(
        same=[
            lambda m, x: m.a(x),
            lambda m, x: m.a(x).expand(4, 1, 6, 8).sum(0),
            lambda m, x: m.a(x).repeat(4, 1, 1).mean(0),
        ],
        different=[
            lambda m, x: m.a(x).repeat(1, 4, 1).sum(1),
            lambda m, x: torch.stack([m.a(x), m.b(x)]).sum(0),
            lambda m, x: m.b(m.a(x[0]).unsqueeze(1).expand(6, 6, 8).sum(0)),
        ],
        layers=plain,
    ),
    "look-ups in learned tables": Example(
        same=[
            lambda m, x: m.a(x) + m.table[:6],
            lambda m, x: m.a(x) + m.table[torch.arange(6) * 2 % 7],
            lambda m, x: m.a(x) + m.table.index_select(0, torch.arange(6)),
        ],
        different=[lambda m, x: m.a(x)],
        layers=plain,
    ),
    "picked places": Example(
        same=[
            lambda m, x: m.a(x)[:, -1:],
            lambda m, x: m.a(x)[:, [-1]],
            lambda m, x: m.a(x)[:, torch.arange(6) == 5],
            lambda m, x: m.a(x).index_select(1, torch.tensor([5])),
            lambda m, x: m.a(x).gather(1, torch.full((len(x), 1, 8), 5)),
            lambda m, x: torch.take_along_dim(m.a(x), torch.full((len(x), 1, 8), 5), 1),
        ],
        different=[
            lambda m, x: m.a(x).gather(1, m.b(x).argmax(1, keepdim=True)),
            lambda m, x: m.a(x)[torch.arange(len(x)), x[:, :, 0].argmax(1)],
            lambda m, x: m.a(x)[:, torch.where(m.b(x)[0, :, 0] > 0)[0]],
        ],
        layers=plain,
    ),
    "sums by index": Example(
        same=[
            lambda m, x: torch.zeros_like(x).index_add(1, torch.arange(6), m.a(x)),
            lambda m, x: torch.zeros_like(x).scatter_add(1, rows(x), m.a(x)),
            lambda m, x: torch.zeros_like(x).scatter_reduce(1, rows(x), m.a(x), "sum"),
            lambda m, x: torch.zeros_like(x)[0].index_put(
                (torch.arange(6),), m.a(x)[0], accumulate=True
            ),
        ],
        different=[
            lambda m, x: torch.zeros_like(x).scatter_reduce(1, rows(x), m.a(x), "amax"),
            lambda m, x: m.a(x),
        ],
        layers=plain,
    ),
    "assignments": Example(
        same=[
            lambda m, x: m.a(x).masked_fill(m.b(x) > 0, 1.0),
            lambda m, x: m.a(x).index_put((m.b(x) > 0,), torch.ones(())),
            lambda m, x: assigned(m.a(x), m.b(x) > 0, 1.0),
            lambda m, x: assigned(m.a(x), (m.b(x) > 0).byte(), 1.0),
        ],
        different=[
            lambda m, x: m.a(x),
            lambda m, x: assigned(m.a(x), m.b(x) > 0, m.b(x)[0, 0, 0]),
            lambda m, x: m.a(x).index_put((m.b(x) > 0,), torch.ones(()), accumulate=True),
            lambda m, x: assigned(m.a(x), m.b(x)[0, 0].argmax() * torch.zeros(1).long(), 1.0),
        ],
        layers=plain,
    ),
    "parts of one tensor joined": Example(
        same=[
            lambda m, x: m.a(x),
            lambda m, x: torch.cat(m.a(x).chunk(2, -1)[::-1], -1),
            lambda m, x: torch.cat([torch.zeros(1, 0, 8), m.a(x)], 1),
        ],
        different=[lambda m, x: torch.cat([m.a(x), m.b(x)], -1)],
        layers=plain,
    ),
    "arithmetic on weights": Example(
        same=[
            lambda m, x: m.plain(x),
            lambda m, x: m.weight(x),
            lambda m, x: m.parametrized(x),
            lambda m, x: m.spectral(x),
            lambda m, x: F.linear(x, F.normalize(m.plain.weight), m.plain.bias),
        ],
        different=[lambda m, x: m.plain(F.normalize(x, dim=-1)), lambda m, x: m.plain(m.norm(x))],
        layers=normed,
    ),
    "multiply and add": Example(
        same=[
            lambda m, x: x + m.a(x) * m.weight,
            lambda m, x: torch.addcmul(x, m.a(x), m.weight),
            lambda m, x: torch.addcmul(x, m.weight, m.a(x), value=0.5),
        ],
        different=[
            lambda m, x: x + m.a(x),
            lambda m, x: torch.addcdiv(x, m.a(x), m.weight),
            lambda m, x: torch.addcmul(x, m.a(x), m.b(x)),
        ],
        layers=plain,
    ),
    "interpolation of two": Example(
        same=[
            lambda m, x: torch.lerp(m.a(x), m.b(x), m.weight),
            lambda m, x: (y := m.a(x)) + m.weight * (m.b(x) - y),
        ],
        different=[
            lambda m, x: torch.lerp(m.a(x), m.b(x), 0.5),
            lambda m, x: m.a(x) + m.weight * m.b(x),
        ],
        layers=plain,
    ),
    "product added to a value": Example(
        same=[
            lambda m, x: m.b(x)[0] + x[0] @ m.a.weight,
            lambda m, x: torch.addmm(m.b(x)[0], x[0], m.a.weight),
        ],
        different=[lambda m, x: m.a(x)[0], lambda m, x: m.a(m.b(x))[0]],
        layers=plain,
    ),
}

ALSO_SAME = {
    "arithmetic on weights": [standardised, standardised_by_batch_norm],
    "tables for another resolution": [
        lambda m, x: m.a(x) + m.table[:6],
        lambda m, x: m.a(x) + F.interpolate(m.table.T[None], size=6, mode="linear")[0].T,
        lambda m, x: m.a(x) + (m.table.T @ torch.arange(300.0).view(50, 6)).T,
    ],
    "weights of a sum": [
        lambda m, x: m.a(x) + m.b(x),
        lambda m, x: m.weight.softmax(0)[0] * m.a(x) + m.weight.softmax(0)[1] * m.b(x),
        lambda m, x: m.weight.relu()[0] * m.a(x) + m.weight[1].sigmoid() * m.b(x),
    ],
}
