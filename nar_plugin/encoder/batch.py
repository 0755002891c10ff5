"""Macro graphs as tensors: distinct motifs once, then the graphs that are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nar_plugin.encoder.features import operation_features
from nar_plugin.encoder.gcn import Adjacency, normalised_adjacency
from nar_plugin.mining import MacroGraph, Motif
from nar_plugin.tracing.graph import IntArray, Op


class BlockBatch(NamedTuple):
    """n operations of m blocks (motifs, or their context graphs), side by side.

    Attributes:
        op: int64[n], the row of `kind` and `attributes` of each operation.
        kind: int64[u], vocabulary index of each distinct operation.
        attributes: float32[u, features].
        adjacency: Edges inside the blocks.
        owner: int64[n], the block of each operation.
        blocks: The number m.
    """

    op: Tensor
    kind: Tensor
    attributes: Tensor
    adjacency: Adjacency
    owner: Tensor
    blocks: int


class GraphBatch(NamedTuple):
    """g macro graphs whose nodes are instances of m distinct motifs.

    Attributes:
        motifs: The distinct motifs.
        motif: int64[M], the motif of each macro node.
        adjacency: Edges between macro nodes.
        owner: int64[M], the graph of each macro node.
        graphs: The number g.
    """

    motifs: BlockBatch
    motif: Tensor
    adjacency: Adjacency
    owner: Tensor
    graphs: int


def block_batch(
    blocks: Sequence[tuple[Sequence[Op], IntArray]], kinds: dict[str, int], device: torch.device
) -> BlockBatch:
    """Put blocks, each given as operations and inner edges, side by side."""
    distinct: dict[Op, int] = {}
    rows: list[int] = []
    edges: list[IntArray] = []
    owner: list[NDArray[np.int64]] = []
    for number, (ops, inner) in enumerate(blocks):
        edges.append(inner + len(rows))
        owner.append(np.full(len(ops), number, dtype=np.int64))
        rows.extend(distinct.setdefault(op, len(distinct)) for op in ops)
    kind, attributes = operation_features(list(distinct), kinds)
    return BlockBatch(
        torch.tensor(rows, dtype=torch.int64, device=device),
        torch.from_numpy(kind).to(device),
        torch.from_numpy(attributes).to(device),
        normalised_adjacency(_edge_tensor(edges, device), len(rows)),
        torch.from_numpy(np.concatenate(owner)).to(device),
        len(blocks),
    )


def graph_batch(
    graphs: Sequence[MacroGraph], kinds: dict[str, int], device: torch.device
) -> GraphBatch:
    """Put macro graphs side by side; a motif that several of them have is there once."""
    distinct: dict[str, int] = {}
    motifs: list[Motif] = []
    nodes: list[NDArray[np.int64]] = []
    edges: list[IntArray] = []
    owner: list[NDArray[np.int64]] = []
    total = 0
    for number, graph in enumerate(graphs):
        places = []
        for motif in graph.motifs:
            if motif.key not in distinct:
                distinct[motif.key] = len(motifs)
                motifs.append(motif)
            places.append(distinct[motif.key])
        nodes.append(np.array(places, dtype=np.int64)[graph.nodes])
        edges.append(graph.edges + total)
        owner.append(np.full(len(graph), number, dtype=np.int64))
        total += len(graph)
    return GraphBatch(
        block_batch([(motif.ops, motif.edges) for motif in motifs], kinds, device),
        torch.from_numpy(np.concatenate(nodes)).to(device),
        normalised_adjacency(_edge_tensor(edges, device), total),
        torch.from_numpy(np.concatenate(owner)).to(device),
        len(graphs),
    )


def _edge_tensor(edges: list[IntArray], device: torch.device) -> Tensor:
    return torch.from_numpy(np.concatenate(edges).astype(np.int64)).to(device)
