"""Embeddings of a time that is a whole number or not."""

import math

import torch
from torch import nn


class Timed(nn.Module):
    """A network that is told a time by a written function, as diffusion models are."""

    def __init__(self, written):
        super().__init__()
        self.written = written
        self.mlp = nn.Sequential(nn.Linear(16, 8), nn.SiLU(), nn.Linear(8, 8))
        self.body, self.one = nn.Linear(8, 8), nn.Linear(1, 16)
        self.register_buffer("freqs", torch.exp(-math.log(10000) * torch.arange(8) / 8))
        self.learned = nn.Parameter(torch.randn(8))

    def forward(self, x, t):
        return self.body(x) + self.mlp(self.written(self, t))[:, None]


def sines(angles):
    return torch.cat([angles.cos(), angles.sin()], -1)


TIMES = {
    "DiT": lambda m, t: sines(t[:, None].float() * m.freqs[None]),
    "ADM": lambda m, t: sines(t[:, None].to(torch.float32) * m.freqs),
    "DDPM": lambda m, t: sines(t.float()[:, None] * m.freqs[None, :]),
    "promoted": lambda m, t: sines(t[:, None] * m.freqs[None]),
    "outer": lambda m, t: sines(torch.outer(t.float(), m.freqs)),
    "einsum": lambda m, t: sines(torch.einsum("i,j->ij", t.float(), m.freqs)),
    "scaled": lambda m, t: sines((t.float() / 1000)[:, None] * m.freqs[None]),
    "made on the way": lambda m, t: sines(
        t[:, None].float()
        * torch.exp(-math.log(10000) * torch.arange(8, dtype=torch.float32) / 8)[None]
    ),
    "typed as the weights": lambda m, t: sines(t[:, None].to(m.freqs.dtype) * m.freqs).to(
        m.body.weight.dtype
    ),
    "type_as": lambda m, t: sines(t.type_as(m.freqs)[:, None] * m.freqs),
    "learned frequencies": lambda m, t: sines(t[:, None].float() * m.learned * 2 * math.pi),
    "a layer": lambda m, t: m.one(t[:, None].float()),
}
