"""Decoded graphs as references, so that they can be built, asked, deduplicated and added."""

from __future__ import annotations

import torch

from nar_plugin.train.vae.models.autoencoder import Autoencoder
from nar_plugin.train.vae.models.sampling import Draw
from nar_plugin.train.vae.spaces.space import Space

_DECODES = 1000


@torch.no_grad()
def decoded(network: Autoencoder, space: Space, count: int, seed: int) -> list[str]:
    """Distinct cells that draws from the prior decode to, those that a search may ask for.

    Args:
        network: A trained autoencoder, on the CPU.
        space: Of its graphs.
        count: How many at most; fewer if a thousand decodes have fewer.
        seed: Of the draws and the decodes.

    Returns:
        References such as `enas:[[1], [4, 0]]`.
    """
    draw = Draw(seed)
    made = network.sample(draw.normal(_DECODES, network.mean.out_features), draw)
    return list(dict.fromkeys(space.texts(made[space.whole(made)])))[:count]
