"""Graphs: routes, molecules, particles and meshes."""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class RouteEncoderLayer(nn.Module):
    """Attention and a hidden layer, each with a skip and batch norm (Kool 2019, section 3.1)."""

    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, bias=False, batch_first=True)
        self.norm1, self.norm2 = nn.BatchNorm1d(width), nn.BatchNorm1d(width)
        self.dense = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, width))

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: [b, n, d]."""
        x = self._normed(self.norm1, x + self.attention(x, x, x, need_weights=False)[0])
        return self._normed(self.norm2, x + self.dense(x))

    @staticmethod
    def _normed(norm: nn.Module, x: Tensor) -> Tensor:
        return norm(x.flatten(0, 1)).view_as(x)


class RouteAttentionModel(nn.Module):
    """Kool's attention model for the travelling salesman (Kool et al. 2019, section 3).

    Three layers of 128 with eight heads encode; a glimpse and a clipped attention choose the next
    city, here the best, until all are visited.

    Shapes: cities [b, n, 2] to log-probabilities [b, n, n] and the tour int64[b, n].
    """

    def __init__(self, width: int = 128, heads: int = 8, layers: int = 3) -> None:
        super().__init__()
        self.embed = nn.Linear(2, width)
        self.encoder = nn.Sequential(*(RouteEncoderLayer(width, heads, 512) for _ in range(layers)))
        self.parts = nn.Linear(width, 3 * width, bias=False)
        self.of_graph = nn.Linear(width, width, bias=False)
        self.of_step = nn.Linear(2 * width, width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.start = nn.Parameter(torch.zeros(2 * width))
        self.heads = heads

    def forward(self, cities: Tensor) -> tuple[Tensor, Tensor]:
        """Plan a tour."""
        h = self.encoder(self.embed(cities))
        keys, values, last = self.parts(h).chunk(3, dim=2)
        whole = self.of_graph(h.mean(1))
        batch, count, width = h.shape
        visited = torch.zeros(batch, count, device=h.device)
        step = self.start.expand(batch, -1)
        steps: list[Tensor] = []
        tour: list[Tensor] = []
        for _ in range(count):
            query = self._glimpse(whole + self.of_step(step), keys, values, visited)
            scores = 10 * torch.tanh((last @ query[:, :, None]).squeeze(2) / math.sqrt(width))
            scores = (scores - 1e9 * visited).log_softmax(1)
            chosen = scores.argmax(1)
            visited = visited + F.one_hot(chosen, count)
            here = h.gather(1, chosen[:, None, None].expand(-1, 1, width)).squeeze(1)
            first = here if not tour else step[:, :width]
            step = torch.cat([first, here], dim=1)
            steps.append(scores)
            tour.append(chosen)
        return torch.stack(steps, dim=1), torch.stack(tour, dim=1)

    def _glimpse(self, query: Tensor, keys: Tensor, values: Tensor, visited: Tensor) -> Tensor:
        """Attention over the cities that are left. Shapes: [b, d], [b, n, d] twice, [b, n]."""
        split = [torch.unflatten(x, -1, (self.heads, -1)) for x in (query, keys, values)]
        scores = torch.einsum("bhd,bnhd->bhn", split[0], split[1]) / math.sqrt(split[0].shape[-1])
        weights = (scores - 1e9 * visited[:, None]).softmax(2)
        return self.out(torch.einsum("bhn,bnhd->bhd", weights, split[2]).flatten(1))


class PaiNN(nn.Module):
    """PaiNN (Schuett et al. 2021, section 3 and figure 2): three blocks of 128 features.

    Shapes: atomic numbers int64[n], positions [n, 3], pairs int64[2, e] to energies [n, 1] and
    equivariant vectors [n, 3, 128].
    """

    def __init__(self, width: int = 128, blocks: int = 3, cutoff: float = 5.0) -> None:
        super().__init__()
        self.embed = nn.Embedding(100, width)
        self.messages = nn.ModuleList(
            nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 3 * width))
            for _ in range(blocks)
        )
        self.filters = nn.ModuleList(nn.Linear(20, 3 * width) for _ in range(blocks))
        self.mixes = nn.ModuleList(nn.Linear(width, 2 * width, bias=False) for _ in range(blocks))
        self.updates = nn.ModuleList(
            nn.Sequential(nn.Linear(2 * width, width), nn.SiLU(), nn.Linear(width, 3 * width))
            for _ in range(blocks)
        )
        self.head = nn.Sequential(nn.Linear(width, width // 2), nn.SiLU(), nn.Linear(width // 2, 1))
        self.cutoff = cutoff

    def forward(self, atoms: Tensor, places: Tensor, pairs: Tensor) -> tuple[Tensor, Tensor]:
        """Give each atom's energy, and its vectors, which turn with the molecule."""
        to, source = pairs
        away = places[source] - places[to]
        distance = away.norm(dim=1, keepdim=True)
        unit = (away / distance)[:, :, None]
        waves = torch.arange(1, 21, device=places.device) * math.pi / self.cutoff
        radial = torch.sin(distance * waves) / distance
        fade = 0.5 * (torch.cos(math.pi * distance / self.cutoff) + 1) * (distance < self.cutoff)
        s = self.embed(atoms)
        v = s.new_zeros(len(s), 3, s.shape[1])
        for message, filters, mix, update in zip(
            self.messages, self.filters, self.mixes, self.updates, strict=True
        ):
            a, b, c = (message(s)[source] * filters(radial) * fade).chunk(3, dim=1)
            s = s.index_add(0, to, a)
            v = v.index_add(0, to, v[source] * b[:, None] + unit * c[:, None])
            left, right = mix(v).chunk(2, dim=2)
            length = (right.square().sum(1) + 1e-8).sqrt()
            a, b, c = update(torch.cat([s, length], dim=1)).chunk(3, dim=1)
            s = s + a * (left * right).sum(1) + b
            v = v + c[:, None] * left
        return self.head(s), v


