"""NAS-Bench-201's 15,625 cells as graphs, with the test accuracy that each was trained to.

A cell has four nodes and an operation, perhaps `none`, on each of its six edges. It is read as a
line graph, as arch2vec does (Yan et al., NeurIPS 2020): each edge is a vertex with its operation,
and reads the edges that end where it starts. So all cells have one wiring, and only their
operations differ. Two strings that compute the same are two cells, as in the table.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from nar_plugin.hooks.nas_cells.nasbench201 import EDGES, OPERATIONS, parsed, written
from nar_plugin.train.nge.nas201_table import read_rows
from nar_plugin.train.vae.spaces.graphs import END, START, Graphs
from nar_plugin.train.vae.spaces.networks import Networks

VERTICES = len(EDGES) + 2
KINDS = len(OPERATIONS) + 2
_LAST_NODE = 3


def read(folder: Path) -> Networks:
    """All cells, with test accuracies on CIFAR-10 after 200 epochs, in percent.

    Args:
        folder: Holds `nas_bench_201_200_epochs.csv.gz`.

    Raises:
        NarError: The file is missing.
    """
    rows = read_rows(folder)
    accuracy = [float(row["CIFAR10TestAccuracy200Epochs"]) for row in rows]
    cells = [parsed(row["ArchitectureString"]) for row in rows]
    return Networks(graphs_of(cells), torch.tensor(accuracy, dtype=torch.float64))


def graphs_of(cells: list[tuple[str, ...]]) -> Graphs:
    """Line graphs of cells, each given by the operations of its six edges."""
    types = torch.full((len(cells), VERTICES), START)
    types[:, 1:-1] = torch.tensor([[OPERATIONS.index(name) + 2 for name in cell] for cell in cells])
    types[:, -1] = END
    return Graphs(types, wiring().expand(len(cells), -1, -1).clone(), KINDS)


def texts(graphs: Graphs) -> list[str]:
    """Valid graphs as architecture strings, each a reference; the inverse of `graphs_of`."""
    cells = [[OPERATIONS[number] for number in row] for row in (graphs.types[:, 1:-1] - 2).tolist()]
    return [f"nasbench201:{written(cell)}" for cell in cells]


def wiring() -> Tensor:
    """bool[8, 8]: the line graph of a cell; vertex i + 1 is edge i."""
    edges = torch.zeros(VERTICES, VERTICES, dtype=torch.bool)
    for vertex, (source, target) in enumerate(EDGES, start=1):
        edges[0, vertex] = source == 0
        edges[vertex, -1] = target == _LAST_NODE
        for other, (_, end) in enumerate(EDGES, start=1):
            edges[other, vertex] = end == source
    return edges


def one_hot(graphs: Graphs) -> Tensor:
    """float64[n, 30]: five operations for each edge."""
    types = graphs.types[:, 1:-1] - 2
    return torch.nn.functional.one_hot(types, len(OPERATIONS)).flatten(1).double()


def valid(graphs: Graphs) -> Tensor:
    """bool[g]: which graphs are cells."""
    types = graphs.types
    good = (types[:, 0] == START) & (types[:, -1] == END) & (types[:, 1:-1] > END).all(1)
    return good & (graphs.edges == wiring().to(graphs.edges.device)).flatten(1).all(1)
