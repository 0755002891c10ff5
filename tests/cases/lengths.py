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


# -- further cases, written after the repair ------------------------------------------------


class RateCoded(nn.Module):
    """Spikes are counted and not kept."""

    def __init__(self, steps):
        super().__init__()
        self.layer, self.out, self.steps = nn.Conv2d(1, 4, 3), nn.Linear(4, 10), steps

    def forward(self, x):
        voltage, count = 0, 0
        for _ in range(self.steps):
            voltage = 0.8 * voltage + self.layer(x)
            spikes = Spike.apply(voltage - 1)
            voltage = voltage * (1 - spikes)
            count = count + self.out(spikes.mean((2, 3)))
        return count / self.steps


class FarthestByMinimum(nn.Module):
    """The same sampling with a list of places and `torch.minimum`, on learned features."""

    def __init__(self, points):
        super().__init__()
        self.points, self.embed, self.layer = points, nn.Linear(3, 8), nn.Linear(8, 8)

    def forward(self, x):
        x = self.embed(x)
        distance = torch.full(x.shape[:2], 1e10)
        last = torch.zeros(len(x), 1, dtype=torch.long)
        chosen = [last]
        for _ in range(self.points - 1):
            centre = x.gather(1, last[..., None].expand(-1, -1, x.shape[-1]))
            distance = torch.minimum(distance, (x - centre).square().sum(-1))
            last = distance.argmax(-1, keepdim=True)
            chosen.append(last)
        places = torch.cat(chosen, 1)[..., None].expand(-1, -1, x.shape[-1])
        return self.layer(x.gather(1, places))


class DoublingByPadding(nn.Module):
    def __init__(self):
        super().__init__()
        self.input, self.gate, self.out = nn.Linear(4, 8), nn.Linear(4, 8), nn.Linear(8, 2)

    def forward(self, x):
        h, a, step = self.input(x), self.gate(x).sigmoid(), 1
        while step < x.shape[1]:
            shifted = nn.functional.pad(h, (0, 0, step, 0))[:, :-step]
            before = nn.functional.pad(a, (0, 0, step, 0), value=1.0)[:, :-step]
            h, a, step = h + a * shifted, a * before, 2 * step
        return self.out(h)


class RunningMaximum(nn.Module):
    """A cumulative maximum in rounds."""

    def __init__(self):
        super().__init__()
        self.input, self.out = nn.Conv1d(3, 8, 1), nn.Conv1d(8, 2, 1)

    def forward(self, x):
        h, step = self.input(x), 1
        while step < x.shape[-1]:
            h = torch.cat([h[..., :step], torch.maximum(h[..., step:], h[..., :-step])], -1)
            step = step + step
        return self.out(h)


class Settling(nn.Module):
    """A network of Hopfield's kind comes to rest; only where it ends counts."""

    def __init__(self, rounds):
        super().__init__()
        self.input, self.state, self.rounds = nn.Linear(6, 8), nn.Linear(8, 8), rounds

    def forward(self, x):
        state = torch.zeros(len(x), 8)
        for _ in range(self.rounds):
            state = state + 0.1 * (torch.tanh(self.state(state) + self.input(x)) - state)
        return state


class Midpoint(nn.Module):
    """Another solver with steps of its own: a relative error, a root, a limit of rounds."""

    def __init__(self):
        super().__init__()
        self.slope = nn.Sequential(nn.Linear(3, 16), nn.Softplus(), nn.Linear(16, 3))

    def forward(self, y):
        time, step = 0.0, 0.1
        for _ in range(200):
            if time >= 1:
                break
            step = min(step, 1 - time)
            full = y + step * self.slope(y)
            half = y + step * self.slope(y + step / 2 * self.slope(y))
            ratio = float(((full - half) / (1e-3 + 1e-3 * half.abs())).pow(2).mean().sqrt())
            if ratio <= 1:
                time, y = time + step, half
            step = step * min(5.0, max(0.2, 0.9 * ratio**-0.5))
        return y


