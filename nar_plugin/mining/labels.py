"""Eq. 2: each operation's label after s steps, from the labels of its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

import numpy as np

from nar_plugin.tracing.graph import ArchitectureGraph, IntArray, Op

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


def node_labels(graph: ArchitectureGraph, word: Callable[[Op], str]) -> IntArray:
    """Labels C^0: equal for operations that `word` describes alike.

    Args:
        graph: The architecture.
        word: `str` for operations with all attributes, `shape_word` to leave out widths.

    Returns:
        int32[n].
    """
    words = {op: word(op) for op in set(graph.ops)}
    numbers: dict[str, int] = {}
    return np.array(
        [numbers.setdefault(words[op], len(numbers)) for op in graph.ops], dtype=np.int32
    )


def encode_neighbours(labels: IntArray, edges: IntArray, steps: int) -> IntArray:
    """Eq. 2: labels C^s, each naming the pattern of parents and children up to s steps away.

    The paper's matrix column becomes the sorted labels of the parents and of the children; a new
    pattern gets a new label. Time and memory are linear in operations and edges.

    Args:
        labels: int32[n], the labels C^0.
        edges: int32[E, 2], rows (source, target).
        steps: The number of steps s.

    Returns:
        int32[n], the labels C^s.
    """
    for _ in range(steps):
        inward: list[list[int]] = [[] for _ in labels]
        outward: list[list[int]] = [[] for _ in labels]
        before = labels.tolist()
        for source, target in edges.tolist():
            inward[target].append(before[source])
            outward[source].append(before[target])
        numbers: dict[tuple[object, ...], int] = {}
        labels = np.array(
            [
                numbers.setdefault((own, *sorted(parents), -1, *sorted(children)), len(numbers))
                for own, parents, children in zip(before, inward, outward, strict=True)
            ],
            dtype=np.int32,
        )
    return labels


def block_hash(words: list[str], edges: list[tuple[int, int]]) -> str:
    """Hash of a block's words in topological order and of its inner edges."""
    text = "|".join(words) + "#" + ";".join(f"{a},{b}" for a, b in edges)
    return blake2b(text.encode(), digest_size=8).hexdigest()
