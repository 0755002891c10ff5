"""Arguments with which each of PyG's model classes is built.

Where a paper has a usual setting it is that one (Cora: 1,433 features, 7 classes; QM9: the
molecule models' own), else the values of the class's docstring or of the example that it names
(https://github.com/pyg-team/pytorch_geometric/tree/master/examples).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

_CORA: dict[str, Any] = {"in_channels": 1433, "out_channels": 7}
_MOLECULES: dict[str, Any] = {"hidden_channels": 128, "out_channels": 1}
_DEGREES = (0, 10, 40, 30, 15, 5)  # how many nodes have 0, 1, 2, ... neighbours, for PNA
_PNA: dict[str, Any] = {
    "aggregators": ["mean", "min", "max", "std"],
    "scalers": ["identity", "amplification", "attenuation"],
}


def degrees() -> torch.Tensor:
    """A histogram of degrees with real values: PNA reads its mean."""
    return torch.tensor(_DEGREES, device="cpu")


def _gae(pyg: Any, channels: int = 16) -> nn.Module:
    """The encoder of examples/autoencoder.py."""
    encoder: nn.Module = pyg.GCN(1433, 2 * channels, 2, channels)
    return encoder


class _Variational(nn.Module):
    """The encoder of examples/autoencoder.py with a mean and a deviation."""

    def __init__(self, pyg: Any, channels: int = 16) -> None:
        super().__init__()
        self.first = pyg.GCNConv(1433, 2 * channels)
        self.mean = pyg.GCNConv(2 * channels, channels)
        self.deviation = pyg.GCNConv(2 * channels, channels)

    def forward(
        self, x: torch.Tensor, edge_index: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Node features (nodes, 1433) to a mean and a log deviation (nodes, channels) each."""
        x = self.first(x, edge_index).relu()
        return self.mean(x, edge_index), self.deviation(x, edge_index)


def _infomax(pyg: Any) -> nn.Module:
    """As in examples/infomax_transductive.py."""
    encoder = pyg.GCN(1433, 512, 1, act="prelu")
    model: nn.Module = pyg.DeepGraphInfomax(
        512,
        encoder,
        summary=lambda z, *_, **__: z.mean(dim=0).sigmoid(),
        corruption=lambda x, edge_index: (x.flip(0), edge_index),
    )
    return model


MODELS: dict[str, Callable[[Any], nn.Module]] = {
    "ARGA": lambda pyg: pyg.ARGA(_gae(pyg), pyg.MLP([16, 64, 64, 1], norm=None)),
    "ARGVA": lambda pyg: pyg.ARGVA(_Variational(pyg), pyg.MLP([16, 64, 64, 1], norm=None)),
    "ARLinkPredictor": lambda pyg: pyg.ARLinkPredictor(1433, 128, 64),
    "AttentiveFP": lambda pyg: pyg.AttentiveFP(
        39, 200, 1, edge_dim=10, num_layers=2, num_timesteps=2
    ),
    "ComplEx": lambda pyg: pyg.ComplEx(14541, 237, 50),
    "DeepGCNLayer": lambda pyg: pyg.DeepGCNLayer(
        pyg.GENConv(64, 64, aggr="softmax", t=1.0, learn_t=True, num_layers=2, norm="layer"),
        nn.LayerNorm(64),
        nn.ReLU(),
        block="res+",
    ),
    "DeepGraphInfomax": _infomax,
    "DimeNet": lambda pyg: pyg.DimeNet(
        **_MOLECULES, num_blocks=6, num_bilinear=8, num_spherical=7, num_radial=6
    ),
    "DimeNetPlusPlus": lambda pyg: pyg.DimeNetPlusPlus(
        **_MOLECULES,
        num_blocks=4,
        int_emb_size=64,
        basis_emb_size=8,
        out_emb_channels=256,
        num_spherical=7,
        num_radial=6,
    ),
    "DistMult": lambda pyg: pyg.DistMult(14541, 237, 50),
    "EdgeCNN": lambda pyg: pyg.EdgeCNN(hidden_channels=64, num_layers=3, **_CORA),
    "GAE": lambda pyg: pyg.GAE(_gae(pyg)),
    "GAT": lambda pyg: pyg.GAT(hidden_channels=64, num_layers=2, heads=8, **_CORA),
    "GCN": lambda pyg: pyg.GCN(hidden_channels=16, num_layers=2, **_CORA),
    "GIN": lambda pyg: pyg.GIN(hidden_channels=64, num_layers=5, **_CORA),
    "GNNFF": lambda pyg: pyg.GNNFF(128, 128, num_layers=3),
    "GPSE": lambda pyg: pyg.GPSE(),
    "GPSENodeEncoder": lambda pyg: pyg.GPSENodeEncoder(128, dim_pe_in=32, dim_pe_out=64),
    "GraphSAGE": lambda pyg: pyg.GraphSAGE(hidden_channels=256, num_layers=2, **_CORA),
    "GraphUNet": lambda pyg: pyg.GraphUNet(1433, 32, 7, depth=3, pool_ratios=[0.5, 0.5, 0.5]),
    "GroupAddRev": lambda pyg: pyg.GroupAddRev(pyg.SAGEConv(32, 32), num_groups=2),
    "JumpingKnowledge": lambda pyg: pyg.JumpingKnowledge("lstm", channels=64, num_layers=4),
    "LINKX": lambda pyg: pyg.LINKX(2277, 2325, hidden_channels=64, out_channels=5, num_layers=2),
    "LPFormer": lambda pyg: pyg.LPFormer(1433, 64),
    "LightGCN": lambda pyg: pyg.LightGCN(1000, embedding_dim=64, num_layers=2),
    "MLP": lambda pyg: pyg.MLP([16, 32, 64, 128]),
    "MaskLabel": lambda pyg: pyg.MaskLabel(7, 64),
    "NeuralFingerprint": lambda pyg: pyg.NeuralFingerprint(39, 64, 64, num_layers=3),
    "PMLP": lambda pyg: pyg.PMLP(hidden_channels=64, num_layers=2, **_CORA),
    "PNA": lambda pyg: pyg.PNA(hidden_channels=80, num_layers=4, deg=degrees(), **_PNA, **_CORA),
    "Polynormer": lambda pyg: pyg.Polynormer(hidden_channels=64, **_CORA),
    "RECT_L": lambda pyg: pyg.RECT_L(200, 200),
    "RENet": lambda pyg: pyg.RENet(23033, 256, hidden_channels=200, seq_len=10, dropout=0.5),
    "RotatE": lambda pyg: pyg.RotatE(14541, 237, 50),
    "SGFormer": lambda pyg: pyg.SGFormer(hidden_channels=64, **_CORA),
    "SchNet": lambda pyg: pyg.SchNet(),
    "SignedGCN": lambda pyg: pyg.SignedGCN(64, 64, num_layers=2),
    "TransE": lambda pyg: pyg.TransE(14541, 237, 50),
    "VGAE": lambda pyg: pyg.VGAE(_Variational(pyg)),
    "ViSNet": lambda pyg: pyg.ViSNet(),
}