class FixedPoint(nn.Module):
    """An implicit layer: rounds until nothing moves (Bai et al. 2019)."""

    def __init__(self):
        super().__init__()
        self.input, self.state = nn.Linear(6, 8), nn.Linear(8, 8)

    def forward(self, x):
        state, moved = torch.zeros(len(x), 8), 1.0
        while moved > 1e-4:
            new = torch.tanh(self.state(state) + self.input(x))
            moved, state = (new - state).norm().item(), new
        return state


class LiquidCell(nn.Module):
    """Steps of a solver inside the steps of a sequence (Hasani et al. 2021)."""

    def __init__(self):
        super().__init__()
        self.input, self.state, self.out = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 1)

    def forward(self, x):
        state, found = torch.zeros(len(x), 8), []
        for now in x.unbind(1):
            for _ in range(6):
                slope = torch.tanh(self.input(now) + self.state(state))
                state = state + 0.1 * (slope - state)
            found.append(self.out(state))
        return torch.stack(found, 1)


class Decoder(nn.Module):
    """Feeds what it says back to itself, from a state that an encoder made."""

    def __init__(self, steps):
        super().__init__()
        self.encoder, self.cell = nn.Linear(12, 16), nn.GRUCell(3, 16)
        self.out, self.steps = nn.Linear(16, 3), steps

    def forward(self, x):
        state, said, found = self.encoder(x).tanh(), torch.zeros(len(x), 3), []
        for _ in range(self.steps):
            state = self.cell(said, state)
            said = self.out(state)
            found.append(said)
        return torch.stack(found, 1)


class Greedy(nn.Module):
    """Picks the likeliest word and looks it up."""

    def __init__(self, steps):
        super().__init__()
        self.words, self.cell = nn.Embedding(30, 8), nn.LSTMCell(8, 8)
        self.out, self.steps = nn.Linear(8, 30), steps

    def forward(self, x):
        hidden, cell = x, torch.zeros_like(x)
        word, found = torch.zeros(len(x), dtype=torch.long), []
        for _ in range(self.steps):
            hidden, cell = self.cell(self.words(word), (hidden, cell))
            scores = self.out(hidden)
            word = scores.argmax(-1)
            found.append(scores)
        return torch.stack(found, 1)


class ReadAndWrite(nn.Module):
    """Rows of a memory are written one by one, each by what the one before says."""

    def __init__(self, rows):
        super().__init__()
        self.cell, self.rows = nn.GRUCell(5, 6), rows

    def forward(self, x):
        memory, state = torch.zeros(len(x), self.rows, 6), torch.zeros(len(x), 6)
        for row in range(self.rows):
            state = self.cell(x, state)
            memory[:, row] = state
        return memory


# -- a second set, written after the first set's three failures were mended -------------------


class SpikingTwice(nn.Module):
    """Two layers with refractory traces; the mean of the voltages is read out."""

    def __init__(self, steps):
        super().__init__()
        self.one, self.two, self.steps = nn.Linear(20, 12), nn.Linear(12, 6), steps

    def forward(self, x):
        a, b, trace, voltages = 0.0, 0.0, 0.0, []
        current = self.one(x)
        for _ in range(self.steps):
            a = 0.9 * a + current
            spikes = Spike.apply(a - 1)
            trace = 0.5 * trace + spikes
            b = 0.9 * b + self.two(trace)
            voltages.append(b)
        return torch.stack(voltages).mean(0)


class Routing(nn.Module):
    """A power iteration on a learned matrix from a vector of ones."""

    def __init__(self, rounds):
        super().__init__()
        self.map, self.rounds = nn.Linear(8, 8, bias=False), rounds

    def forward(self, x):
        vector = torch.ones(len(x), 8)
        for _ in range(self.rounds):
            vector = torch.nn.functional.normalize(self.map(vector) + x, dim=-1)
        return vector


