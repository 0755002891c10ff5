"""Context graphs (section 3.4): a motif together with its k-hop neighbours in the whole graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nar_plugin.mining import MacroGraph
from nar_plugin.tracing.graph import ArchitectureGraph, IntArray, Op


@dataclass(frozen=True)
class Block:
    """A motif and its context graph, each as operations and inner edges int32[e, 2]."""

    inner: tuple[tuple[Op, ...], IntArray]
    context: tuple[tuple[Op, ...], IntArray]


def blocks_with_context(
    graphs: Sequence[ArchitectureGraph], macros: Sequence[MacroGraph], hops: int
) -> list[Block]:
    """Every distinct motif of all graphs, with the context of its first instance.

    Motifs of one operation tell nothing about a design and are left out.
    """
    blocks: list[Block] = []
    seen: set[str] = set()
    for graph, macro in zip(graphs, macros, strict=True):
        neighbours = _neighbours(graph)
        for number, (start, stop) in zip(macro.nodes.tolist(), macro.spans.tolist(), strict=True):
            motif = macro.motifs[number]
            if motif.key in seen or len(motif.ops) < 2:
                continue
            seen.add(motif.key)
            context = _context(graph, neighbours, range(start, stop), hops)
            blocks.append(Block((motif.ops, motif.edges), context))
    return blocks


def _neighbours(graph: ArchitectureGraph) -> list[list[int]]:
    neighbours: list[list[int]] = [[] for _ in graph.ops]
    for source, target in graph.edges.tolist():
        neighbours[source].append(target)
        neighbours[target].append(source)
    return neighbours


def _context(
    graph: ArchitectureGraph, neighbours: list[list[int]], motif: range, hops: int
) -> tuple[tuple[Op, ...], IntArray]:
    nodes = set(motif)
    border = nodes
    for _ in range(hops):
        border = {other for node in border for other in neighbours[node]} - nodes
        nodes = nodes | border
    order = sorted(nodes)
    place = {node: position for position, node in enumerate(order)}
    edges = [
        (place[node], place[other])
        for node in order
        for other in neighbours[node]
        if other in place and node < other
    ]
    array = np.array(edges, dtype=np.int32).reshape(-1, 2)
    return tuple(graph.ops[node] for node in order), array
