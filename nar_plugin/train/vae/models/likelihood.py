"""How probable a decoder finds each decision that makes a graph."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

from nar_plugin.train.vae.spaces.graphs import Graphs


def of_types(scores: Tensor, graphs: Graphs) -> Tensor:
    """The log-probability of the type of each vertex after the first.

    Shapes:
        scores float32[g, v - 1, kinds] -> float32[g, v - 1]
    """
    right = graphs.types[:, 1:, None]
    return functional.log_softmax(scores, -1).gather(-1, right).squeeze(-1)


def of_edges(scores: Tensor, present: Tensor) -> Tensor:
    """The log-probability that each edge is there, or is not.

    Shapes:
        scores float32[...], present bool[...] -> float32[...]
    """
    return functional.logsigmoid(scores.where(present, -scores))
