"""Finds the repeated subsequences of a labelled graph: blocks that follow one another."""

from __future__ import annotations

import numpy as np

from nar_plugin.mining.anchors import anchors
from nar_plugin.mining.borders import Borders
from nar_plugin.mining.extension import extended
from nar_plugin.mining.halves import whole
from nar_plugin.mining.interleaved import with_other_kinds
from nar_plugin.mining.likeness import Likeness
from nar_plugin.mining.segmentation import Repeat, best_repeats
from nar_plugin.mining.segments import segments
from nar_plugin.mining.step_labels import (
    encode_children,
    encode_neighbours,
    node_labels,
    outer_word,
    shape_word,
)
from nar_plugin.tracing.graph import ArchitectureGraph, IntArray

STEPS = 1  # s of Eq. 2
ONE_STACK = 0.35  # likeness of two blocks that meet, from which on they are of one stack


def repeated_blocks(graph: ArchitectureGraph, borders: Borders | None = None) -> list[Repeat]:
    """The stacks of blocks of one design, from operators, attributes and edges.

    Blocks need not be equal: they may differ by a projection, by the kind of attention or by the
    experts of every other layer. Where a graph can be cut in several ways, the one whose copies
    save most operations is taken.

    Args:
        graph: The architecture; its module paths are not read.
        borders: What crosses between its operations, where that is known already.

    Returns:
        Disjoint repeats in order, each of two blocks or more.
    """
    if len(graph) < 2:
        return []
    borders = borders or Borders(graph)
    plain = node_labels(graph, shape_word)
    encoded = encode_neighbours(plain, graph.edges, STEPS)
    joins = borders.joins()
    likeness = Likeness((plain, encoded, node_labels(graph, str)), joins)
    beginnings = encode_children(node_labels(graph, outer_word), graph.edges)
    thin = borders.thin()
    candidates = segments(anchors(beginnings, thin), likeness, plain, borders.appeal())
    found = [whole(repeat, borders.values) for repeat in best_repeats(candidates, len(graph))]
    cuts = np.append(thin, np.int32(len(graph)))
    longer: list[Repeat] = []
    for number, repeat in enumerate(found):
        left = longer[-1].stop if longer else 0
        right = found[number + 1].starts[0] if number + 1 < len(found) else len(graph)
        longer.append(extended(repeat, left, right, likeness, cuts))
    merged = _merged(longer, likeness)
    rights = [repeat.starts[0] for repeat in merged[1:]] + [len(graph)] * bool(merged)
    return [
        with_other_kinds(repeat, right, plain, joins)
        for repeat, right in zip(merged, rights, strict=True)
    ]


def _merged(repeats: list[Repeat], likeness: Likeness) -> list[Repeat]:
    """Repeats that meet in blocks that are alike are one: a stack whose blocks change in width."""
    result: list[Repeat] = []
    for repeat in repeats:
        last = result[-1] if result else None
        if last is not None and last.stop == repeat.starts[0]:
            block = (_array(last.starts[-1]), _array(last.stop))
            alike = likeness.of(block, (_array(repeat.starts[0]), _array(repeat.starts[1])))
            if alike[0] >= ONE_STACK:
                result[-1] = Repeat(last.starts + repeat.starts, repeat.stop)
                continue
        result.append(repeat)
    return result


def _array(position: int) -> IntArray:
    return np.array([position], dtype=np.int32)
