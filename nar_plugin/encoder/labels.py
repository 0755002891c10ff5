"""What stands around the operations of a graph, as counted labels.

A *label* says what an operation is and, at greater depth, what stands around it
(`relabelling.py`). A *view* says how much of it is told and how far it looks: from the bare role
of an operation alone to all its attributes with those of its neighbours. Two designs correspond as
far as they have the same labels equally often (`nar_plugin.likeness.overlap`), and the encoder
reads the same labels.

The sizes of the vocabulary and of the last linear layers are not told (`tracing.fingerprint.body`),
nor what reads the results out (`trunk`): a model that is tuned for ten classes is the one that it
was before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nar_plugin.encoder import words
from nar_plugin.encoder.relabelling import Hashes, Operations, mixed, surroundings, walks
from nar_plugin.encoder.trunk import trunk
from nar_plugin.encoder.words import pointwise
from nar_plugin.tracing.fingerprint import body
from nar_plugin.tracing.graph import ArchitectureGraph, Op

LABELS_VERSION = "1"  # of what follows: encoders and stored labels are of one


class View(NamedTuple):
    """One way to label the operations of a graph.

    Attributes:
        name: For people.
        word: What is told of an operation.
        depth: Steps of relabelling, or edges of a walk.
        walks: Whether labels are of walks.
    """

    name: str
    word: Callable[[Op], str]
    depth: int
    walks: bool = False


VIEWS = (
    View("role", words.role, 0),
    View("role, neighbours", words.role, 1),
    View("kind, neighbours", words.kind, 1),
    View("shape", words.shape, 0),
    View("shape, neighbours", words.shape, 1),
    View("exact", words.exact, 0),
    View("exact, neighbours", words.exact, 1),
    View("role, two steps", words.role, 2),
    View("width", words.width, 0),
    View("walk of three", words.role, 3, walks=True),
)

COMPARED = 6  # of the views count in an overlap, the first; the encoder reads all
WIDTHLESS = 5  # of these tell no width, the first


class Counts(NamedTuple):
    """Which graph has which label how often, sorted by graph, then by view, then by label.

    Attributes:
        graphs: int64[T].
        views: uint8[T], number of the view in `VIEWS`.
        labels: uint64[T], different for different views.
        counts: int64[T].
    """

    graphs: NDArray[np.int64]
    views: NDArray[np.uint8]
    labels: Hashes
    counts: NDArray[np.int64]


class Placed(NamedTuple):
    """The labels of one view, each with the operation that it is of.

    Attributes:
        view: Number of the view.
        places: int64[M], the operation, numbered over all graphs; of a walk, the first.
        labels: uint64[M].
    """

    view: int
    places: NDArray[np.int64]
    labels: Hashes


def read(graph: ArchitectureGraph) -> ArchitectureGraph:
    """What of a graph is labelled: without readouts, and without the sizes of head and words."""
    return trunk(body(graph))


def counts_of(graphs: Sequence[ArchitectureGraph]) -> Counts:
    """Count the labels of graphs."""
    graphs = [read(graph) for graph in graphs]
    owners = np.repeat(np.arange(len(graphs)), [len(graph) for graph in graphs])
    parts = [_counted(placed.view, owners, placed, len(graphs)) for placed in placed_labels(graphs)]
    found = joined(parts)
    order = np.argsort(found.graphs * len(VIEWS) + found.views, kind="stable")
    return Counts(found.graphs[order], found.views[order], found.labels[order], found.counts[order])


def joined(parts: Sequence[Counts]) -> Counts:
    """The labels of several, one after the other; their graphs keep their numbers."""
    return Counts(
        np.concatenate([part.graphs for part in parts]),
        np.concatenate([part.views for part in parts]),
        np.concatenate([part.labels for part in parts]),
        np.concatenate([part.counts for part in parts]),
    )


def placed_labels(graphs: Sequence[ArchitectureGraph], views: int = len(VIEWS)) -> Iterator[Placed]:
    """The labels of each view, or of the first ones.

    Args:
        graphs: As `read` gives them.
        views: How many.
    """
    operations = Operations.of(graphs)
    # Of a convolution of one point it is told what is told of a linear layer.
    told = replace(operations, distinct=[pointwise(op) for op in operations.distinct])
    for word, group in _grouped(views):
        nodes = told.labelled(word)
        around = max((view.depth for _, view in group if not view.walks), default=-1)
        along = max((view.depth for _, view in group if view.walks), default=0)
        found = {(False, depth): each for depth, each in enumerate(surroundings(nodes, around))}
        if along:
            every = enumerate(walks(nodes, along), start=1)
            found |= {(True, depth): each for depth, each in every}
        for number, view in group:
            places, labels = found[view.walks, view.depth]
            yield Placed(number, places, mixed(labels ^ np.uint64(number + 1)))


def _grouped(views: int) -> list[tuple[Callable[[Op], str], list[tuple[int, View]]]]:
    """The views of each word, numbered: one relabelling serves all depths."""
    groups: dict[Callable[[Op], str], list[tuple[int, View]]] = {}
    for number, view in enumerate(VIEWS[:views]):
        groups.setdefault(view.word, []).append((number, view))
    return list(groups.items())


def _counted(view: int, owners: NDArray[np.int64], placed: Placed, graphs: int) -> Counts:
    """Distinct pairs of graph and label, sorted, and how often each occurs."""
    owner, labels = owners[placed.places], placed.labels.copy()
    # Graph by graph: a sort of few labels takes a tenth of a sort of all by two keys.
    borders = np.searchsorted(owner, np.arange(graphs + 1)).tolist()
    for start, stop in pairwise(borders):
        labels[start:stop].sort()
    new = np.ones(len(labels), dtype=bool)
    new[1:] = (owner[1:] != owner[:-1]) | (labels[1:] != labels[:-1])
    starts = np.flatnonzero(new)
    counts = np.diff(np.append(starts, len(labels)))
    views = np.full(len(starts), view, dtype=np.uint8)
    return Counts(owner[starts], views, labels[starts], counts)
