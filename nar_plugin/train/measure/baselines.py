"""Training-free embeddings of graphs, which every trained encoder has to beat.

Each takes n graphs and gives n rows of length 1, compared by cosine. All are bags of tokens with
tf-idf weights (but for the random one); the inverse document frequencies are those of the n graphs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from nar_plugin.encoder import words
from nar_plugin.encoder.relabelling import Hashes, Operations, surroundings
from nar_plugin.tracing.graph import ArchitectureGraph
from nar_plugin.train.measure.metrics import Vectors

_RANDOM_WIDTH = 64


def random_rows(graphs: Sequence[ArchitectureGraph], *, seed: int = 0) -> Vectors:
    """float32[n, 64]: what no method may fall below."""
    rows = np.random.default_rng(seed).normal(size=(len(graphs), _RANDOM_WIDTH))
    unit: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(
        np.float32
    )
    return unit


def op_histogram(graphs: Sequence[ArchitectureGraph]) -> Vectors:
    """How often each kind of operation occurs."""
    nodes = Operations.of(graphs).labelled(words.kind)
    return tf_idf([_counts(nodes.labels, nodes.graphs, len(graphs))])


def width_histogram(graphs: Sequence[ArchitectureGraph]) -> Vectors:
    """How often each kind of operation gives each number of channels or features."""
    nodes = Operations.of(graphs).labelled(words.width)
    told = nodes.labels != 0
    return tf_idf([_counts(nodes.labels[told], nodes.graphs[told], len(graphs))])


def wl_histogram(
    graphs: Sequence[ArchitectureGraph], *, depth: int, attributes: bool = False
) -> Vectors:
    """How often each Weisfeiler-Lehman label occurs, of all depths up to one.

    See `nar_plugin.encoder.relabelling`.

    Args:
        graphs: The n graphs.
        depth: Steps of relabelling.
        attributes: Whether the first label is the kind with all attributes, widths among them,
            or the kind alone.
    """
    nodes = Operations.of(graphs).labelled(words.exact if attributes else words.kind)
    return tf_idf(
        [
            _counts(labels, nodes.graphs[places], len(graphs))
            for places, labels in surroundings(nodes, depth)
        ]
    )


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


def _counts(labels: Hashes, graphs: NDArray[np.int64], count: int) -> sparse.csr_array:
    """float32[count, distinct labels]: how often each label occurs in each graph."""
    distinct, columns = np.unique(labels, return_inverse=True)
    ones = np.ones(len(labels), dtype=np.float32)
    table = sparse.coo_array((ones, (graphs, columns)), shape=(count, len(distinct)))
    return table.tocsr()
