"""How many weights a graph's layers have, and waves that compare two such numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nar_plugin.tracing.fingerprint import body
from nar_plugin.tracing.graph import ArchitectureGraph, Op

_BANDWIDTH = 0.02  # of the kernel over natural logarithms: sizes 2% apart have exp(-1/2)
_GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def log_weights(graphs: Sequence[ArchitectureGraph]) -> NDArray[np.float64]:
    """float64[n]: ln(1 + weights) of each graph.

    Counted are the matrices and kernels of convolutions, linear layers, embeddings and recurrent
    layers, from their attributes, once for each call; biases, norms and what depends on the size of
    the vocabulary or of the last layers are not.
    """
    known: dict[int, int] = {}  # equal operations are mostly one object
    totals = []
    bodies = [body(graph) for graph in graphs]
    for graph in bodies:
        total = 0
        for op in graph.ops:
            if id(op) not in known:
                known[id(op)] = weights(op)
            total += known[id(op)]
        totals.append(total)
    return np.log1p(np.array(totals, dtype=np.float64))


def weights(op: Op) -> int:
    """The numbers in the matrices of one operation; 0 where its attributes do not tell."""
    said = dict(op.attributes)

    def size(name: str, default: int = 0) -> int:
        value = said.get(name, default)
        return value if isinstance(value, int) else 0

    if op.kind == "conv":
        kernel = str(said.get("kernel", "")).split("x")
        if not all(side.isdecimal() for side in kernel):
            return 0
        return size("in") * size("out") * prod(map(int, kernel)) // max(size("groups"), 1)
    if op.kind == "linear":
        return size("in") * size("out") * size("experts", 1)
    if op.kind == "embedding":
        return size("vocabulary") * size("width")
    if op.kind in _GATES:
        width, ways = size("width"), 1 + bool(said.get("bidirectional"))
        first = size("in") + width
        later = ways * width + width
        rows = first + later * (size("layers", 1) - 1)
        return _GATES[op.kind] * width * ways * rows
    return 0


def waves(logarithms: Tensor, dimensions: int) -> Tensor:
    """Unit vectors whose cosines fall as a Gaussian of the difference between two sizes.

    Random features (Rahimi & Recht, NeurIPS 2007, Algorithm 1), with quantiles of the normal
    distribution for its random frequencies.

    Shapes:
        logarithms float64[n], result float32[n, dimensions].
    """
    count = dimensions // 2
    places = (torch.arange(count, dtype=torch.float64, device=logarithms.device) + 0.5) / count
    turns = logarithms[:, None] * torch.special.ndtri(places) / _BANDWIDTH
    both: Tensor = torch.cat([turns.cos(), turns.sin()], dim=1) / count**0.5
    return both.float()
