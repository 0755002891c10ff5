"""Graphs cut into motifs (or, for Table 2, into other pieces), the macro graph, and contexts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from nar_plugin.encoder.paper.folding import Folded, Ints
from nar_plugin.encoder.paper.reading import Reading
from nar_plugin.encoder.paper.sampling import sampled_starts
from nar_plugin.tracing.graph import ArchitectureGraph, IntArray

_TOGETHER = 64  # graphs that are cut at once, which takes a fraction of the time


class Ordered(Protocol):
    """A graph in the order in which graphs are cut (`nar_plugin.mining.order`).

    Attributes:
        graph: The graph.
        fingerprint: Its fingerprint.
        starts: int[M], where the blocks of `nar_plugin.mining` begin; read to cut at motifs alone.
    """

    @property
    def graph(self) -> ArchitectureGraph: ...  # noqa: D102
    @property
    def fingerprint(self) -> str: ...  # noqa: D102
    @property
    def starts(self) -> IntArray: ...  # noqa: D102


@dataclass(frozen=True)
class Piece:
    """A graph of operations: a motif, or a motif with its context.

    Attributes:
        kinds: int64[n], number of the kind of each operation, 0 for one that is not known.
        edges: int64[e, 2], numbered inside the piece.
    """

    kinds: Ints
    edges: Ints


@dataclass(frozen=True)
class Cut:
    """Graphs as macro graphs of distinct motifs.

    Motifs with equal kinds and edges are one: attributes do not enter the paper's method.

    Attributes:
        motifs: The distinct motifs.
        contexts: The context graph of the first instance of each (section 3.4).
        nodes: int64[M], the motif of each macro node, all graphs side by side.
        edges: int64[E, 2], between macro nodes: they meet in an edge (section 3.3).
        sizes: int64[g], the macro nodes of each graph.
    """

    motifs: list[Piece]
    contexts: list[Piece]
    nodes: Ints
    edges: Ints
    sizes: Ints


def cut(
    items: Sequence[Ordered],
    kinds: dict[str, int],
    reading: Reading,
    *,
    seed: int = 0,
    hops: int | None = None,
) -> Cut:
    """Cut graphs.

    Args:
        items: The g graphs.
        kinds: Number of each known kind, from 1.
        reading: `splitting` says where.
        seed: Of cutting at random; a graph is always cut in the same way.
        hops: k of the context graphs; None where no contexts are wanted.
    """
    motifs: list[Piece] = []
    around: list[Piece] = []
    numbers: dict[bytes, int] = {}
    nodes: list[int] = []
    edges: list[Ints] = [np.zeros((0, 2), dtype=np.int64)]
    sizes: list[int] = []
    margin = reading.steps if reading.splitting == "sequence" else 0
    for first in range(0, len(items), _TOGETHER):
        some = items[first : first + _TOGETHER]
        graph, before = _side_by_side(some, kinds)
        starts = [_starts(item, reading, seed) for item in some]
        begins = np.concatenate([own + place for own, place in zip(starts, before, strict=True)])
        owner = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(graph.kinds)))
        parts = _parts(graph, owner, margin)
        context: _Parts | None = None
        meeting = _sharing(parts) if margin else _crossing(owner[graph.edges])
        edges.append(meeting + len(nodes))
        sizes += map(len, starts)
        for number, piece in enumerate(parts.pieces(graph)):
            key = piece.kinds.tobytes() + b"|" + piece.edges.tobytes()
            motif = numbers.setdefault(key, len(motifs))
            nodes.append(motif)
            if motif == len(motifs):
                motifs.append(piece)
                if hops is not None:
                    context = context or _parts(graph, owner, margin + hops)
                    around.append(context.piece(graph, number))
    return Cut(
        *(motifs, around, np.array(nodes, dtype=np.int64), np.concatenate(edges)),
        np.array(sizes, dtype=np.int64),
    )


def folded_pieces(pieces: Sequence[Piece], reading: Reading) -> Folded:
    """Pieces as folded graphs, whose inputs are kinds."""
    sizes = np.array([len(piece.kinds) for piece in pieces])
    before = np.concatenate([[0], np.cumsum(sizes)[:-1]]).tolist()
    edges = [piece.edges + start for piece, start in zip(pieces, before, strict=True)]
    kinds = np.concatenate([piece.kinds for piece in pieces])
    return folded(kinds, np.concatenate(edges), sizes, reading)


def folded(inputs: Ints, edges: Ints, sizes: Ints, reading: Reading) -> Folded:
    """Graphs as the convolutions of an encoder read them."""
    return Folded(inputs, edges, sizes, reading.layers, both=reading.both_ways)


def _side_by_side(items: Sequence[Ordered], kinds: dict[str, int]) -> tuple[Piece, list[int]]:
    """Graphs as one, and where each begins in it."""
    before = np.cumsum([0, *(len(item.graph) for item in items[:-1])]).tolist()
    edges = [
        item.graph.edges.astype(np.int64).reshape(-1, 2) + place
        for item, place in zip(items, before, strict=True)
    ]
    words = [kinds.get(op.kind, 0) for item in items for op in item.graph.ops]
    return Piece(np.array(words, dtype=np.int64), np.concatenate(edges)), before


def _starts(item: Ordered, reading: Reading, seed: int) -> Ints:
    """int64[m], where each piece of a graph begins (sections 3.2 and 4.4)."""
    count = len(item.graph)
    if reading.splitting == "motifs":
        return item.starts.astype(np.int64)
    if reading.splitting == "sequence":
        return sampled_starts(item.graph, reading.steps, reading.longest)
    if reading.splitting == "nodes":
        return np.arange(0, count, reading.piece)
    if reading.splitting == "count":
        pieces = min(reading.pieces, count)
        return np.arange(pieces) * count // pieces
    random = np.random.default_rng([seed, crc32(item.fingerprint.encode())])
    low, high = reading.sizes
    sizes = random.integers(low, high, endpoint=True, size=1 + count // low)
    ends = np.cumsum(sizes)
    return np.concatenate([[0], ends[ends < count]]).astype(np.int64)


class _Parts(NamedTuple):
    """Parts of a graph, which may overlap.

    Attributes:
        nodes: int64[m], the operations of each part, ascending, part by part.
        bounds: int64[p + 1], where those of each part begin.
        inner: int64[e, 2], the edges among them, numbered inside their part, in the graph's order.
        edges: int64[e], which edge of the graph each is.
        edge_bounds: int64[p + 1].
    """

    nodes: Ints
    bounds: Ints
    inner: Ints
    edges: Ints
    edge_bounds: Ints

    def piece(self, graph: Piece, number: int) -> Piece:
        """A part by itself."""
        nodes = self.nodes[self.bounds[number] : self.bounds[number + 1]]
        return Piece(
            graph.kinds[nodes],
            self.inner[self.edge_bounds[number] : self.edge_bounds[number + 1]],
        )

    def pieces(self, graph: Piece) -> Iterator[Piece]:
        """Every part by itself."""
        for number in range(len(self.bounds) - 1):
            yield self.piece(graph, number)


def _parts(graph: Piece, owner: Ints, hops: int) -> _Parts:
    """Ranges of operations with their neighbours, and the edges among them.

    Args:
        graph: The graph.
        owner: int64[n], the range that each operation belongs to.
        hops: How far the neighbours may be.
    """
    count, size = len(owner), int(owner[-1]) + 1
    both = np.concatenate([graph.edges, graph.edges[:, ::-1]])
    members = owner * count + np.arange(count)  # part and operation in one number
    for _ in range(hops):
        places, ways = _leaving(both[:, 0], members % count)
        beside = members[places] // count * count + both[ways, 1]
        members = np.unique(np.concatenate([members, beside]))
    bounds = np.searchsorted(members, np.arange(size + 1) * count)
    places, ways = _leaving(graph.edges[:, 0], members % count)
    wanted = members[places] // count * count + graph.edges[ways, 1]
    found = np.minimum(np.searchsorted(members, wanted), len(members) - 1)
    inside = members[found] == wanted
    places, ways, found = places[inside], ways[inside], found[inside]
    of = members[places] // count
    order = np.lexsort((ways, of))
    inner = np.stack([places, found], axis=1) - bounds[of][:, None]
    edge_bounds = np.searchsorted(of[order], np.arange(size + 1))
    return _Parts(members % count, bounds, inner[order], ways[order], edge_bounds)


def _leaving(sources: Ints, nodes: Ints) -> tuple[Ints, Ints]:
    """Places in `nodes`, and which edge begins there, for all edges that do."""
    order = np.argsort(sources, kind="stable")
    first = np.searchsorted(sources[order], nodes)
    sizes = np.searchsorted(sources[order], nodes, side="right") - first
    begin = np.cumsum(sizes) - sizes
    places = np.repeat(first - begin, sizes) + np.arange(int(sizes.sum()))
    return np.repeat(np.arange(len(nodes)), sizes), order[places]


def _crossing(pairs: Ints) -> Ints:
    """int64[E, 2]: parts that an edge leads between."""
    return np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)


def _sharing(parts: _Parts) -> Ints:
    """int64[E, 2]: parts that have an edge in common."""
    size = len(parts.bounds) - 1
    of = np.repeat(np.arange(size), np.diff(parts.edge_bounds))
    order = np.lexsort((of, parts.edges))
    edges, of = parts.edges[order], of[order]
    kept = _one_of_each_set(edges, of, size)
    edges, of = edges[kept], of[kept]
    found, apart = [np.zeros(0, dtype=np.int64)], 1
    rows = np.arange(len(edges) - 1)
    while len(rows := rows[edges[rows] == edges[rows + apart]]):
        found.append(np.unique(of[rows] * size + of[rows + apart]))
        apart += 1
        rows = rows[rows + apart < len(edges)]
    return np.stack(np.divmod(np.unique(np.concatenate(found)), size), axis=1)


def _one_of_each_set(edges: Ints, of: Ints, size: int) -> NDArray[np.bool_]:
    """bool[e]: the rows of one edge among those that lie in the same parts.

    At a hub thousands of edges lie in the same hundreds of parts.

    Args:
        edges: int64[e], ascending.
        of: int64[e], a part that each is in.
        size: The number of parts.
    """
    if not len(edges):
        return np.zeros(0, dtype=np.bool_)
    begins = np.flatnonzero(np.diff(edges, prepend=-1))
    marks = np.random.default_rng(0).integers(1 << 63, size=size, dtype=np.uint64)
    sums = np.add.reduceat(marks[of], begins)  # of a set, whatever its order
    chosen = np.zeros(len(begins), dtype=np.bool_)
    chosen[np.unique(sums, return_index=True)[1]] = True
    return np.repeat(chosen, np.diff(begins, append=len(edges)))
