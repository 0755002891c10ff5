"""The loss of Eq. 5 and context graphs, by hand."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional

pytest.importorskip("tqdm")

from nar_plugin.mining import MacroGraph, Motif
from nar_plugin.tracing.graph import ArchitectureGraph, Op
from nar_plugin.train.context import blocks_with_context
from nar_plugin.train.pretrain import contrastive_loss


def test_equation_5_by_hand():
    # Three unit vectors: a, b alike (cosine 1), c at a right angle; a and b are one family.
    vectors = torch.tensor([[1.0, 0], [1, 0], [0, 1]])
    loss = contrastive_loss(vectors, torch.tensor([0, 0, 1]), temperature=1.0)
    # For a and b: -log(e / (e + 1)); c has no partner and does not count.
    assert float(loss) == pytest.approx(-math.log(math.e / (math.e + 1)))


def test_equation_5_equals_cross_entropy_when_each_has_one_partner():
    torch.manual_seed(0)
    vectors = functional.normalize(torch.randn(8, 16), dim=1)
    labels = torch.arange(4).repeat(2)
    logits = (vectors @ vectors.T / 0.1).fill_diagonal_(-torch.inf)
    partner = torch.arange(8).roll(4)
    expected = functional.cross_entropy(logits, partner)
    torch.testing.assert_close(contrastive_loss(vectors, labels, 0.1), expected)


def test_a_batch_without_pairs_has_no_loss():
    assert float(contrastive_loss(torch.eye(3), torch.arange(3), 0.1)) == 0


def test_the_context_graph_of_figure_3():
    # 0 -> 1 -> 2 -> 3 -> 4; the motif {1, 2} has 0 and 3 in its 1-hop neighbourhood.
    ops = tuple(Op(kind) for kind in "abcde")
    chain = np.array([[0, 1], [1, 2], [2, 3], [3, 4]], dtype=np.int32)
    graph = ArchitectureGraph(ops, chain, ("",) * 5)
    motif = Motif(ops[1:3], np.array([[0, 1]], dtype=np.int32), "key", "shape", "label")
    macro = MacroGraph(
        (motif,), np.array([0]), np.zeros((0, 2), np.int32), np.array([[1, 3]], dtype=np.int32)
    )
    (block,) = blocks_with_context([graph], [macro], hops=1)
    assert [op.kind for op in block.context[0]] == list("abcd")
    assert block.context[1].tolist() == [[0, 1], [1, 2], [2, 3]]
    (wider,) = blocks_with_context([graph], [macro], hops=2)
    assert len(wider.context[0]) == 5
