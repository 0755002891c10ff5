"""What the accuracies of ENAS know of a network: its wiring, and nothing of its operations."""

from __future__ import annotations

import torch

from nar_plugin.train.vae.spaces.enas import wiring
from nar_plugin.train.vae.spaces.networks import Networks


def spread(data: Networks) -> dict[str, float]:
    """How far the accuracies of networks of one wiring lie apart.

    Returns:
        `wirings`: how many there are; `shared`: how many of them several networks have, `networks`
        of them in all; `spread`: the largest difference of two accuracies inside a wiring;
        `range`: the difference of the best and the worst of all.
    """
    _, wirings, counts = torch.unique(
        wiring(data.graphs), dim=0, return_inverse=True, return_counts=True
    )
    low = torch.full((len(counts),), torch.inf, dtype=torch.float64)
    high = -low
    low.scatter_reduce_(0, wirings, data.accuracy, "amin")
    high.scatter_reduce_(0, wirings, data.accuracy, "amax")
    shared = counts > 1
    return {
        "wirings": len(counts),
        "shared": int(shared.sum()),
        "networks": int(counts[shared].sum()),
        "spread": float((high - low).max()),
        "range": float(data.accuracy.max() - data.accuracy.min()),
    }
