"""What PyG's plugin reads from graph networks, and how it builds them."""

import sys

import pytest
import torch
from nar_plugin.hooks import torch_geometric as plugin
from torch import Tensor, nn

from nar_plugin.errors import PluginError
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

pyg = pytest.importorskip("torch_geometric.nn")
from nar_plugin.hooks.torch_geometric.inputs import edges  # noqa: E402 (after the check)
from nar_plugin.hooks.torch_geometric.neighbours import all_pairs, triplets  # noqa: E402


@pytest.fixture(scope="module")
def listed() -> dict[str, NamedArchitecture]:
    return {item.name: item for item in plugin.nar_architectures()}


@pytest.mark.parametrize(
    ("name", "family"),
    [("GCN", "gcn"), ("GCNConv", "gcn"), ("SAGEConv", "graphsage"), ("DimeNetPlusPlus", "dimenet")],
)
def test_family_and_task(listed: dict[str, NamedArchitecture], name: str, family: str) -> None:
    found = listed[f"torch_geometric:{name}"]
    assert (found.family, found.task, found.licence) == (family, "graph-ml", "MIT")


@pytest.mark.parametrize(
    "name",
    ["GCN", "GAT", "PNA", "GPSE", "LINKX", "RENet", "SchNet", "GNNFF", "ViSNet", "TransE"],
)
def test_a_model_is_built_without_weights_and_traced(name: str) -> None:
    model = built(lambda: plugin.nar_build(f"torch_geometric:{name}"))
    assert model is not None
    assert all(parameter.is_meta for parameter in model.parameters())
    assert trace(model).method == "meta"


@pytest.mark.parametrize(
    "name", ["GCNConv", "CGConv", "GINEConv", "NNConv", "PointNetConv", "PPFConv", "RGCNConv"]
)
def test_a_convolution_is_built_and_traced(name: str) -> None:
    model = built(lambda: plugin.nar_build(f"torch_geometric:{name}"))
    assert model is not None
    assert trace(model).method == "meta"


class OnData(nn.Module):
    """As in the library's introduction: the forward takes all from one object."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = pyg.GCNConv(50, 16), pyg.GCNConv(16, 7)

    def forward(self, data) -> Tensor:
        x = self.first(data.x, data.edge_index).relu()
        return self.second(x, data.edge_index)


class OnKinds(nn.Module):
    """As for molecules: atoms and bonds are looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.atoms, self.bonds = nn.Embedding(28, 64), nn.Embedding(4, 64)
        self.layer = pyg.GINEConv(nn.Sequential(nn.Linear(64, 64), nn.ReLU()))
        self.head = nn.Linear(64, 1)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor) -> Tensor:
        x = self.layer(self.atoms(x), edge_index, self.bonds(edge_attr))
        return self.head(pyg.global_add_pool(x, batch))


class Pooled(nn.Module):
    """With a pooling that looks at scores."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.pool = pyg.SAGEConv(11, 16), pyg.TopKPooling(16, ratio=0.5)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x, edge_index, _, batch, _, _ = self.pool(
            self.layer(x, edge_index), edge_index, None, batch
        )
        return pyg.global_mean_pool(x, batch)


@pytest.mark.parametrize("model", [OnData, OnKinds, Pooled])
def test_hand_written_networks_are_traced(model: type[nn.Module]) -> None:
    assert trace(model()).method == "meta"


def test_widths_come_from_the_model() -> None:
    guesses = plugin.nar_example_inputs(pyg.GAT(8, 16, 2, 4, edge_dim=6))
    assert guesses is not None
    x, edge_index = guesses[0].args
    assert x.shape == (16, 8)
    assert edge_index.shape == (2, 32)
    assert guesses[0].kwargs["edge_attr"].shape == (32, 6)


def test_every_node_of_the_small_graph_has_two_neighbours() -> None:
    assert edges()[1].bincount().tolist() == [2] * 16


def test_all_pairs_of_three_atoms() -> None:
    pairs = {tuple(pair) for pair in all_pairs(torch.empty(3, 3), 1.0).t().tolist()}
    assert pairs == {(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)}


def test_triplets_of_a_path() -> None:
    # 0 -> 1 -> 2 and back: only 0 -> 1 -> 2 and 2 -> 1 -> 0 do not turn round.
    edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    *_, idx_i, idx_j, idx_k, kj, ji = triplets(edge_index, 3)
    found = set(zip(idx_k.tolist(), idx_j.tolist(), idx_i.tolist(), strict=True))
    assert found == {(0, 1, 2), (2, 1, 0)}
    assert edge_index[:, kj].tolist() == [idx_k.tolist(), idx_j.tolist()]
    assert edge_index[:, ji].tolist() == [idx_j.tolist(), idx_i.tolist()]


def test_a_subclass_is_known_by_its_parent() -> None:
    class Mine(pyg.GCN):  # type: ignore[misc, name-defined]
        pass

    provenance = plugin.nar_provenance(Mine(4, 4, 1))
    assert provenance is not None
    assert (provenance.name, provenance.library) == ("torch_geometric:GCN", "torch_geometric")


def test_other_models_are_left_to_other_plugins() -> None:
    plain = nn.Conv2d(3, 8, 3)
    assert plugin.nar_provenance(plain) is None
    assert plugin.nar_example_inputs(plain) is None
    assert plugin.nar_build("timm:resnet18") is None


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(PluginError, match="torch_geometric:SchNet"):
        plugin.nar_build("torch_geometric:Schnet")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    assert list(plugin.nar_architectures()) == []
    with pytest.raises(PluginError, match="pip install torch_geometric"):
        plugin.nar_build("torch_geometric:GCN")
