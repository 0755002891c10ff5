"""Designs typed in as lessons and papers' code have them find what they are."""

import torch
from expected import EXPECTED
from torch import nn
from torch.nn import functional as F

import nar_plugin


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class SelectiveScan(nn.Module):
    """Gu & Dao 2023, arXiv 2312.00752, Algorithm 2, with a loop over the sequence."""

    def __init__(self, width=768, states=16, rank=48):
        super().__init__()
        self.inner, self.states, self.rank = 2 * width, states, rank
        self.into = nn.Linear(width, 2 * self.inner, bias=False)
        self.conv = nn.Conv1d(self.inner, self.inner, 4, groups=self.inner, padding=3)
        self.chosen = nn.Linear(self.inner, rank + 2 * states, bias=False)
        self.steps = nn.Linear(rank, self.inner)
        self.rates = nn.Parameter(torch.zeros(self.inner, states))
        self.skip = nn.Parameter(torch.ones(self.inner))
        self.out = nn.Linear(self.inner, width, bias=False)

    def forward(self, x):
        length = x.shape[1]
        u, gate = self.into(x).chunk(2, -1)
        u = F.silu(self.conv(u.mT)[..., :length].mT)
        step, write, read = self.chosen(u).split([self.rank, self.states, self.states], -1)
        step = F.softplus(self.steps(step))
        decay = torch.exp(torch.einsum("bld,dn->bldn", step, -self.rates.exp()))
        update = torch.einsum("bld,bln,bld->bldn", step, write, u)
        state, found = torch.zeros(len(x), self.inner, self.states), []
        for t in range(length):
            state = decay[:, t] * state + update[:, t]
            found.append(torch.einsum("bdn,bn->bd", state, read[:, t]))
        return self.out((torch.stack(found, 1) + u * self.skip) * F.silu(gate))


class Retention(nn.Module):
    """Sun et al. 2023, arXiv 2307.08621, Eq. 5, and a gated group norm (Eq. 8)."""

    def __init__(self, width=2048, heads=8):
        super().__init__()
        self.heads, self.key = heads, width // heads
        self.q, self.k = (nn.Linear(width, width, bias=False) for _ in range(2))
        self.v, self.gate = (nn.Linear(width, 2 * width, bias=False) for _ in range(2))
        self.norm = RMSNorm(2 * self.key)
        self.out = nn.Linear(2 * width, width, bias=False)

    def forward(self, x):
        places = torch.arange(x.shape[1])
        q, k, v = (
            layer(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for layer in (self.q, self.k, self.v)
        )
        rates = 1e4 ** (-torch.arange(0, self.key, 2) / self.key)
        angles = torch.outer(places.float(), rates)
        ago = (places[:, None] - places).float()
        kept = (1 - 2.0 ** (-5 - torch.arange(self.heads)))[:, None, None] ** ago.clamp(min=0)
        decay = torch.where(ago >= 0, kept, 0.0)
        y = (turned(q, angles) @ turned(k, angles).mT * decay) @ v
        y = self.norm(y.transpose(1, 2)).flatten(2)
        return self.out(F.silu(self.gate(x)) * y)


def turned(x, angles):
    one, other = x.chunk(2, -1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([one * cos - other * sin, other * cos + one * sin], -1)


class GatedLinear(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.gate, self.up = (nn.Linear(width, inner, bias=False) for _ in range(2))
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Layers(nn.Module):
    """Words, pre-normed residual layers and a last norm."""

    def __init__(self, words, width, layers):
        super().__init__()
        self.words, self.last = nn.Embedding(words, width), RMSNorm(width)
        self.layers = nn.ModuleList(layers)
        self.norms = nn.ModuleList(RMSNorm(width) for _ in self.layers)

    def forward(self, ids):
        x = self.words(ids)
        for norm, layer in zip(self.norms, self.layers, strict=True):
            x = x + layer(norm(x))
        return self.last(x)


def first(model):
    return nar_plugin.find_similar(model, k=1)[0]


def test_mamba_with_a_scan_in_a_loop():
    with torch.device("meta"):
        model = Layers(50280, 768, [SelectiveScan() for _ in range(24)])
    hit = first(model)
    wanted = EXPECTED["mamba_in_a_loop"]
    assert hit.family in wanted["first"]
    assert hit.score > wanted["score"]


def test_retnet_as_a_masked_product():
    with torch.device("meta"):
        halves = [part for _ in range(24) for part in (Retention(), GatedLinear(2048, 2816))]
        model = Layers(32000, 2048, halves)
    hit = first(model)
    wanted = EXPECTED["retnet_as_a_masked_product"]
    assert hit.name in wanted["first"]
    assert hit.score > wanted["score"]


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        half = [nn.ReflectionPad2d(1), nn.Conv2d(width, width, 3), nn.InstanceNorm2d(width)]
        again = [nn.ReflectionPad2d(1), nn.Conv2d(width, width, 3), nn.InstanceNorm2d(width)]
        self.block = nn.Sequential(*half, nn.ReLU(), *again)

    def forward(self, x):
        return x + self.block(x)


def test_cyclegans_generator():
    """Zhu et al. 2017, arXiv 1703.10593, appendix 7.2, for images of 256."""
    layers = [nn.ReflectionPad2d(3), nn.Conv2d(3, 64, 7), nn.InstanceNorm2d(64), nn.ReLU()]
    for width in (64, 128):
        layers += [nn.Conv2d(width, 2 * width, 3, 2, 1), nn.InstanceNorm2d(2 * width), nn.ReLU()]
    layers += [Residual(256) for _ in range(9)]
    for width in (256, 128):
        layers += [nn.ConvTranspose2d(width, width // 2, 3, 2, 1, 1)]
        layers += [nn.InstanceNorm2d(width // 2), nn.ReLU()]
    layers += [nn.ReflectionPad2d(3), nn.Conv2d(64, 3, 7), nn.Tanh()]
    hit = first(nn.Sequential(*layers))
    assert hit.exact
    assert hit.family == "cyclegan"
