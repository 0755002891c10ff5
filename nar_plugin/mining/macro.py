"""The MacroGraph: an architecture rebuilt with its motifs as nodes (section 3.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nar_plugin.html_table import html_table
from nar_plugin.tracing.graph import ArchitectureGraph, IntArray, Op

if TYPE_CHECKING:
    from nar_plugin.drawing import Picture

_PRINTED = 10  # rows of the table


@dataclass(frozen=True)
class Motif:
    """One distinct block of operations.

    Attributes:
        ops: The n operations of the block.
        edges: int32[e, 2], rows (source, target), numbered inside the block.
        key: Hash of operations, attributes and edges: equal blocks of one width, equal text.
        shape: As `key`, blind to widths: what two designs share when they share a block.
        label: A name for people, such as `Bottleneck` or `conv-norm-relu`. Never ranked.
    """

    ops: tuple[Op, ...]
    edges: IntArray
    key: str
    shape: str
    label: str


@dataclass(frozen=True)
class MotifCount:
    """How often one block shape occurs in a model: a row of the motif table."""

    shape: str
    label: str
    count: int
    ops: int


@dataclass(frozen=True, repr=False, eq=False)
class MacroGraph:
    """Motif instances in topological order and the edges between them.

    Two are equal where the graphs that were cut are.

    Attributes:
        motifs: The distinct motifs.
        nodes: int32[M], index into `motifs` of each instance.
        edges: int32[E, 2], rows (source, target) between instances, source < target.
        spans: int32[M, 2], the half-open range of graph operations that each instance covers.
        graph: The graph that was cut.
    """

    motifs: tuple[Motif, ...]
    nodes: IntArray
    edges: IntArray
    spans: IntArray
    graph: ArchitectureGraph

    def __eq__(self, other: object) -> bool:
        """Whether the graphs that were cut are one design."""
        return isinstance(other, MacroGraph) and self.graph == other.graph

    def __hash__(self) -> int:
        """Of the graph."""
        return hash(self.graph)

    def __len__(self) -> int:
        """The number of motif instances."""
        return len(self.nodes)

    def __repr__(self) -> str:
        """Sizes, and a line for each of the first blocks of `table`."""
        rows = self.table()
        lines = [f"MacroGraph({self._sizes()})"]
        lines += [f"  {row.label} x{row.count}, {row.ops} ops each" for row in rows[:_PRINTED]]
        return "\n".join([*lines, "  ..."] if rows[_PRINTED:] else lines)

    def draw(self, title: str = "") -> Picture:
        """A picture of the design, folded to its blocks; see `ArchitectureGraph.draw`."""
        from nar_plugin.drawing import Picture

        return Picture(self, title)

    def _repr_html_(self) -> str:
        """The blocks of `table` as a notebook shows them."""
        rows = [(row.label, f"{row.count:,}", f"{row.ops:,}") for row in self.table()]
        return html_table(self._sizes(), ("motif", "count", "ops each"), rows)

    def _sizes(self) -> str:
        of = ", of the module tree alone" if self.graph.method == "modules" else ""
        shapes = len(self.table())
        return f"{len(self)} blocks of {shapes} shapes, {len(self.graph):,} ops{of}"

    def table(self) -> tuple[MotifCount, ...]:
        """The blocks by shape: most operations covered first."""
        counts: dict[str, MotifCount] = {}
        for node in self.nodes.tolist():
            motif = self.motifs[node]
            known = counts.get(motif.shape)
            counts[motif.shape] = MotifCount(
                motif.shape,
                known.label if known else motif.label,
                known.count + 1 if known else 1,
                len(motif.ops),
            )
        return tuple(sorted(counts.values(), key=lambda row: -row.count * row.ops))
