"""The graph convolution against PyTorch Geometric's and a case worked by hand."""

import pytest
import torch

from nar_plugin.encoder.gcn import GraphConvolution, GraphConvolutions, normalised_adjacency


def test_normalisation_by_hand():
    # 0 - 1 - 2: with loops the degrees are 2, 3, 2.
    adjacency = normalised_adjacency(torch.tensor([[0, 1], [1, 2]]), 3)
    dense = torch.diag(adjacency.loop)
    dense[adjacency.target, adjacency.source] = adjacency.weight
    expected = torch.tensor([[1 / 2, 6**-0.5, 0], [6**-0.5, 1 / 3, 6**-0.5], [0, 6**-0.5, 1 / 2]])
    torch.testing.assert_close(dense, expected)


def test_the_layer_equals_torch_geometrics():
    geometric = pytest.importorskip("torch_geometric.nn")
    torch.manual_seed(0)
    edges = torch.tensor([[0, 1], [1, 2], [0, 3], [3, 4], [2, 4]])
    features = torch.randn(5, 16)
    ours, theirs = GraphConvolution(16, 8), geometric.GCNConv(16, 8)
    with torch.no_grad():
        theirs.lin.weight.copy_(ours.linear.weight)
        theirs.bias.copy_(ours.linear.bias)
    both_ways = torch.cat([edges, edges.flip(1)]).T
    torch.testing.assert_close(
        ours(features, normalised_adjacency(edges, 5)), theirs(features, both_ways)
    )


def test_readout_is_the_mean_of_each_graph():
    stack = GraphConvolutions(4, layers=0)
    features = torch.arange(12.0).reshape(3, 4)
    adjacency = normalised_adjacency(torch.zeros(0, 2, dtype=torch.int64), 3)
    result = stack(features, adjacency, torch.tensor([0, 0, 1]), 2)
    torch.testing.assert_close(result, torch.tensor([[2.0, 3, 4, 5], [8, 9, 10, 11]]))
