"""Arguments with which each of PyG's graph convolutions is built: from 64 to 64 channels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from .models import degrees

_WIDTH = 64
_EDGE = 16
# Take the channels that come in and those that go out, and beside them at most these.
_PLAIN: dict[str, dict[str, Any]] = {
    "ARMAConv": {},
    "ChebConv": {"K": 3},
    "ClusterGCNConv": {},
    "EGConv": {},
    "FastRGCNConv": {"num_relations": 4},
    "FeaStConv": {"heads": 4},
    "FiLMConv": {},
    "GATConv": {"heads": 4},
    "GATv2Conv": {"heads": 4},
    "GCNConv": {},
    "GENConv": {},
    "GMMConv": {"dim": 3, "kernel_size": 5},
    "GeneralConv": {},
    "GraphConv": {},
    "HEATConv": {
        "num_node_types": 4,
        "num_edge_types": 4,
        "edge_type_emb_dim": 8,
        "edge_dim": _EDGE,
        "edge_attr_emb_dim": 8,
    },
    "HypergraphConv": {},
    "LEConv": {},
    "MFConv": {},
    "MixHopConv": {},
    "PDNConv": {"edge_dim": _EDGE, "hidden_channels": 32},
    "RGATConv": {"num_relations": 4},
    "RGCNConv": {"num_relations": 4},
    "ResGatedGraphConv": {},
    "SAGEConv": {},
    "SGConv": {"K": 2},
    "SSGConv": {"alpha": 0.1, "K": 2},
    "SuperGATConv": {"heads": 4},
    "TAGConv": {},
    "TransformerConv": {"heads": 4},
}


def _perceptron(width: int = _WIDTH, out: int = _WIDTH) -> nn.Module:
    """Two layers, as the docstrings of the convolutions that take one describe it."""
    return nn.Sequential(nn.Linear(width, _WIDTH), nn.ReLU(), nn.Linear(_WIDTH, out))


_OTHERS: dict[str, Callable[[Any], nn.Module]] = {
    "AGNNConv": lambda pyg: pyg.AGNNConv(),
    "APPNP": lambda pyg: pyg.APPNP(K=10, alpha=0.1),
    "AntiSymmetricConv": lambda pyg: pyg.AntiSymmetricConv(_WIDTH),
    "CGConv": lambda pyg: pyg.CGConv(_WIDTH, dim=_EDGE),
    "DNAConv": lambda pyg: pyg.DNAConv(_WIDTH, heads=4),
    "DirGNNConv": lambda pyg: pyg.DirGNNConv(pyg.GCNConv(_WIDTH, _WIDTH)),
    "EdgeConv": lambda pyg: pyg.EdgeConv(_perceptron(2 * _WIDTH)),
    "FAConv": lambda pyg: pyg.FAConv(_WIDTH),
    "GCN2Conv": lambda pyg: pyg.GCN2Conv(_WIDTH, alpha=0.1),
    "GINConv": lambda pyg: pyg.GINConv(_perceptron()),
    "GINEConv": lambda pyg: pyg.GINEConv(_perceptron(), edge_dim=_EDGE),
    "GPSConv": lambda pyg: pyg.GPSConv(_WIDTH, pyg.GINConv(_perceptron()), heads=4),
    "GatedGraphConv": lambda pyg: pyg.GatedGraphConv(_WIDTH, num_layers=3),
    "LGConv": lambda pyg: pyg.LGConv(),
    "NNConv": lambda pyg: pyg.NNConv(_WIDTH, _WIDTH, _perceptron(_EDGE, _WIDTH * _WIDTH)),
    "PNAConv": lambda pyg: pyg.PNAConv(
        _WIDTH,
        _WIDTH,
        aggregators=["mean", "min", "max", "std"],
        scalers=["identity", "amplification", "attenuation"],
        deg=degrees(),
    ),
    "PPFConv": lambda pyg: pyg.PPFConv(_perceptron(_WIDTH + 4), _perceptron()),
    "PointGNNConv": lambda pyg: pyg.PointGNNConv(
        _perceptron(_WIDTH, 3), _perceptron(_WIDTH + 3), _perceptron()
    ),
    "PointNetConv": lambda pyg: pyg.PointNetConv(_perceptron(_WIDTH + 3), _perceptron()),
    "PointTransformerConv": lambda pyg: pyg.PointTransformerConv(_WIDTH, _WIDTH),
}


def _plain(name: str, options: dict[str, Any]) -> Callable[[Any], nn.Module]:
    return lambda pyg: getattr(pyg, name)(_WIDTH, _WIDTH, **options)


LAYERS: dict[str, Callable[[Any], nn.Module]] = dict(
    sorted({**{name: _plain(name, options) for name, options in _PLAIN.items()}, **_OTHERS}.items())
)
