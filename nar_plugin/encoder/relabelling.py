"""Weisfeiler-Lehman labels and walks of the operations of many graphs at once.

A label of depth d + 1 hashes that of depth d with the multisets of the labels of depth d before and
behind the node (Shervashidze et al., Weisfeiler-Lehman Graph Kernels, JMLR 2011; theirs has one
multiset, of undirected neighbours). Labels are 64 bits, the same on every machine and version, and
do not depend on the order in which operations were called.

A walk goes along the edges; its label hashes those of its operations in turn (Gaertner, Flach &
Wrobel, COLT 2003), and how far each of its edges skips. A change of one operation changes every
label of its neighbourhood, and of walks only those that pass it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from nar_plugin.tracing.graph import ArchitectureGraph, Op

Hashes = NDArray[np.uint64]
MOST_WALKS = 100_000  # of one length in one graph; a graph with more is walked no further


@dataclass(frozen=True)
class Nodes:
    """All operations of all graphs in one row.

    Attributes:
        labels: uint64[N], the first label of each; 0 where there is none.
        graphs: int64[N], the graph of each.
        edges: int64[E, 2], numbered over all graphs, between nodes that have a label.
    """

    labels: Hashes
    graphs: NDArray[np.int64]
    edges: NDArray[np.int64]


@dataclass(frozen=True)
class Operations:
    """Graphs side by side, their operations numbered so that each is put into words once.

    Attributes:
        distinct: The d operations that differ as objects; equal ones are mostly one object.
        numbers: int64[N], which of them each operation of each graph is.
        graphs: int64[N], the graph of each.
        edges: int64[E, 2], numbered over all graphs.
    """

    distinct: Sequence[Op]
    numbers: NDArray[np.int64]
    graphs: NDArray[np.int64]
    edges: NDArray[np.int64]

    @classmethod
    def of(cls, graphs: Sequence[ArchitectureGraph]) -> Self:
        """Put graphs side by side."""
        every = [op for graph in graphs for op in graph.ops]
        distinct = {id(op): op for op in every}
        known = {key: number for number, key in enumerate(distinct)}
        numbers = np.fromiter((known[id(op)] for op in every), np.int64, len(every))
        sizes = np.array([len(graph) for graph in graphs], dtype=np.int64)
        starts = sizes.cumsum() - sizes
        edges = [
            graph.edges.astype(np.int64) + start
            for graph, start in zip(graphs, starts, strict=True)
        ]
        joined = np.concatenate(edges) if edges else np.zeros((0, 2), np.int64)
        return cls(
            list(distinct.values()), numbers, np.repeat(np.arange(len(graphs)), sizes), joined
        )

    def labelled(self, word: Callable[[Op], str]) -> Nodes:
        """The operations, each labelled by the hash of its word.

        Args:
            word: What is told of an operation. One with an empty text has the label 0 and is
                passed by: what reads it reads its first input.
        """
        hashes = np.array([hash_of(word(op)) for op in self.distinct], dtype=np.uint64)
        labels = hashes[self.numbers]
        return Nodes(labels, self.graphs, _between_labelled(labels, self.edges))


def _between_labelled(labels: Hashes, edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[F, 2]: the edges, each from the nearest labelled node ahead of its start."""
    nowhere = len(labels)  # a last node, for starts with nothing ahead of them
    nearest = np.arange(nowhere + 1)
    unlabelled = np.append(labels == 0, False)
    nearest[unlabelled] = nowhere
    hidden = edges[unlabelled[edges[:, 1]]][::-1]  # so that the first of equal ends is kept
    nearest[hidden[:, 1]] = hidden[:, 0]
    while unlabelled[nearest].any():
        nearest = nearest[nearest]
    starts, ends = nearest[edges[:, 0]], edges[:, 1]
    kept = (starts != nowhere) & ~unlabelled[ends]
    return np.stack([starts[kept], ends[kept]], axis=1)


def surroundings(nodes: Nodes, deepest: int) -> Iterator[tuple[NDArray[np.int64], Hashes]]:
    """The labels of depths 0 to `deepest` of the nodes that have one, by depth.

    Yields:
        int64[M], the node of each label, and uint64[M], the label.
    """
    labels, told = nodes.labels, np.flatnonzero(nodes.labels)
    for depth in range(deepest + 1):
        yield told, labels[told]
        if depth < deepest:
            labels = relabelled(labels, nodes.edges)


def relabelled(labels: Hashes, edges: NDArray[np.int64]) -> Hashes:
    """uint64[N]: each label with the sums of the mixed labels before and behind it."""
    values = mixed(labels)
    before, behind = np.zeros_like(labels), np.zeros_like(labels)
    np.add.at(before, edges[:, 1], values[edges[:, 0]])
    np.add.at(behind, edges[:, 0], values[edges[:, 1]])
    return mixed(values + mixed(before) * np.uint64(3) + mixed(behind) * np.uint64(5))


def walks(nodes: Nodes, longest: int) -> Iterator[tuple[NDArray[np.int64], Hashes]]:
    """The walks of 1 to `longest` edges, by length.

    Yields:
        int64[W], the first node of each walk, and uint64[W], its label.
    """
    order = np.argsort(nodes.edges[:, 0], kind="stable")
    edges, far = nodes.edges[order], skipped(nodes)[order].astype(np.uint64)
    degrees = np.bincount(edges[:, 0], minlength=len(nodes.labels))
    first = degrees.cumsum() - degrees  # edge of each node
    values = mixed(nodes.labels)
    steps = values[edges[:, 1]] + mixed(far) * (far > 0)  # what each edge adds to a walk
    firsts, ends = edges[:, 0], edges[:, 1]
    labels = mixed(values[firsts] * np.uint64(3) + steps)
    for _ in range(longest - 1):
        yield firsts, labels
        ways, graphs = degrees[ends], nodes.graphs[firsts]
        ways[np.bincount(graphs, ways)[graphs] > MOST_WALKS] = 0
        walk = np.repeat(np.arange(len(ends)), ways)
        way = np.arange(len(walk)) - np.repeat(ways.cumsum() - ways, ways)
        taken = first[ends[walk]] + way
        ends = edges[taken, 1]
        firsts, labels = firsts[walk], mixed(labels[walk] * np.uint64(3) + steps[taken])
    yield firsts, labels


def skipped(nodes: Nodes) -> NDArray[np.int64]:
    """int64[E]: how many operations each edge passes by, by power of two, and 0 for none.

    An operation stands one step behind the farthest of its inputs. An edge of more than one step
    skips: ResNet's over the layers of a block, U-Net's over all that lies below.
    """
    heights = [0] * len(nodes.labels)
    order = np.argsort(nodes.edges[:, 1], kind="stable")  # edges to a node before those from it
    for start, end in zip(*nodes.edges[order].T.tolist(), strict=True):
        if heights[start] >= heights[end]:
            heights[end] = heights[start] + 1
    steps = np.diff(np.array(heights)[nodes.edges], axis=1)[:, 0]
    return np.where(steps > 1, np.frexp(steps)[1], 0)


def mixed(values: Hashes) -> Hashes:
    """The finalizer of splitmix64 (Steele, Lea & Flood, OOPSLA 2014), modulo 2^64."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def hash_of(text: str) -> int:
    """64 bits of a text, odd; 0 of an empty one."""
    if not text:
        return 0
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") | 1
