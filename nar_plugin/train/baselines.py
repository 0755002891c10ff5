"""Training-free embeddings of graphs, which every trained encoder has to beat.

Each takes n graphs and gives n rows of length 1, compared by cosine. All are bags of tokens with
tf-idf weights (but for the random one); the inverse document frequencies are those of the n graphs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.metrics import Vectors

Hashes = NDArray[np.uint64]
_RANDOM_WIDTH = 64
_WIDTHS = ("out", "width", "value_width")  # attributes that state what an operation gives


def random_rows(graphs: Sequence[ArchitectureGraph], *, seed: int = 0) -> Vectors:
    """float32[n, 64]: what no method may fall below."""
    rows = np.random.default_rng(seed).normal(size=(len(graphs), _RANDOM_WIDTH))
    unit: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(
        np.float32
    )
    return unit


def op_histogram(graphs: Sequence[ArchitectureGraph]) -> Vectors:
    """How often each kind of operation occurs."""
    nodes = _nodes(graphs, _kind)
    return tf_idf([_counts(nodes.labels, nodes.graphs, len(graphs))])


def width_histogram(graphs: Sequence[ArchitectureGraph]) -> Vectors:
    """How often each kind of operation gives each number of channels or features."""
    nodes = _nodes(graphs, _width)
    told = nodes.labels != 0
    return tf_idf([_counts(nodes.labels[told], nodes.graphs[told], len(graphs))])


def wl_histogram(
    graphs: Sequence[ArchitectureGraph], *, depth: int, attributes: bool = False
) -> Vectors:
    """How often each Weisfeiler-Lehman label occurs, of all depths up to one.

    A label of depth d + 1 hashes that of depth d with the multisets of the labels of depth d
    before and behind the node (Shervashidze et al., Weisfeiler-Lehman Graph Kernels, JMLR 2011;
    theirs has one multiset, of undirected neighbours).

    Args:
        graphs: The n graphs.
        depth: Steps of relabelling.
        attributes: Whether the first label is the kind with all attributes, widths among them,
            or the kind alone.
    """
    nodes = _nodes(graphs, str if attributes else _kind)
    labels = nodes.labels
    counts = [_counts(labels, nodes.graphs, len(graphs))]
    for _ in range(depth):
        labels = _relabelled(labels, nodes.edges)
        counts.append(_counts(labels, nodes.graphs, len(graphs)))
    return tf_idf(counts)


def wl_beside_widths(graphs: Sequence[ArchitectureGraph], *, depth: int) -> Vectors:
    """The rows of `wl_histogram` and of `width_histogram` side by side: the mean of the cosines."""
    halves = [wl_histogram(graphs, depth=depth), width_histogram(graphs)]
    return sparse.hstack([half * np.float32(np.sqrt(0.5)) for half in halves], format="csr")


def tf_idf(counts: Sequence[sparse.csr_array]) -> sparse.csr_array:
    """Rows of length 1 from counts of tokens, the blocks side by side.

    A token weighs (1 + ln count) * (1 + ln((1 + n) / (1 + graphs that have it))), as
    scikit-learn's TfidfTransformer with `sublinear_tf`. What a single graph has lengthens its row
    and is then left out, since it meets no other.

    Shapes:
        counts: each float32[n, tokens of the block].
    """
    table = sparse.hstack(counts, format="csr").astype(np.float32)
    frequency = np.bincount(table.indices, minlength=table.shape[1])
    table.data = 1 + np.log(table.data)
    inverse = 1 + np.log((1 + table.shape[0]) / (1 + frequency))
    table.data *= inverse.astype(np.float32)[table.indices]
    lengths = np.sqrt(table.multiply(table).sum(axis=1))
    table.data /= np.repeat(np.maximum(lengths, 1e-12), np.diff(table.indptr))
    return table[:, np.flatnonzero(frequency > 1)]


@dataclass(frozen=True)
class _Nodes:
    """All operations of all graphs in one row.

    Attributes:
        labels: uint64[N], the first label of each; 0 where there is none.
        graphs: int32[N], the graph of each.
        edges: int64[E, 2], numbered over all graphs.
    """

    labels: Hashes
    graphs: NDArray[np.int32]
    edges: NDArray[np.int64]


def _nodes(graphs: Sequence[ArchitectureGraph], word: Callable[[Op], str]) -> _Nodes:
    sizes = np.array([len(graph) for graph in graphs], dtype=np.int64)
    starts = np.concatenate([[0], sizes.cumsum()])
    known: dict[int, int] = {}  # equal operations are mostly one object
    labels = np.fromiter(
        _labels((op for graph in graphs for op in graph.ops), word, known), np.uint64, starts[-1]
    )
    edges = [
        graph.edges.astype(np.int64) + start
        for graph, start in zip(graphs, starts[:-1], strict=True)
    ]
    owner = np.repeat(np.arange(len(graphs), dtype=np.int32), sizes)
    return _Nodes(labels, owner, np.concatenate(edges) if edges else np.zeros((0, 2), np.int64))


def _labels(ops: Iterable[Op], word: Callable[[Op], str], known: dict[int, int]) -> Iterable[int]:
    for op in ops:
        label = known.get(id(op))
        if label is None:
            label = known[id(op)] = _hash(word(op))
        yield label


def _hash(text: str) -> int:
    """64 bits of a text; 0 of an empty one."""
    if not text:
        return 0
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") | 1


def _kind(op: Op) -> str:
    return op.kind


def _width(op: Op) -> str:
    widths = [op.get(name) for name in _WIDTHS]
    width = next((width for width in widths if width is not None), None)
    return f"{op.kind} {width}" if width is not None else ""


def _relabelled(labels: Hashes, edges: NDArray[np.int64]) -> Hashes:
    """uint64[N]: each label with the sums of the mixed labels before and behind it."""
    mixed = _mixed(labels)
    before, behind = np.zeros_like(labels), np.zeros_like(labels)
    np.add.at(before, edges[:, 1], mixed[edges[:, 0]])
    np.add.at(behind, edges[:, 0], mixed[edges[:, 1]])
    return _mixed(mixed + _mixed(before) * np.uint64(3) + _mixed(behind) * np.uint64(5))


def _mixed(values: Hashes) -> Hashes:
    """The finalizer of splitmix64 (Steele, Lea & Flood, OOPSLA 2014), modulo 2^64."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _counts(labels: Hashes, graphs: NDArray[np.int32], count: int) -> sparse.csr_array:
    """float32[count, distinct labels]: how often each label occurs in each graph."""
    distinct, columns = np.unique(labels, return_inverse=True)
    ones = np.ones(len(labels), dtype=np.float32)
    table = sparse.coo_array((ones, (graphs, columns)), shape=(count, len(distinct)))
    return table.tocsr()
