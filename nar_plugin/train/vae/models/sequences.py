"""Autoencoders that read and write a graph as a sequence of rows: S-VAE and GraphRNN.

A row of a vertex is its type and the edges that end there. Both encoders are one recurrent network
over the rows (Bowman et al., CoNLL 2016). S-VAE decodes all rows from the latent vector at once, by
a recurrent network that reads the same input at each step; GraphRNN (You et al., ICML 2018) reads
the row that it wrote last, and has a second recurrent network that writes one edge at a time.

First weights on rows are large, as in `propagation`: with torch's usual ones S-VAE takes ten times
as long until it knows the first operation.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nar_plugin.train.vae.models import likelihood
from nar_plugin.train.vae.models.sampling import Draw, finish
from nar_plugin.train.vae.spaces.graphs import START, Graphs

ROW_SCALE = 0.5  # deviation of first weights on rows


class SequenceEncoder(nn.Module):
    """A recurrent network over the rows; its last state speaks for the graph.

    Shapes:
        n graphs -> float32[n, hidden]
    """

    def __init__(self, kinds: int, vertices: int, hidden: int) -> None:
        super().__init__()
        self.rows = row_reader(kinds, vertices, hidden)

    def forward(self, graphs: Graphs) -> Tensor:
        """One vector a graph."""
        _, last = self.rows(rows_of(graphs))  # [1, n, hidden]
        return last[0]  # type: ignore[no-any-return]


class SequenceDecoder(nn.Module):
    """All rows at once from the latent vector (S-VAE).

    Shapes:
        latent float32[n, latent] -> log-likelihoods float32[n, v], by vertex
    """

    def __init__(self, kinds: int, vertices: int, hidden: int, latent: int) -> None:
        super().__init__()
        self.kinds, self.vertices = kinds, vertices
        self.first = nn.Linear(latent, hidden)
        self.rows = nn.GRU(hidden, hidden, batch_first=True)
        self.types = perceptron(hidden, 2 * hidden, kinds)
        self.edges = perceptron(hidden, 2 * hidden, vertices)

    def log_likelihood(self, latent: Tensor, graphs: Graphs) -> Tensor:
        """How probable each vertex of the graphs is; 0 for the first."""
        types, edges = self._scores(latent)
        before = earlier(self.vertices, latent.device)
        bits = likelihood.of_edges(edges, graphs.edges.mT).where(before, 0).sum(-1)  # [n, v]
        bits[:, 1:] = bits[:, 1:] + likelihood.of_types(types[:, 1:], graphs)
        return bits

    def sample(self, latent: Tensor, draw: Draw) -> Graphs:
        """A graph for each latent vector, each decision drawn."""
        types, edges = self._scores(latent)
        chosen = draw.kinds(types)
        chosen[:, 0] = START
        present = draw.bits(edges) & earlier(self.vertices, latent.device)
        return finish(Graphs(chosen, present.mT.contiguous(), self.kinds))

    def _scores(self, latent: Tensor) -> tuple[Tensor, Tensor]:
        """float32[n, v, kinds] and float32[n, v, v], of the edges that end at each vertex."""
        first = torch.relu(self.first(latent))  # [n, hidden]
        states, _ = self.rows(first[:, None].expand(-1, self.vertices, -1))
        return self.types(states), self.edges(states)


class GraphRnnDecoder(nn.Module):
    """Row after row, and inside a row edge after edge from the nearest vertex (GraphRNN).

    Shapes:
        latent float32[n, latent] -> log-likelihoods float32[n, v], by vertex
    """

    def __init__(self, kinds: int, vertices: int, hidden: int, latent: int) -> None:
        super().__init__()
        self.kinds, self.vertices = kinds, vertices
        self.first = nn.Linear(latent, hidden)
        self.rows = row_reader(kinds, vertices, hidden)
        self.types = perceptron(hidden, 2 * hidden, kinds)
        self.edge_first = nn.Linear(hidden + kinds, hidden)
        self.edge_rows = nn.GRU(1, hidden, batch_first=True)
        self.edge = nn.Linear(hidden, 1)

    def log_likelihood(self, latent: Tensor, graphs: Graphs) -> Tensor:
        """How probable each vertex of the graphs is; 0 for the first."""
        rows = rows_of(graphs)
        states, _ = self.rows(rows[:, :-1], self._start(latent))  # [n, v - 1, hidden]
        types = likelihood.of_types(self.types(states), graphs)
        bits, inside = nearest_first(graphs)  # [n, v - 1, v - 1]
        width = bits.shape[-1]
        start = torch.cat([states, rows[:, 1:, : self.kinds]], -1).flatten(0, 1)
        read = torch.cat([torch.ones_like(bits[..., :1]), bits[..., :-1]], -1)
        inner, _ = self.edge_rows(
            read.flatten(0, 1)[..., None].float(), torch.tanh(self.edge_first(start))[None]
        )
        scores = self.edge(inner).view(-1, width, width)
        edges = likelihood.of_edges(scores, bits).where(inside, 0).sum(-1)
        return torch.cat([torch.zeros_like(types[:, :1]), types + edges], 1)

    def sample(self, latent: Tensor, draw: Draw) -> Graphs:
        """A graph for each latent vector, each decision drawn."""
        count, device = len(latent), latent.device
        types = torch.full((count, self.vertices), START, device=device)
        edges = torch.zeros(count, self.vertices, self.vertices, dtype=torch.bool, device=device)
        state = self._start(latent)
        for vertex in range(1, self.vertices):
            row = rows_of(Graphs(types, edges, self.kinds))[:, vertex - 1 : vertex]
            output, state = self.rows(row, state)  # [n, 1, hidden]
            types[:, vertex] = draw.kinds(self.types(output[:, 0]))
            one_hot = nn.functional.one_hot(types[:, vertex], self.kinds).float()
            inner = torch.tanh(self.edge_first(torch.cat([output[:, 0], one_hot], -1)))[None]
            bit = torch.ones(count, 1, 1, device=device)
            for start in range(vertex - 1, -1, -1):
                seen, inner = self.edge_rows(bit, inner)
                edges[:, start, vertex] = draw.bits(self.edge(seen)[:, 0, 0])
                bit = edges[:, start, vertex, None, None].float()
        return finish(Graphs(types, edges, self.kinds))

    def _start(self, latent: Tensor) -> Tensor:
        return torch.tanh(self.first(latent))[None]


def row_reader(kinds: int, vertices: int, hidden: int) -> nn.GRU:
    """A recurrent network over rows."""
    network = nn.GRU(kinds + vertices, hidden, batch_first=True)
    nn.init.normal_(network.all_weights[0][0], std=ROW_SCALE)
    return network


def rows_of(graphs: Graphs) -> Tensor:
    """float32[n, v, kinds + v]: of each vertex the one-hot type, and where its edges start."""
    types = nn.functional.one_hot(graphs.types, graphs.kinds)
    return torch.cat([types, graphs.edges.mT], -1).float()


def earlier(vertices: int, device: torch.device) -> Tensor:
    """bool[v, v]: whether vertex u (second) stands before vertex w (first)."""
    return torch.ones(vertices, vertices, dtype=torch.bool, device=device).tril(-1)


def nearest_first(graphs: Graphs) -> tuple[Tensor, Tensor]:
    """bool[n, v - 1, v - 1] and bool[v - 1, v - 1]: edges into vertex w + 1, the nearest first.

    The second says which of them exist: vertex w + 1 has w + 1 vertices before it.
    """
    size, device = graphs.vertices, graphs.edges.device
    end = torch.arange(1, size, device=device)[:, None]
    start = end - 1 - torch.arange(size - 1, device=device)
    inside = start >= 0
    return graphs.edges[:, start.clamp(min=0), end] & inside, inside


def perceptron(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    """One hidden layer with ReLU, as all of D-VAE's decisions have it."""
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))