def _perceptron(a: int, b: int, hidden: int = 128, layers: int = 2) -> nn.Sequential:
    sizes = [a] + [hidden] * layers
    dense: list[nn.Module] = []
    for x, y in itertools.pairwise(sizes):
        dense += [nn.Linear(x, y), nn.ReLU()]
    return nn.Sequential(*dense, nn.Linear(hidden, b))


class InteractionNetwork(nn.Module):
    """Interaction network (Battaglia et al. 2016, section 2 and 3.2): effects, then objects.

    Four hidden layers of 150 for a relation, one of 100 for an object.

    Shapes: objects [n, 5], relations [e, 1], pairs int64[2, e] to velocities [n, 2].
    """

    def __init__(self, state: int = 5, relation: int = 1, effect: int = 50) -> None:
        super().__init__()
        self.relation = _perceptron(2 * state + relation, effect, 150, 4)
        self.object = _perceptron(state + effect, 2, 100, 1)

    def forward(self, objects: Tensor, relations: Tensor, pairs: Tensor) -> Tensor:
        """Predict how the objects move."""
        to, source = pairs
        effects = self.relation(torch.cat([objects[to], objects[source], relations], dim=1))
        summed = effects.new_zeros(len(objects), effects.shape[1]).index_add(0, to, effects)
        return self.object(torch.cat([objects, summed], dim=1))


class MeshGraphNet(nn.Module):
    """MeshGraphNets and GNS: encode, 15 steps of messages, decode (Pfaff et al. 2021, section 3).

    Perceptrons of two hidden layers of 128, layer norm after each, residuals around each.

    Shapes: nodes [n, f], edges [e, g], pairs int64[2, e] to [n, outputs].
    """

    def __init__(self, nodes: int, edges: int, outputs: int, steps: int) -> None:
        super().__init__()
        width = 128
        self.encode_nodes, self.encode_edges = _normed(nodes, width), _normed(edges, width)
        self.edges = nn.ModuleList(_normed(3 * width, width) for _ in range(steps))
        self.nodes = nn.ModuleList(_normed(2 * width, width) for _ in range(steps))
        self.decode = _perceptron(width, outputs)

    def forward(self, nodes: Tensor, edges: Tensor, pairs: Tensor) -> Tensor:
        """Predict accelerations."""
        to, source = pairs
        v, e = self.encode_nodes(nodes), self.encode_edges(edges)
        for edge, node in zip(self.edges, self.nodes, strict=True):
            e = e + edge(torch.cat([e, v[source], v[to]], dim=1))
            received = torch.zeros_like(v).index_add(0, to, e)
            v = v + node(torch.cat([v, received], dim=1))
        return self.decode(v)


def _normed(a: int, b: int) -> nn.Sequential:
    return nn.Sequential(_perceptron(a, b), nn.LayerNorm(b))


class RelationalInference(nn.Module):
    """The encoder of neural relational inference (Kipf et al. 2018, section 3.1): edges of a graph.

    Shapes: trajectories [b, n, 49 * 4] to logits of each pair's kind [b, n (n - 1), 2].
    """

    def __init__(self, steps: int = 49 * 4, width: int = 256, kinds: int = 2) -> None:
        super().__init__()
        sizes = (steps, 2 * width, width, 3 * width)
        self.layers = nn.ModuleList(self._block(size, width) for size in sizes)
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in sizes)
        self.head = nn.Linear(width, kinds)

    @staticmethod
    def _block(a: int, width: int) -> nn.Sequential:
        return nn.Sequential(nn.Linear(a, width), nn.ELU(), nn.Linear(width, width), nn.ELU())

    def forward(self, moves: Tensor) -> Tensor:
        """Say which particles act on which."""
        count = moves.shape[1]
        to = [i for i in range(count) for j in range(count) if i != j]
        source = [j for i in range(count) for j in range(count) if i != j]
        nodes = self._normed(0, moves)
        first = edges = self._normed(1, torch.cat([nodes[:, source], nodes[:, to]], dim=2))
        summed = torch.unflatten(edges, 1, (count, count - 1)).sum(2)
        nodes = self._normed(2, summed / count)
        edges = torch.cat([nodes[:, source], nodes[:, to], first], dim=2)
        return self.head(self._normed(3, edges))

    def _normed(self, number: int, x: Tensor) -> Tensor:
        x = self.layers[number](x)
        return self.norms[number](x.flatten(0, 1)).view_as(x)
