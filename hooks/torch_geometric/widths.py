"""How wide the features of nodes and edges are that a graph model takes, from its layers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import nn

_NODES = ("in_channels", "in_dim", "in_features", "num_features", "num_node_features", "channels")
_NODES_LAST = ("hidden_channels", "out_channels", "embedding_dim")
_EDGES = ("edge_dim", "in_edge_channels", "num_edge_features")
_POSITION = 3
# A layer's network sees positions beside the features: a difference, or four point pair features.
_BESIDE_POSITIONS = {"PointNetConv": _POSITION, "PointConv": _POSITION, "PPFConv": 4}
_WITH_DIM = ("CGConv", "GMMConv", "SplineConv", "XConv")  # their edges' width is called `dim`
_WITH_NETWORK = ("NNConv", "ECConv")  # a network maps their edges to weights


def node_widths(model: nn.Module) -> list[int]:
    """Widths that the first layers take, the model's own before its parts', without repetition."""
    found = [*_positive(_node_widths(model, _NODES)), *_positive(_node_widths(model, _NODES_LAST))]
    return list(dict.fromkeys(found))


def _node_widths(model: nn.Module, names: tuple[str, ...]) -> Iterator[Any]:
    part: Any
    for part in model.modules():
        kind = type(part).__name__
        if kind in _BESIDE_POSITIONS and isinstance(getattr(part, "local_nn", None), nn.Module):
            inner = next(iter(_positive(_node_widths(part.local_nn, _NODES))), 0)
            yield inner - _BESIDE_POSITIONS[kind]
        elif kind == "GroupAddRev":  # its layers work on slices of the features
            inner = next(iter(_positive(_node_widths(part.convs, _NODES))), 0)
            yield inner * part.num_groups
        yield from (getattr(part, name, None) for name in names)


def edge_width(model: nn.Module) -> int | None:
    """Of the edges' features, or None where the model takes none."""
    return next(iter(_positive(_edge_widths(model))), None)


def _edge_widths(model: nn.Module) -> Iterator[Any]:
    part: Any
    for part in model.modules():
        kind = type(part).__name__
        if kind in _WITH_DIM:
            yield getattr(part, "dim", None)
        elif kind in _WITH_NETWORK:
            yield from node_widths(part.nn)[:1]
        elif kind == "GINEConv":
            layer = getattr(part, "lin", None)
            yield from node_widths(part.nn if layer is None else layer)[:1]
        elif kind == "HEATConv":
            yield from node_widths(part.edge_attr_emb)[:1]
        yield from (getattr(part, name, None) for name in _EDGES)


def _positive(values: Iterator[Any]) -> Iterator[int]:
    """Those that are widths; of a pair (source, target) the first. -1 is a lazy layer's."""
    for value in values:
        first = value[0] if isinstance(value, tuple) and value else value
        if isinstance(first, int) and not isinstance(first, bool) and first > 0:
            yield first
