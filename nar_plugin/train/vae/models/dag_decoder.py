"""The decoder of D-VAE: vertex after vertex, and each edge before the next (section 3.2.2).

The type of a vertex is decided from the state of the vertex before it. Then its edges are decided,
from the nearest vertex to the input, and each edge that it gets changes its state.

When the likelihood of known graphs is asked, all graphs go in step, and the states that a vertex
has between its edges come from one call of the GRU: what it hears is a running sum over the edges
that are there, and an edge that is not there changes nothing. Before its first edge a vertex's
state depends on its type and number alone.

D-VAE's states do not know the number of their vertex. Where each vertex reads the one before it,
as in ENAS, the messages tell it. Where two vertices read the input alone, as in NAS-Bench-201,
they are one and the same to all decisions, and no training decodes them.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nar_plugin.train.vae.models import likelihood
from nar_plugin.train.vae.models.operations import Operations
from nar_plugin.train.vae.models.propagation import Propagation
from nar_plugin.train.vae.models.sampling import Draw, finish
from nar_plugin.train.vae.models.sequences import perceptron
from nar_plugin.train.vae.spaces.graphs import START, Graphs


class DagDecoder(nn.Module):
    """Graphs from latent vectors.

    Args:
        operations: The vectors of operations, which the encoder shares.
        kinds: How many types there are.
        vertices: Of each graph.
        hidden: Width of a state.
        latent: Width of a latent vector.
        numbered: Whether the states know the number of their vertex. Not needed, and not in D-VAE,
            where each vertex reads the one before it.

    Shapes:
        latent float32[n, latent] -> log-likelihoods float32[n, v], by vertex
    """

    def __init__(
        self,
        operations: Operations,
        kinds: int,
        vertices: int,
        hidden: int,
        latent: int,
        *,
        numbered: bool = False,
    ) -> None:
        super().__init__()
        self.kinds, self.vertices = kinds, vertices
        self.operations = operations
        self.first = nn.Linear(latent, hidden)
        self.passes = Propagation(operations, vertices, hidden, numbered=numbered)
        self.types = perceptron(hidden, 2 * hidden, kinds)
        # The perceptron of an edge reads two states. Its first layer is in two parts, so that each
        # state goes through once, however many pairs it is in.
        self.edge_start = nn.Linear(hidden, 4 * hidden)
        self.edge_end = nn.Linear(hidden, 4 * hidden, bias=False)
        self.edge = nn.Linear(4 * hidden, 1)

    def log_likelihood(self, latent: Tensor, graphs: Graphs) -> Tensor:
        """How probable each vertex of the graphs is; 0 for the first."""
        states = [self._input(latent)]
        told = [self.passes.message(states[0], 0)]
        table, rows, shift = [], [], 0
        for vertex in range(1, self.vertices):
            read = graphs.edges[:, :vertex, vertex].flip(1)  # [n, vertex], the nearest first
            found, place = self._states(graphs.types[:, vertex], read, told)
            if vertex < self.vertices - 1:  # nothing comes after the last
                states.append(found[place[:, -1]])
                told.append(self.passes.message(states[-1], vertex))
            rows.append(place[:, :-1] + shift)
            table.append(found)
            shift += len(found)
        every = torch.stack(states, 1)  # [n, v - 1, hidden]
        # All edges at once: into vertex 1, then into vertex 2, and so on.
        start = [other for vertex in range(self.vertices) for other in reversed(range(vertex))]
        end = [vertex for vertex in range(self.vertices) for _ in range(vertex)]
        ends = self.edge_end(torch.cat(table))[torch.cat(rows, 1)]  # [n, pairs, 4 hidden]
        scores = self.edge(torch.relu(self.edge_start(every)[:, start] + ends)).squeeze(-1)
        edges = likelihood.of_edges(scores, graphs.edges[:, start, end])
        by_vertex = [one.sum(1) for one in torch.split(edges, list(range(self.vertices)), 1)]
        types = likelihood.of_types(self.types(every), graphs)
        return torch.stack(by_vertex, 1) + nn.functional.pad(types, (1, 0))

    def sample(self, latent: Tensor, draw: Draw) -> Graphs:
        """A graph for each latent vector, each decision drawn."""
        count, device = len(latent), latent.device
        types = torch.full((count, self.vertices), START, device=device)
        edges = torch.zeros(count, self.vertices, self.vertices, dtype=torch.bool, device=device)
        states = [self._input(latent)]
        told = [self.passes.message(states[0], 0)]
        for vertex in range(1, self.vertices):
            types[:, vertex] = draw.kinds(self.types(states[-1]))
            inputs = self.operations(types[:, vertex])
            heard = torch.zeros_like(told[0])
            state = self.passes.state(inputs, heard, vertex)
            for start in range(vertex - 1, -1, -1):
                scores = self.edge(
                    torch.relu(self.edge_start(states[start]) + self.edge_end(state))
                )
                edges[:, start, vertex] = draw.bits(scores.squeeze(-1))
                heard = heard + told[start] * edges[:, start, vertex, None]
                state = self.passes.state(inputs, heard, vertex)
            states.append(state)
            told.append(self.passes.message(state, vertex))
        return finish(Graphs(types, edges, self.kinds))

    def _input(self, latent: Tensor) -> Tensor:
        """float32[n, hidden]: the state of the first vertex."""
        start = self.operations(torch.full((len(latent),), START, device=latent.device))
        return self.passes.state(start, torch.tanh(self.first(latent)), 0)

    def _states(self, types: Tensor, present: Tensor, told: list[Tensor]) -> tuple[Tensor, Tensor]:
        """The distinct states that a vertex has.

        Args:
            types: int64[n], of the vertex.
            present: bool[n, u], its edges, the nearest first.
            told: u times float32[n, hidden], the messages, the farthest first.

        Returns:
            float32[kinds + m, hidden]: the state without an edge of each type, then the states
            from the first edge on. And int64[n, u + 1]: the row of the state before each decision,
            and after the last.
        """
        vertex, table = len(told), self.operations.table
        blank = self.passes.state(table, table.new_zeros(self.kinds, self.passes.hidden), vertex)
        number = present.flatten().cumsum(0).view(present.shape)  # of states, over all graphs
        own = present.cumsum(1)  # of states, in each graph
        after = torch.where(own > 0, number + self.kinds - 1, types[:, None])
        place = torch.cat([types[:, None], after], 1)
        messages = torch.stack(told[::-1], 1) * present[..., None]  # [n, u, hidden]
        heard = messages.cumsum(1)[present]  # [m, hidden]
        inputs = self.operations(types[:, None].expand_as(present)[present])
        return torch.cat([blank, self.passes.state(inputs, heard, vertex)]), place
