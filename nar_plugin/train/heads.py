"""Graphs with other heads: what the encoder is to see past.

Whoever tunes a known model replaces what comes behind its trunk: by a perceptron, by several layers
side by side, by nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nar_plugin.encoder.trunk import part, trunk
from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.layers import linear

_HIDDEN = (128, 256, 512, 1024)
_ACTIVATIONS = ("relu", "gelu", "tanh")
_MOST = 4  # heads beside one another
_CLASSES = 10  # the encoder reads no outputs of last layers
_WIDTH = 64  # where no operation states how many features it gives


def reheaded(graph: ArchitectureGraph, random: np.random.Generator) -> ArchitectureGraph:
    """The trunk of a graph with another head.

    A last linear layer becomes a perceptron, several layers or none; a graph without one gets one.

    Args:
        graph: A graph; one of a single operation is returned as it is.
        random: What draws the change.
    """
    bare = trunk(graph)
    if len(bare) < 2:
        return graph
    last = len(bare) - 1  # nothing reads it, since readers are listed behind what they read
    if bare.ops[last].kind != "linear":
        return _behind(bare, last, [linear(_width(bare), _CLASSES)])
    width = bare.ops[last].get("in")
    source = next((start for start, end in bare.edges.tolist() if end == last), None)
    if source is None or not isinstance(width, int):
        return graph
    change = random.choice(["perceptron", "several", "none"])
    if change == "several":
        for _ in range(int(random.integers(1, _MOST))):
            bare = _behind(bare, source, [linear(width, _CLASSES)])
        return bare
    headless = part(bare, np.arange(len(bare)) < last)
    if change == "none":
        return headless
    hidden = int(random.choice(_HIDDEN))
    activation = Op(str(random.choice(_ACTIVATIONS)))
    layers = [linear(width, hidden), activation, linear(hidden, _CLASSES)]
    return _behind(headless, source, layers)


def _width(graph: ArchitectureGraph) -> int:
    """How many features come out, by the last operation that says so."""
    for op in reversed(graph.ops):
        given = op.get("out") or op.get("width")
        if isinstance(given, int):
            return given
    return _WIDTH


def _behind(graph: ArchitectureGraph, source: int, ops: Sequence[Op]) -> ArchitectureGraph:
    """The graph with a chain of further operations behind one."""
    count = len(graph)
    starts = [source, *range(count, count + len(ops) - 1)]
    more = np.array([starts, range(count, count + len(ops))], dtype=np.int32).T
    return replace(
        graph,
        ops=(*graph.ops, *ops),
        paths=(*graph.paths, *[""] * len(ops)),
        edges=np.concatenate([graph.edges, more]).astype(np.int32),
    )
