"""Modules with loops whose rounds are no design, and with values that no meta tensor has."""

import math

import torch
from torch import nn


class Spike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return (x > 0).float()

    @staticmethod
    def backward(ctx, slope):
        return slope


class SpikingNet(nn.Module):
    """Sees one image for some steps, as in the first lesson of snntorch."""

    def __init__(self, steps):
        super().__init__()
        self.one, self.two, self.steps = nn.Linear(784, 100), nn.Linear(100, 10), steps

    def forward(self, x):
        one, two, out = torch.zeros(len(x), 100), torch.zeros(len(x), 10), []
        for _ in range(self.steps):
            one = 0.9 * one + self.one(x) - Spike.apply(one - 1)
            two = 0.9 * two + self.two(Spike.apply(one - 1)) - Spike.apply(two - 1)
            out.append(Spike.apply(two - 1))
        return torch.stack(out)


class Doubling(nn.Module):
    """A linear recurrence by Hillis and Steele's scan (1986)."""

    def __init__(self):
        super().__init__()
        self.input, self.gate, self.out = nn.Linear(4, 16), nn.Linear(4, 16), nn.Linear(16, 2)

    def forward(self, x):
        h, a, step = self.input(x), torch.sigmoid(self.gate(x)), 1
        while step < x.shape[1]:
            h = torch.cat([h[:, :step], h[:, step:] + a[:, step:] * h[:, :-step]], 1)
            a = torch.cat([a[:, :step], a[:, step:] * a[:, :-step]], 1)
            step *= 2
        return self.out(h)


class AdaptiveSolver(nn.Module):
    """A neural differential equation whose steps an estimate of the error decides."""

    def __init__(self):
        super().__init__()
        self.slope = nn.Sequential(nn.Linear(2, 50), nn.Tanh(), nn.Linear(50, 2))
        self.out = nn.Linear(2, 1)

    def forward(self, y):
        time, step = 0.0, 0.25
        while time < 1:
            step = min(step, 1 - time)
            one = self.slope(y**3)
            two = self.slope((y + step * one) ** 3)
            error = (step * (two - one) / 2).abs().max().item()
            if error < 1e-3:
                time, y = time + step, y + step * (one + two) / 2
            step *= min(4.0, max(0.2, 0.9 * math.sqrt(1e-3 / (error + 1e-9))))
        return self.out(y)


class FarthestPoints(nn.Module):
    """Farthest point sampling as in PointNet++ (Qi et al. 2017), then a layer on the points."""

    def __init__(self, points):
        super().__init__()
        self.points, self.layer = points, nn.Linear(3, 8)

    def forward(self, x):
        samples, count, _ = x.shape
        chosen = torch.zeros(samples, self.points, dtype=torch.long)
        distance = torch.ones(samples, count) * 1e10
        farthest = torch.zeros(samples, dtype=torch.long)
        rows = torch.arange(samples)
        for place in range(self.points):
            chosen[:, place] = farthest
            centre = x[rows, farthest].view(samples, 1, 3)
            near = ((x - centre) ** 2).sum(-1)
            closer = near < distance
            distance[closer] = near[closer]
            farthest = distance.max(-1)[1]
        return self.layer(x[rows[:, None], chosen])


class Albert(nn.Module):
    """Layers that share their weights are a design: as many as there are."""

    def __init__(self, depth):
        super().__init__()
        self.words, self.depth = nn.Embedding(50, 16), depth
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)

    def forward(self, ids):
        x = self.words(ids)
        for _ in range(self.depth):
            x = self.layer(x)
        return x


class Perceiver(nn.Module):
    """Latents that are learned read the same input in layers that share their weights."""

    def __init__(self, depth):
        super().__init__()
        self.latents, self.depth = nn.Parameter(torch.zeros(1, 4, 8)), depth
        self.read = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x):
        latents = self.latents
        for _ in range(self.depth):
            latents = latents + self.read(latents, x, x)[0]
        return latents
