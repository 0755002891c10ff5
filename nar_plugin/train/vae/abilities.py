"""What Table 1 says of an autoencoder: accuracy, validity, uniqueness (section 4.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from nar_plugin.train.vae.autoencoder import Autoencoder
from nar_plugin.train.vae.graphs import Graphs
from nar_plugin.train.vae.sampling import Draw
from nar_plugin.train.vae.training import means

DRAWS, DECODES = 1000, 10  # latent vectors from the prior, and decodes of each (D-VAE's code)
_CHUNK = 1000


@dataclass(frozen=True)
class Abilities:
    """Percentages.

    Attributes:
        accuracy: How often a stochastic decode of a test graph's mean gives that graph.
        validity: How many decodes of draws from the prior are networks of the space.
        uniqueness: Distinct networks among the valid decodes.
    """

    accuracy: float
    validity: float
    uniqueness: float


@torch.no_grad()
def accuracy(network: Autoencoder, graphs: Graphs) -> float:
    """The mean probability of an exact decode.

    D-VAE decodes each graph a hundred times and counts; the share that is counted has this mean.
    """
    network.eval()
    device = next(network.parameters()).device
    latent = means(network, graphs)
    chances = [
        network.exact(latent[start : start + _CHUNK].to(device), part.to(device)).double().cpu()
        for start in range(0, len(graphs), _CHUNK)
        for part in [graphs[start : start + _CHUNK]]
    ]
    return float(torch.cat(chances).mean())


@torch.no_grad()
def abilities(
    network: Autoencoder, test: Graphs, valid: Callable[[Graphs], Tensor], seed: int = 0
) -> Abilities:
    """Measure all three.

    Args:
        network: A trained autoencoder.
        test: Graphs that it has not seen.
        valid: bool[g], which of g graphs are networks of the space.
        seed: Of the draws from the prior and of the decodes.
    """
    network.eval()
    device = next(network.parameters()).device
    draw = Draw(seed, device)
    latent = draw.normal(DRAWS, network.mean.out_features)
    good: list[bytes] = []
    for _ in range(DECODES):
        made = network.sample(latent, draw)
        good += made[valid(made)].keys()
    total = DRAWS * DECODES
    return Abilities(
        100 * accuracy(network, test),
        100 * len(good) / total,
        100 * len(set(good)) / max(len(good), 1),
    )
