"""Our own versioned Weisfeiler-Lehman hash of a canonical graph.

Shervashidze et al. 2011, run to the fixed point on a directed acyclic graph: each node's label is
the hash of its operation and of its inputs' labels, so one pass in topological order equals as many
rounds as the graph is deep. The graph's hash is that of the sorted labels. networkx's own changed
its values in 3.5, so nothing here comes from another library.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from nar_plugin.tracing.vocabulary import VOCABULARY_VERSION

if TYPE_CHECKING:
    from nar_plugin.tracing.graph import ArchitectureGraph, Op

FINGERPRINT_VERSION = f"nar{VOCABULARY_VERSION}"
ORDERED = frozenset({"sub", "div", "matmul", "attention", "cat", "pow", "where"})
_PARAMETRIC = frozenset({"linear", "conv"})
_SIZES = frozenset({"vocabulary"})
_HEAD_SIZES = frozenset({"vocabulary", "out"})
_WIDTHS = frozenset({"in", "out", "width", "value_width", "vocabulary"})


def fingerprint(graph: ArchitectureGraph) -> str:
    """Hash of operators, attributes, widths and edges: 16 bytes as hexadecimal text.

    Example:
        >>> import torch, nar_plugin
        >>> a = nar_plugin.trace(torch.nn.Linear(8, 8)).fingerprint
        >>> a == nar_plugin.trace(torch.nn.Linear(8, 8).double()).fingerprint
        True
    """
    return hashed(graph, [str(op) for op in graph.ops])


def design(graph: ArchitectureGraph) -> str:
    """As `fingerprint`, without the sizes of the vocabulary and of the last linear layers."""
    return hashed(graph, [f"{op.kind}{list(op.attributes)}" for op in body(graph).ops])


def body(graph: ArchitectureGraph) -> ArchitectureGraph:
    """The graph without the sizes of the vocabulary and of the last linear layers.

    A model that is tuned for other classes or other words has the same one.
    """
    ops = list(graph.ops)
    told: dict[int, Op] = {}  # equal operations, which are mostly one object, stay one
    for place in last_layers(graph):
        op = ops[place]
        ops[place] = told.setdefault(id(op), _without(op, _HEAD_SIZES))
    distinct = {id(op): op for op in ops}
    words = {key: _without(op, _SIZES) for key, op in distinct.items() if _says(op, _SIZES)}
    if words:
        ops = [words.get(id(op), op) for op in ops]
    return replace(graph, ops=tuple(ops))


def last_layers(graph: ArchitectureGraph) -> list[int]:
    """The places of the linear layers and convolutions that no other one follows.

    Looks from the outputs back to the first of them on each path, so that of a deep graph only the
    end is read.
    """
    starts, ends = graph.edges[np.argsort(graph.edges[:, 1], kind="stable")].T
    first = np.searchsorted(ends, np.arange(len(graph) + 1))
    readers = np.bincount(starts, minlength=len(graph))  # that are not yet known to lead nowhere
    found, unread = [], np.flatnonzero(readers == 0).tolist()
    while unread:
        place = unread.pop()
        if graph.ops[place].kind in _PARAMETRIC:
            found.append(place)
            continue
        for start in starts[first[place] : first[place + 1]].tolist():
            readers[start] -= 1
            if not readers[start]:
                unread.append(start)
    return found


def topology(graph: ArchitectureGraph) -> str:
    """As `fingerprint`, without any width: equal for designs that are scaled in width alone."""
    return hashed(graph, [_widthless(op) for op in graph.ops])


def _widthless(op: Op) -> str:
    said = dict(op.attributes)
    if op.kind == "conv" and said["groups"] != 1 and said["groups"] == said["in"]:
        said["groups"] = "depthwise"
    return f"{op.kind}{[pair for pair in said.items() if pair[0] not in _WIDTHS]}"


def _says(op: Op, names: frozenset[str]) -> bool:
    return any(name in names for name, _ in op.attributes)


def _without(op: Op, names: frozenset[str]) -> Op:
    return replace(op, attributes=tuple(pair for pair in op.attributes if pair[0] not in names))


def hashed(graph: ArchitectureGraph, words: list[str]) -> str:
    """Hash a graph whose operations are told by these words."""
    labels: list[bytes] = []
    for op, word, inputs in zip(graph.ops, words, graph.sources(), strict=True):
        parts = [labels[source] for source in inputs]
        if op.kind not in ORDERED:
            parts.sort()
        labels.append(blake2b(word.encode() + b"".join(parts), digest_size=12).digest())
    whole = blake2b(FINGERPRINT_VERSION.encode(), digest_size=16)
    for label in sorted(labels):
        whole.update(label)
    return whole.hexdigest()
