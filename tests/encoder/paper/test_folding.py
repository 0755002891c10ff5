"""Folded graphs give what torch_geometric gives on the whole ones."""

import numpy as np
import pytest
import torch

pytest.importorskip("tqdm")
pytest.importorskip("torch_geometric")

from torch_geometric.nn import GCNConv

from nar_plugin.encoder.paper.folding import Folded
from nar_plugin.encoder.paper.graph_convolutions import Convolutions
from nar_plugin.train.paper.ablations import Recipe

CPU = torch.device("cpu")


def graphs(seed=0):
    """Some random graphs of three kinds, one of them a chain of twelve equal blocks."""
    random = np.random.default_rng(seed)
    kinds = [np.array([0, 1, 1, 2] * 12)]
    edges = [np.array([(a, a + 1) for a in range(47)] + [(a, a + 3) for a in range(0, 45, 4)])]
    for size in (1, 5, 17, 30):
        pairs = np.array([(a, b) for a in range(size) for b in range(a + 1, size)])
        pairs = pairs.reshape(-1, 2).astype(np.int64)
        edges.append(pairs[random.random(len(pairs)) < 0.2])
        kinds.append(random.integers(3, size=size))
    return kinds, edges


def folded(kinds, edges, layers, both=True):
    before = np.concatenate([[0], np.cumsum([len(part) for part in kinds])[:-1]])
    shifted = [part + start for part, start in zip(edges, before, strict=True)]
    sizes = [len(part) for part in kinds]
    return Folded(np.concatenate(kinds), np.concatenate(shifted), sizes, layers, both=both)


@pytest.mark.parametrize("both", [True, False])
def test_three_layers_equal_those_of_torch_geometric(both):
    torch.manual_seed(0)
    kinds, edges = graphs()
    ours = Convolutions(3, Recipe(width=8))
    theirs = [GCNConv(layer.in_features, 8) for layer in ours.layers]
    for one, other in zip(ours.layers, theirs, strict=True):
        other.lin.weight.data, other.bias.data = one.weight.data, one.bias.data
    batch = folded(kinds, edges, 3, both).batch(np.arange(5), CPU)
    found = ours(torch.eye(3)[batch.inputs], batch)
    expected = []
    for kind, pairs in zip(kinds, edges, strict=True):
        ways = np.concatenate([pairs, pairs[:, ::-1]]) if both else pairs
        ways = torch.from_numpy(ways.T.copy())
        hidden = torch.eye(3)[torch.from_numpy(kind)]
        for number, layer in enumerate(theirs):
            hidden = layer(torch.nn.functional.elu(hidden) if number else hidden, ways)
        expected.append(hidden.mean(dim=0))
    torch.testing.assert_close(found, torch.stack(expected), atol=1e-5, rtol=1e-5)
    # The way back: gradients of the same sum.
    found.square().sum().backward()
    torch.stack(expected).square().sum().backward()
    for one, other in zip(ours.layers, theirs, strict=True):
        torch.testing.assert_close(one.weight.grad, other.lin.weight.grad, atol=1e-4, rtol=1e-4)


def test_equal_blocks_are_computed_once():
    kinds, edges = graphs()
    whole = folded(kinds[:1], edges[:1], 2).batch(np.arange(1), CPU)
    sizes = [len(mix.starts) for mix in whole.mixes]
    # Of 48 operations, at two steps the ends of the chain see that they are ends: 2 of the first
    # block and 2 of the last. A block has 4 colours inside.
    assert len(whole.inputs) == 3
    assert sizes[1] < 16
    assert sizes[0] < sizes[1]


def test_a_batch_has_its_graphs_in_its_order():
    torch.manual_seed(0)
    kinds, edges = graphs()
    network = Convolutions(3, Recipe(width=8))
    data = folded(kinds, edges, 3)
    every = data.batch(np.arange(5), CPU)
    some = data.batch(np.array([4, 1, 4]), CPU)
    rows = network(torch.eye(3)[every.inputs], every)
    chosen = network(torch.eye(3)[some.inputs], some)
    torch.testing.assert_close(chosen, rows[[4, 1, 4]])


def test_degrees_tell_nodes_apart():
    """The middle of a path of three and the middle of a star of four: equal kinds, other rows."""
    path, star = [[0, 1], [1, 2]], [[0, 1], [1, 2], [1, 3]]
    data = folded([np.zeros(3, int), np.zeros(4, int)], [np.array(path), np.array(star)], 1)
    batch = data.batch(np.arange(2), CPU)
    assert len(batch.mixes[0].starts) == 4  # two middles, two kinds of ends
