"""What a search chooses: an operation for each edge of the cells of a space."""

from __future__ import annotations

from dataclasses import dataclass

from nar_plugin.hooks.nas_cells import darts, nasbench201

Edge = tuple[int, int]  # from node, to node, both counted from 0


@dataclass(frozen=True)
class CellSpace:
    """The cells of a search space.

    Attributes:
        nodes: Nodes of a cell, its input nodes among them.
        inputs: How many of them are inputs, which come first and which no edge enters.
        operations: Names of the operations that an edge chooses from.
        kinds: Kinds of cells that are searched together, such as normal and reduction.
    """

    nodes: int
    inputs: int
    operations: tuple[str, ...]
    kinds: tuple[str, ...]

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Every node that is no input has an edge from each node before it, ordered by its end."""
        return tuple((i, j) for j in range(self.inputs, self.nodes) for i in range(j))


# Two inputs, four inner nodes, 14 edges, seven operations: the paper's Preliminaries and
# "NGE Instantiating"; DARTS names the operations in the order of this paper.
DARTS = CellSpace(
    nodes=6,
    inputs=2,
    operations=darts.OPERATIONS,
    kinds=("normal", "reduce"),
)
# NAS-Bench-201 (Dong & Yang, ICLR 2020) without `none`, which the paper's space does not have.
NAS201 = CellSpace(
    nodes=4,
    inputs=1,
    operations=tuple(name for name in nasbench201.OPERATIONS if name != "none"),
    kinds=("cell",),
)
