"""One backbone under other heads, stems and widths of the vocabulary."""

import numpy as np
import pytest

from nar_plugin.encoder.backbone import backbone
from nar_plugin.mining import mine
from nar_plugin.tracing.fingerprint import design
from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.fit.edits import edited
from nar_plugin.train.fit.written_operations import layer_norm, linear


def perceptrons(width=16, blocks=6):
    """Residual perceptrons behind an embedding, and a head."""
    ops, edges = [Op("embedding", (("vocabulary", 100), ("width", width)))], []
    for _ in range(blocks):
        start = len(ops) - 1
        inside = [layer_norm(width), linear(width, 4 * width), Op("relu"), linear(4 * width, width)]
        edges += [(start + step, start + step + 1) for step in range(5)] + [(start, start + 5)]
        ops += [*inside, Op("add")]
    edges.append((len(ops) - 1, len(ops)))
    ops.append(linear(width, 10))
    return ArchitectureGraph(tuple(ops), np.array(edges, np.int32), ("",) * len(ops))


def backbone_of(graph):
    return backbone(mine(graph), design(graph))


@pytest.mark.parametrize("kind", ["no head", "head", "no embeddings"])
def test_another_head_or_stem_leaves_the_backbone(kind):
    graph = perceptrons()
    other = edited(graph, kind, np.random.default_rng(0))
    assert other.fingerprint != graph.fingerprint
    assert backbone_of(other) == backbone_of(graph)


@pytest.mark.parametrize("kind", ["norm", "gate", "deeper", "inner width"])
def test_another_block_number_of_blocks_or_width_is_another_backbone(kind):
    graph = perceptrons()
    other = edited(graph, kind, np.random.default_rng(0))
    assert backbone_of(other) != backbone_of(graph)


def test_without_a_repeated_block_it_is_the_design():
    ops = (linear(8, 16), Op("relu"), linear(16, 4))
    graph = ArchitectureGraph(ops, np.array([[0, 1], [1, 2]], np.int32), ("",) * 3)
    assert backbone_of(graph) == design(graph)
