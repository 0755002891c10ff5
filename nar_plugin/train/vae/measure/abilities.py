"""What Table 1 says of an autoencoder: accuracy, validity, uniqueness (section 4.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from nar_plugin.train.vae.fit.training import means
from nar_plugin.train.vae.models.autoencoder import Autoencoder
from nar_plugin.train.vae.models.sampling import Draw
from nar_plugin.train.vae.spaces.graphs import Graphs

DRAWS, DECODES = 1000, 10  # latent vectors from the prior, and decodes of each (D-VAE's code)
_CHUNK = 1000


@dataclass(frozen=True)
class Abilities:
    """Percentages.

    Attributes:
        accuracy: How often a stochastic decode of a test graph's mean gives that graph.
        validity: How many decodes of draws from the prior are networks of the space, where the
            draws have the mean and the deviation of the training side, as in D-VAE's code.
        uniqueness: Distinct networks among these valid decodes.
        prior_validity: How many decodes are, of draws from N(0, 1) as they are.
    """

    accuracy: float
    validity: float
    uniqueness: float
    prior_validity: float


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
    network: Autoencoder,
    train: Graphs,
    test: Graphs,
    valid: Callable[[Graphs], Tensor],
    seed: int = 0,
) -> Abilities:
    """Measure all of them.

    Args:
        network: A trained autoencoder.
        train: Graphs that it was trained on.
        test: Graphs that it has not seen.
        valid: bool[g], which of g graphs are networks of the space.
        seed: Of the draws from the prior and of the decodes.
    """
    network.eval()
    device = next(network.parameters()).device
    draw = Draw(seed, device)
    prior = draw.normal(DRAWS, network.mean.out_features)
    rows = means(network, train).to(device)
    good = _decoded(network, prior * rows.std(0, correction=0) + rows.mean(0), valid, draw)
    total = DRAWS * DECODES
    return Abilities(
        accuracy=100 * accuracy(network, test),
        validity=100 * len(good) / total,
        uniqueness=100 * len(set(good)) / max(len(good), 1),
        prior_validity=100 * len(_decoded(network, prior, valid, draw)) / total,
    )


def _decoded(
    network: Autoencoder, latent: Tensor, valid: Callable[[Graphs], Tensor], draw: Draw
) -> list[bytes]:
    """Keys of the valid networks among `DECODES` decodes of each vector."""
    made = [network.sample(latent, draw) for _ in range(DECODES)]
    return [key for graphs in made for key in graphs[valid(graphs)].keys()]
