"""What PyG's plugin reads from graph networks, and how it builds them."""

import pytest
import torch
from nar_plugin.hooks import torch_geometric as plugin
from torch import nn

from nar_plugin.tracing import trace


@pytest.fixture(autouse=True)
def pyg(installed):
    return installed("torch_geometric.nn")


class OnData(nn.Module):
    """As in the library's introduction: the forward takes all from one object."""

    def __init__(self, pyg):
        super().__init__()
        self.first, self.second = pyg.GCNConv(50, 16), pyg.GCNConv(16, 7)

    def forward(self, data):
        x = self.first(data.x, data.edge_index).relu()
        return self.second(x, data.edge_index)


class OnKinds(nn.Module):
    """As for molecules: atoms and bonds are looked up."""

    def __init__(self, pyg):
        super().__init__()
        self.atoms, self.bonds = nn.Embedding(28, 64), nn.Embedding(4, 64)
        self.layer = pyg.GINEConv(nn.Sequential(nn.Linear(64, 64), nn.ReLU()))
        self.head, self.readout = nn.Linear(64, 1), pyg.global_add_pool

    def forward(self, x, edge_index, edge_attr, batch):
        x = self.layer(self.atoms(x), edge_index, self.bonds(edge_attr))
        return self.head(self.readout(x, batch))


class Pooled(nn.Module):
    """With a pooling that looks at scores."""

    def __init__(self, pyg):
        super().__init__()
        self.layer, self.pool = pyg.SAGEConv(11, 16), pyg.TopKPooling(16, ratio=0.5)
        self.readout = pyg.global_mean_pool

    def forward(self, x, edge_index, batch):
        x, edge_index, _, batch, _, _ = self.pool(
            self.layer(x, edge_index), edge_index, None, batch
        )
        return self.readout(x, batch)


@pytest.mark.parametrize("model", [OnData, OnKinds, Pooled])
def test_hand_written_networks_are_traced(model, pyg):
    assert trace(model(pyg)).method == "meta"


def test_widths_come_from_the_model(pyg):
    guess, *_ = plugin.nar_example_inputs(pyg.GAT(8, 16, 2, 4, edge_dim=6))
    x, edge_index = guess.args
    assert x.shape == (16, 8)
    assert edge_index.shape == (2, 32)
    assert guess.kwargs["edge_attr"].shape == (32, 6)


def test_every_node_of_the_small_graph_has_two_neighbours():
    from nar_plugin.hooks.torch_geometric.inputs import edges

    assert edges()[1].bincount().tolist() == [2] * 16


def test_all_pairs_of_three_atoms():
    from nar_plugin.hooks.torch_geometric.neighbours import all_pairs

    pairs = {tuple(pair) for pair in all_pairs(torch.empty(3, 3), 1.0).t().tolist()}
    assert pairs == {(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)}


def test_triplets_of_a_path():
    from nar_plugin.hooks.torch_geometric.neighbours import triplets

    # 0 -> 1 -> 2 and back: only 0 -> 1 -> 2 and 2 -> 1 -> 0 do not turn round.
    edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    *_, idx_i, idx_j, idx_k, kj, ji = triplets(edge_index, 3)
    found = set(zip(idx_k.tolist(), idx_j.tolist(), idx_i.tolist(), strict=True))
    assert found == {(0, 1, 2), (2, 1, 0)}
    assert edge_index[:, kj].tolist() == [idx_k.tolist(), idx_j.tolist()]
    assert edge_index[:, ji].tolist() == [idx_j.tolist(), idx_i.tolist()]


def test_a_subclass_is_known_by_its_parent(pyg):
    class Mine(pyg.GCN):
        pass

    provenance = plugin.nar_provenance(Mine(4, 4, 1))
    assert (provenance.name, provenance.library) == ("torch_geometric:GCN", "torch_geometric")