class Sampler(nn.Module):
    """Diffusion from noise that a generator gives, with the same net at each step."""

    def __init__(self, steps):
        super().__init__()
        self.net, self.steps = nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 8)), steps

    def forward(self, condition):
        x = torch.randn(len(condition), 8)
        for _ in range(self.steps):
            x = 0.9 * x - 0.1 * self.net(x + condition)
        return x


class CopiesItself(nn.Module):
    """A decoder with attention on what was encoded; its words are joined at the end."""

    def __init__(self, steps):
        super().__init__()
        self.encoder, self.query = nn.Linear(6, 8), nn.Linear(8, 8)
        self.cell, self.steps = nn.GRUCell(8, 8), steps

    def forward(self, x):
        memory = self.encoder(x)
        state, found = memory.mean(1), []
        for _ in range(self.steps):
            weights = (memory @ self.query(state)[..., None]).softmax(1)
            state = self.cell((weights * memory).sum(1), state)
            found.append(state)
        return torch.cat(found, -1)


class LogSumScan(nn.Module):
    """Hillis and Steele in another join, on the first dimension."""

    def __init__(self):
        super().__init__()
        self.input, self.out = nn.Linear(4, 8), nn.Linear(8, 2)

    def forward(self, x):
        h, gap = self.input(x), 1
        while gap < len(h):
            h = torch.cat([h[:gap], torch.logaddexp(h[gap:], h[:-gap])])
            gap *= 2
        return self.out(h)


class Heun(nn.Module):
    """Tolerance by the largest element, on pictures."""

    def __init__(self):
        super().__init__()
        self.slope = nn.Sequential(nn.Conv2d(2, 8, 3, padding=1), nn.Tanh(), nn.Conv2d(8, 2, 1))

    def forward(self, y):
        time, step = 0.0, 0.5
        while time < 1:
            one = self.slope(y)
            two = self.slope(y + step * one)
            error = float((two - one).square().amax().sqrt() * step / 2)
            if error < 1e-2:
                time, y = time + step, y + step * (one + two) / 2
            step = min(step * (2 if error < 1e-3 else 0.5), max(1e-3, 1 - time))
        return y


class Relaxes(nn.Module):
    """Conjugate gradients until the residual is small; no layer inside the loop."""

    def __init__(self):
        super().__init__()
        self.right, self.out = nn.Linear(6, 8), nn.Linear(8, 2)
        self.matrix = nn.Parameter(torch.eye(8))

    def forward(self, x):
        b = self.right(x)
        answer, residual = torch.zeros_like(b), b
        for _ in range(100):
            step = residual @ self.matrix
            answer, residual = answer + 0.1 * residual, residual - 0.1 * step
            if residual.norm() ** 2 / b.norm() ** 2 < 1e-6:
                break
        return self.out(answer)


class Nearest(nn.Module):
    """Farthest points again, kept in a list of indices that are stacked, then grouped."""

    def __init__(self, points):
        super().__init__()
        self.points, self.layer = points, nn.Linear(6, 8)

    def forward(self, x):
        far = torch.zeros(len(x), dtype=torch.long)
        distance, rows, found = torch.full(x.shape[:2], torch.inf), torch.arange(len(x)), []
        for _ in range(self.points):
            found.append(far)
            gap = ((x - x[rows, far][:, None]) ** 2).sum(-1)
            distance = torch.where(gap < distance, gap, distance)
            far = distance.argmax(1)
        centres = x[rows[:, None], torch.stack(found, 1)]
        near = torch.cdist(centres, x).argmin(-1)
        return self.layer(torch.cat([centres, x[rows[:, None], near]], -1))


