"""Eq. 2: each operation's label after s steps, from the labels of its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from nar_plugin.tracing.graph import ArchitectureGraph, IntArray, Op

Patterns = NDArray[np.uint64]

# What tells one block design from another; widths, which grow from stage to stage, do not.
_DESIGN = frozenset(
    {
        "kernel",
        "stride",
        "dilation",
        "transposed",
        "operand",
        "approximate",
        "exponent",
        "dims",
        "mode",
        "slope",
        "bidirectional",
        "output",
        "affine",
        "factor",
    }
)


def shape_word(op: Op) -> str:
    """An operation without its widths: kind, kernel, stride, and how it treats its channels."""
    words = [op.kind]
    words += [f"{name}={value}" for name, value in op.attributes if name in _DESIGN]
    groups = op.get("groups")
    if isinstance(groups, int) and groups > 1 and op.kind == "conv":
        words.append("depthwise" if groups == op.get("in") else "grouped")
    return " ".join(words)


def outer_word(op: Op) -> str:
    """An operation by what stays the same in the first block of a stage: kind and kernel."""
    words = [op.kind, str(op.get("kernel", ""))]
    groups = op.get("groups")
    if isinstance(groups, int) and groups > 1 and op.kind == "conv":
        words.append("depthwise" if groups == op.get("in") else "grouped")
    return " ".join(words)


def node_labels(graph: ArchitectureGraph, word: Callable[[Op], str]) -> IntArray:
    """Labels C^0: equal for operations that `word` describes alike.

    Args:
        graph: The architecture.
        word: `str` for operations with all attributes, `shape_word` to leave out widths.

    Returns:
        int32[n], numbered in order of their first operation.
    """
    places = [id(op) for op in graph.ops]  # equal operations mostly are one object
    distinct = dict(zip(places, graph.ops, strict=True))
    numbers: dict[str, int] = {}
    known = {place: numbers.setdefault(word(op), len(numbers)) for place, op in distinct.items()}
    return np.array([known[place] for place in places], dtype=np.int32)


def encode_neighbours(labels: IntArray, edges: IntArray, steps: int) -> IntArray:
    """Eq. 2: labels C^s, each naming the pattern of parents and children up to s steps away.

    The paper's matrix column becomes the multisets of the labels of the parents and of the
    children; a new pattern gets a new label. Time and memory are linear in operations and edges,
    but for a sort.

    Args:
        labels: int32[n], the labels C^0.
        edges: int32[E, 2], rows (source, target).
        steps: The number of steps s.

    Returns:
        int32[n], the labels C^s, numbered in order of their first operation.
    """
    for _ in range(steps):
        labels = _numbered(neighbour_patterns(labels, edges))
    return labels


def neighbour_patterns(labels: IntArray | Patterns, edges: IntArray) -> Patterns:
    """uint64[n], a hash of each label, those of its parents and those of its children."""
    patterns = _hashes(labels, 0)
    np.add.at(patterns, edges[:, 1], _hashes(labels, 1)[edges[:, 0]])
    np.add.at(patterns, edges[:, 0], _hashes(labels, 2)[edges[:, 1]])
    return patterns


def encode_children(labels: IntArray, edges: IntArray) -> IntArray:
    """As one step of `encode_neighbours`, blind to the parents: the first block has others."""
    patterns = _hashes(labels, 0)
    np.add.at(patterns, edges[:, 0], _hashes(labels, 2)[edges[:, 1]])
    return _numbered(patterns)


def _hashes(labels: IntArray | Patterns, role: int) -> Patterns:
    """uint64[n], a hash of each label in a role (splitmix64), such that sums name multisets."""
    mixed = labels.astype(np.uint64) * np.uint64(3) + np.uint64(role + 1)
    mixed *= np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def _numbered(patterns: Patterns) -> IntArray:
    """int32[n], equal numbers for equal patterns, in order of their first place."""
    _, first, inverse = np.unique(patterns, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[inverse]


def block_hash(words: list[str], edges: list[tuple[int, int]]) -> str:
    """Hash of a block's words in topological order and of its inner edges."""
    text = "|".join(words) + "#" + ";".join(f"{a},{b}" for a, b in edges)
    return blake2b(text.encode(), digest_size=8).hexdigest()
