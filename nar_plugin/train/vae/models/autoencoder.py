"""A variational autoencoder of graphs: an encoder, a latent normal distribution, a decoder."""

from __future__ import annotations

from typing import Protocol as Interface

import torch
from torch import Tensor, nn

from nar_plugin.train.vae.models.sampling import Draw
from nar_plugin.train.vae.spaces.graphs import Graphs

LATENT = 56  # width of the latent vectors (D-VAE's code)
NOISE = 0.01  # scale of the latent noise in training (D-VAE's code)


class Decoder(Interface):
    """What an autoencoder asks of a decoder, which is an nn.Module too."""

    def log_likelihood(self, latent: Tensor, graphs: Graphs) -> Tensor:
        """float32[n, v]: how probable the decisions for each vertex are, those before as given."""

    def sample(self, latent: Tensor, draw: Draw) -> Graphs:
        """A graph for each latent vector, each decision drawn."""


class Autoencoder(nn.Module):
    """Equation 1 with an encoder and a decoder.

    Args:
        encoder: Graphs to float32[n, hidden].
        decoder: See `Decoder`; an nn.Module as well.
        hidden: Width of what the encoder gives.
        latent: Width of the latent vectors.
    """

    decoder: Decoder

    def __init__(self, encoder: nn.Module, decoder: Decoder, hidden: int, latent: int) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder
        self.mean = nn.Linear(hidden, latent)
        self.log_variance = nn.Linear(hidden, latent)

    def encode(self, graphs: Graphs) -> tuple[Tensor, Tensor]:
        """Means and logarithms of variances of the posterior, float32[n, latent] each (Eq. 2)."""
        state = self.encoder(graphs)
        return self.mean(state), self.log_variance(state)

    def losses(self, graphs: Graphs) -> tuple[Tensor, Tensor]:
        """What is minimised (Eq. 1), float32[n] each.

        Returns:
            Minus the log-likelihood of the graphs, and the Kullback-Leibler divergence.
        """
        mean, log_variance = self.encode(graphs)
        latent = mean
        if self.training:
            noise = torch.randn_like(mean) * NOISE
            latent = mean + noise * (0.5 * log_variance).exp()
        reconstruction = -self.decoder.log_likelihood(latent, graphs).sum(1)
        divergence = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum(1)
        return reconstruction, divergence

    def exact(self, latent: Tensor, graphs: Graphs) -> Tensor:
        """float32[n]: the probability that a stochastic decode gives exactly these graphs.

        The last vertex is an output without a decision, and its edges follow from the others (see
        `finish`), so that what the decoder thinks of it counts for nothing.
        """
        return self.decoder.log_likelihood(latent, graphs)[:, :-1].sum(1).exp()

    def sample(self, latent: Tensor, draw: Draw) -> Graphs:
        """A graph for each latent vector, each decision drawn."""
        return self.decoder.sample(latent, draw)