class Echo(nn.Module):
    """A reservoir that is fed a chunk of a signal at a time; only its last state is read."""

    def __init__(self):
        super().__init__()
        self.input, self.state, self.out = nn.Linear(4, 16), nn.Linear(16, 16), nn.Linear(16, 2)

    def forward(self, x):
        state = torch.zeros(len(x), 16)
        for chunk in x.split(4, 1):
            state = torch.tanh(self.input(chunk) + self.state(state))
        return self.out(state)


class Pondering(nn.Module):
    """Adaptive computation time (Graves 2016): rounds until the halting sum is near one."""

    def __init__(self):
        super().__init__()
        self.cell, self.halt = nn.GRUCell(6, 8), nn.Linear(8, 1)

    def forward(self, x):
        state, total, rounds = torch.zeros(len(x), 8), torch.zeros(len(x), 1), 0
        while total.max().item() < 0.99 and rounds < 50:
            state = self.cell(x, state)
            total = total + self.halt(state).sigmoid()
            rounds += 1
        return state / total


def seeded(kind, seed):
    torch.manual_seed(seed)
    return kind()


# Pairs of a model and its inputs; those of one name are one design.
STATED = {
    "spiking": [(SpikingNet(n), torch.rand(1, 784)) for n in (10, 25)],
    "doubling": [(Doubling(), torch.rand(1, n, 4)) for n in (64, 100, 128)],
    "adaptive": [(seeded(AdaptiveSolver, n), torch.ones(4, 2)) for n in range(3)],
    "farthest": [(FarthestPoints(n), torch.rand(2, 64, 3)) for n in (16, 32)],
}
FURTHER = {
    "rate": [(RateCoded(n), torch.rand(1, 1, 8, 8)) for n in (8, 20)],
    "minimum": [(FarthestByMinimum(n), torch.rand(2, 64, 3)) for n in (16, 40)],
    "padding": [(DoublingByPadding(), torch.rand(1, n, 4)) for n in (64, 200)],
    "maximum": [(RunningMaximum(), torch.rand(1, 3, n)) for n in (64, 200)],
    "settling": [(Settling(n), torch.rand(2, 6)) for n in (10, 30)],
    "midpoint": [(seeded(Midpoint, n), torch.rand(2, 3)) for n in range(3)],
    "fixed point": [(seeded(FixedPoint, n), torch.rand(2, 6)) for n in range(3)],
    "liquid": [(LiquidCell(), torch.rand(1, n, 4)) for n in (8, 20)],
    "decoder": [(Decoder(n), torch.rand(1, 12)) for n in (6, 15)],
    "greedy": [(Greedy(n), torch.rand(1, 8)) for n in (6, 15)],
    "memory": [(ReadAndWrite(n), torch.rand(1, 5)) for n in (6, 15)],
}
SECOND = {
    "two spiking layers": [(SpikingTwice(n), torch.rand(1, 20)) for n in (8, 20)],
    "power iteration": [(Routing(n), torch.rand(2, 8)) for n in (6, 15)],
    "sampler": [(Sampler(n), torch.rand(2, 8)) for n in (6, 15)],
    "attends": [(CopiesItself(n), torch.rand(1, 5, 6)) for n in (6, 15)],
    "logsum": [(LogSumScan(), torch.rand(n, 4)) for n in (64, 200)],
    "heun": [(seeded(Heun, n), torch.rand(1, 2, 8, 8)) for n in range(3)],
    "relaxes": [(seeded(Relaxes, n), torch.rand(2, 6)) for n in range(3)],
    "nearest": [(Nearest(n), torch.rand(2, 64, 3)) for n in (16, 40)],
    "echo": [(Echo(), torch.rand(1, n)) for n in (40, 80)],
    "pondering": [(seeded(Pondering, n), torch.rand(2, 6)) for n in range(3)],
}
APART = {
    "albert": [(Albert(n), torch.ones(1, 9).long()) for n in (3, 6)],
    "perceiver": [(Perceiver(n), torch.rand(1, 9, 8)) for n in (3, 6)],
}
