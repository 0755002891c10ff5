"""The ENAS space: 19,020 networks of six layers with the accuracy that shared weights gave them.

The file has one line a network, such as `[[1], [4, 0], [5, 0, 0], ...], 0.7302`. Layer i (from 0)
has the number of its operation and then i bits: bit j is an edge from vertex j to vertex i + 1,
where vertex 0 is the input. Each layer reads the one before it as well. The last vertex is the
output and reads the last layer. The conventions are those of D-VAE (Zhang et al., NeurIPS 2019,
github.com/muhanzhang/D-VAE), whose file this is.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from nar_plugin.train.data_files import data_file
from nar_plugin.train.vae.spaces.graphs import END, START, Graphs
from nar_plugin.train.vae.spaces.networks import Networks

FILE = "enas_final_structures6.txt"
OPERATIONS = ("conv3", "sep3", "conv5", "sep5", "avg3", "max3")
LAYERS = 6
VERTICES = LAYERS + 2
KINDS = len(OPERATIONS) + 2
_BURN_IN = 1000  # lines from before the shared weights had learned
_OFF_CHAIN = [(u, v) for v in range(1, LAYERS + 1) for u in range(v - 1)]


def read(folder: Path) -> Networks:
    """All networks after the burn-in, in the order of the file.

    Their accuracies are those of CIFAR-10 by shared weights, from 0 to 1; never test accuracies.

    Args:
        folder: Holds `enas_final_structures6.txt`.

    Raises:
        NarError: The file is missing.
    """
    path = data_file(folder, FILE, "docs/operation-embeddings.md")
    lines = path.read_text("utf-8").splitlines()[_BURN_IN:]
    rows = [json.loads(f"[{line}]") for line in lines]
    accuracy = torch.tensor([float(row[1]) for row in rows], dtype=torch.float64)
    return Networks(graphs_of([row[0] for row in rows]), accuracy)


def graphs_of(networks: list[list[list[int]]]) -> Graphs:
    """Networks as the file writes them, as graphs."""
    types = np.full((len(networks), VERTICES), START)
    types[:, -1] = END
    edges = np.zeros((len(networks), VERTICES, VERTICES), dtype=bool)
    edges[:, range(VERTICES - 1), range(1, VERTICES)] = True  # each layer reads the one before
    for number, network in enumerate(networks):
        for layer, (operation, *bits) in enumerate(network):
            types[number, layer + 1] = operation + 2
            edges[number, : len(bits), layer + 1] |= np.array(bits, dtype=bool)
    return Graphs(torch.from_numpy(types), torch.from_numpy(edges), KINDS)


def texts(graphs: Graphs) -> list[str]:
    """Valid graphs as the file writes them, each a reference; the inverse of `graphs_of`."""
    found = []
    for types, edges in zip(graphs.types.tolist(), graphs.edges.int().tolist(), strict=True):
        last = types.index(END)
        rows = [
            [types[vertex] - 2, *(edges[start][vertex] for start in range(vertex - 1))]
            for vertex in range(1, last)
        ]
        found.append(f"enas:{rows}")
    return found


def one_hot(graphs: Graphs) -> Tensor:
    """float64[n, 51]: six operations for each layer, and the 15 edges that are free."""
    operations = torch.nn.functional.one_hot(graphs.types[:, 1:-1] - 2, len(OPERATIONS))
    return torch.cat([operations.flatten(1), wiring(graphs)], 1).double()


def wiring(graphs: Graphs) -> Tensor:
    """int64[n, 15]: the edges that are free."""
    starts, ends = zip(*_OFF_CHAIN, strict=True)
    return graphs.edges[:, list(starts), list(ends)].long()


def valid(graphs: Graphs) -> Tensor:
    """bool[g]: which graphs are networks of this space, with up to six layers (D-VAE, section 5.1).

    One input and one output; each vertex reads the one before it; the output reads nothing else;
    so that each vertex but the output is read.
    """
    types, edges = graphs.types, graphs.edges
    ends = types == END
    last = ends.long().argmax(1)  # the first output
    place = torch.arange(graphs.vertices, device=types.device)
    inside = (place > 0) & (place < last[:, None])
    good = ends.any(1) & (types[:, 0] == START)
    good &= ((types > END) | ~inside).all(1)
    chain = edges.diagonal(1, 1, 2)  # [g, v - 1]: whether vertex w reads vertex w - 1
    good &= (chain | (place[1:] > last[:, None])).all(1)
    into_end = edges.sum(1).gather(1, last[:, None]).squeeze(1)
    return good & (into_end == 1)


def whole(graphs: Graphs) -> Tensor:
    """bool[g]: which graphs are networks of this space with all six layers."""
    return valid(graphs) & ((graphs.types == END).long().argmax(1) == LAYERS + 1)
