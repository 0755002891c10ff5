"""Graphs cut into motifs (or, for Table 2, into other pieces), the macro graph, and contexts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from nar_plugin.train.corpus.corpus import CorpusGraph
from nar_plugin.train.paper.ablations import Recipe
from nar_plugin.train.paper.folding import Folded, Ints


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
    items: Sequence[CorpusGraph],
    kinds: dict[str, int],
    recipe: Recipe,
    *,
    seed: int = 0,
    contexts: bool = False,
) -> Cut:
    """Cut graphs.

    Args:
        items: The g graphs.
        kinds: Number of each known kind, from 1.
        recipe: `splitting` says where.
        seed: Of cutting at random; a graph is always cut in the same way.
        contexts: Whether contexts are wanted; else there are none.
    """
    motifs: list[Piece] = []
    around: list[Piece] = []
    numbers: dict[bytes, int] = {}
    nodes: list[int] = []
    edges: list[Ints] = []
    sizes = []
    for item in items:
        starts = _starts(item, recipe, seed)
        graph = Piece(
            np.array([kinds.get(op.kind, 0) for op in item.graph.ops], dtype=np.int64),
            item.graph.edges.astype(np.int64).reshape(-1, 2),
        )
        neighbours = None
        for span, piece in _pieces(graph, starts):
            key = piece.kinds.tobytes() + b"|" + piece.edges.tobytes()
            number = numbers.setdefault(key, len(motifs))
            nodes.append(number)
            if number == len(motifs):
                motifs.append(piece)
                if contexts:
                    neighbours = neighbours or _Neighbours(graph)
                    around.append(neighbours.context(*span, recipe.hops))
        owner = np.repeat(np.arange(len(starts)), np.diff([*starts.tolist(), len(graph.kinds)]))
        pairs = owner[graph.edges]
        pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
        edges.append(pairs + (len(nodes) - len(starts)))
        sizes.append(len(starts))
    return Cut(
        motifs, around, np.array(nodes, dtype=np.int64), np.concatenate(edges), np.array(sizes)
    )


def folded_pieces(pieces: Sequence[Piece], layers: int) -> Folded:
    """Pieces as folded graphs, whose inputs are kinds."""
    sizes = np.array([len(piece.kinds) for piece in pieces])
    before = np.concatenate([[0], np.cumsum(sizes)[:-1]]).tolist()
    edges = [piece.edges + start for piece, start in zip(pieces, before, strict=True)]
    kinds = np.concatenate([piece.kinds for piece in pieces])
    return Folded(kinds, np.concatenate(edges), sizes, layers)


def _starts(item: CorpusGraph, recipe: Recipe, seed: int) -> NDArray[np.int64]:
    """int64[m], where each piece of a graph begins (section 4.4)."""
    count = len(item.graph)
    if recipe.splitting == "motifs":
        return item.starts.astype(np.int64)
    if recipe.splitting == "nodes":
        return np.arange(0, count, recipe.piece)
    if recipe.splitting == "count":
        pieces = min(recipe.pieces, count)
        return np.arange(pieces) * count // pieces
    random = np.random.default_rng([seed, crc32(item.fingerprint.encode())])
    low, high = recipe.sizes
    sizes = random.integers(low, high, endpoint=True, size=1 + count // low)
    ends = np.cumsum(sizes)
    return np.concatenate([[0], ends[ends < count]]).astype(np.int64)


def _pieces(graph: Piece, starts: Ints) -> Iterator[tuple[tuple[int, int], Piece]]:
    """The pieces that begin at `starts`, each with its range."""
    stops = [*starts[1:].tolist(), len(graph.kinds)]
    owner = np.searchsorted(starts, graph.edges, side="right") - 1
    inside = owner[:, 0] == owner[:, 1]
    inner, of = graph.edges[inside], owner[inside, 0]
    order = np.argsort(of, kind="stable")
    inner = inner[order] - starts[of[order]][:, None]
    bounds = np.searchsorted(of[order], np.arange(len(starts) + 1)).tolist()
    for number, (start, stop) in enumerate(zip(starts.tolist(), stops, strict=True)):
        edges = inner[bounds[number] : bounds[number + 1]]
        yield (start, stop), Piece(graph.kinds[start:stop], edges)


class _Neighbours:
    """A graph's adjacency, both ways."""

    def __init__(self, graph: Piece) -> None:
        self._graph = graph
        ends = np.concatenate([graph.edges, graph.edges[:, ::-1]])
        order = np.argsort(ends[:, 0], kind="stable")
        self._to = ends[order, 1]
        self._starts = np.searchsorted(ends[order, 0], np.arange(len(graph.kinds) + 1))

    def context(self, start: int, stop: int, hops: int) -> Piece:
        """The operations in a range with their k-hop neighbours, and the edges among them."""
        nodes = np.arange(start, stop)
        for _ in range(hops):
            nodes = np.union1d(nodes, self._beside(nodes)[1])
        source, target = self._beside(nodes)
        place = np.minimum(np.searchsorted(nodes, target), len(nodes) - 1)
        inside = (nodes[place] == target) & (nodes[source] < target)  # each edge once
        edges = np.stack([source[inside], place[inside]], axis=1)
        return Piece(self._graph.kinds[nodes], edges)

    def _beside(self, nodes: Ints) -> tuple[Ints, Ints]:
        """Places in `nodes`, and what is beside each."""
        first = self._starts[nodes]
        sizes = self._starts[nodes + 1] - first
        begin = np.cumsum(sizes) - sizes
        places = np.repeat(first - begin, sizes) + np.arange(int(sizes.sum()))
        return np.repeat(np.arange(len(nodes)), sizes), self._to[places]
