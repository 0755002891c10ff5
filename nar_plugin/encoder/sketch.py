"""A graph as one row of numbers: its Weisfeiler-Lehman labels and walks, weighed and hashed.

Four views hold labels, which tell of the operations more and more, and one holds walks (`VIEWS`).
In each, labels of several depths are counted, weighed by tf-idf, and projected by random signs onto
`WIDTH` numbers, which keeps cosines up to about 1 / sqrt(WIDTH) (Achlioptas, Database-friendly
random projections, JCSS 2003; the signs come from the label itself, as in feature hashing,
Weinberger et al., ICML 2009). Nothing is trained but the document frequencies. The sizes of the
vocabulary and of the last linear layers are not told (`tracing.fingerprint.body`), nor what reads
the results out (`trunk`): a model that is tuned for ten classes is the one that it was before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nar_plugin.encoder import words
from nar_plugin.encoder.relabelling import Hashes, mixed, nodes_of, surroundings, walks
from nar_plugin.encoder.trunk import trunk
from nar_plugin.encoder.words import pointwise
from nar_plugin.tracing.fingerprint import body
from nar_plugin.tracing.graph import ArchitectureGraph, Op

SKETCH_VERSION = "9"  # of what follows and of sizes.py: an encoder is fitted to one
WIDTH = 2048  # numbers of one view
SIGNS = 4  # places among them that a label is added to
RARE = 3  # labels of fewer graphs are as rare as those of one


class View(NamedTuple):
    """What is told of an operation, and how far a label looks.

    Attributes:
        word: What is told.
        depth: Steps of relabelling, or edges of the longest walk.
        walks: Whether labels are of walks.
    """

    word: Callable[[Op], str]
    depth: int
    walks: bool = False


VIEWS = (
    View(words.role, 2),
    View(words.shape, 1),
    View(words.exact, 1),
    View(words.width, 0),
    View(words.role, 4, walks=True),
)
SKETCH = WIDTH * len(VIEWS)
LABELS = WIDTH * sum(not view.walks for view in VIEWS)  # of those are of labels: the first views
WIDTHLESS = WIDTH * 2  # of those are blind to widths: the first two views


class Counts(NamedTuple):
    """Tokens of one view and depth: which graph has which label how often.

    Attributes:
        view: Number of the view.
        graphs: int64[T].
        labels: uint64[T], salted by view and depth.
        counts: int64[T].
    """

    view: int
    graphs: NDArray[np.int64]
    labels: Hashes
    counts: NDArray[np.int64]


class Frequencies(NamedTuple):
    """In how many of `total` graphs the labels occur that are not rare.

    Attributes:
        labels: uint64[L], ascending.
        graphs: int32[L].
        total: The number of graphs.
    """

    labels: Hashes
    graphs: NDArray[np.int32]
    total: int


def frequencies(graphs: Sequence[ArchitectureGraph]) -> Frequencies:
    """Count the graphs that have each label."""
    every = np.concatenate([level.labels for level in _levels(graphs)])
    labels, counts = np.unique(every, return_counts=True)
    kept = counts >= RARE
    return Frequencies(labels[kept], counts[kept].astype(np.int32), len(graphs))


def sketch(graphs: Sequence[ArchitectureGraph], known: Frequencies) -> NDArray[np.float32]:
    """One row for each graph.

    A label weighs ln(1 + count) * ln((1 + total) / (1 + graphs that have it)). The tokens of one
    depth, and then those of one view, are scaled to length 1.

    Returns:
        float32[n, SKETCH].
    """
    rows = np.zeros(len(graphs) * SKETCH, dtype=np.float64)
    for level in _levels(graphs):
        weights = np.log1p(level.counts) * _inverse(level.labels, known)
        squares = np.bincount(level.graphs, weights**2, minlength=len(graphs))
        weights /= np.sqrt(np.maximum(squares, 1e-12))[level.graphs]
        start = level.graphs * SKETCH + level.view * WIDTH
        for number in range(SIGNS):
            bits = mixed(level.labels + np.uint64(number))
            place = start + (bits % np.uint64(WIDTH)).astype(np.int64)
            signs = 1.0 - 2.0 * (bits >> np.uint64(63)).astype(np.float64)
            rows += np.bincount(place, weights * signs, minlength=len(rows))
    views = rows.reshape(len(graphs), len(VIEWS), WIDTH)
    lengths = np.sqrt((views**2).sum(axis=2, keepdims=True))
    scaled: NDArray[np.float32] = (views / np.maximum(lengths, 1e-12)).astype(np.float32)
    return scaled.reshape(len(graphs), SKETCH)


def _inverse(labels: Hashes, known: Frequencies) -> NDArray[np.float64]:
    frequency = np.ones(len(labels))
    if len(known.labels):
        places = np.searchsorted(known.labels, labels).clip(max=len(known.labels) - 1)
        found = known.labels[places] == labels
        frequency[found] = known.graphs[places[found]]
    return np.log((1 + known.total) / (1 + frequency))


def _levels(graphs: Sequence[ArchitectureGraph]) -> Iterator[Counts]:
    graphs = [trunk(body(graph)) for graph in graphs]
    for number, view in enumerate(VIEWS):
        nodes = nodes_of(graphs, _told(view))
        levels = walks(nodes, view.depth) if view.walks else surroundings(nodes, view.depth)
        for depth, (owners, labels) in enumerate(levels):
            salted = mixed(labels ^ np.uint64(1 + number * 16 + depth))
            yield Counts(number, *_counted(owners, salted))


def _told(view: View) -> Callable[[Op], str]:
    """What a view tells of an operation: of a pointwise convolution, what of a linear layer."""
    return lambda op: view.word(pointwise(op))


def _counted(
    graphs: NDArray[np.int64], labels: Hashes
) -> tuple[NDArray[np.int64], Hashes, NDArray[np.int64]]:
    """Distinct pairs of graph and label, and how often each occurs."""
    order = np.lexsort((labels, graphs))
    graphs, labels = graphs[order], labels[order]
    new = np.ones(len(labels), dtype=bool)
    new[1:] = (graphs[1:] != graphs[:-1]) | (labels[1:] != labels[:-1])
    starts = np.flatnonzero(new)
    return graphs[starts], labels[starts], np.diff(np.append(starts, len(labels)))
