"""Decoded graphs as references, so that they can be built, asked, deduplicated and added."""

from __future__ import annotations

import torch

from nar_plugin.train.vae import enas, nas201
from nar_plugin.train.vae.autoencoder import Autoencoder
from nar_plugin.train.vae.graphs import Graphs
from nar_plugin.train.vae.sampling import Draw
from nar_plugin.train.vae.spaces import Space

_DECODES = 1000
_TEXTS = {"enas": enas.texts, "nas201": nas201.texts}


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
    return list(dict.fromkeys(references(made[space.whole(made)], space)))[:count]


def references(graphs: Graphs, space: Space) -> list[str]:
    """The text that builds the network of each graph.

    Example:
        ```python
        references(enas.graphs_of([[[1], [4, 0]]]), spaces.ENAS)  # ['enas:[[1], [4, 0]]']
        ```

    Args:
        graphs: Valid ones of the space.
        space: One of `spaces`.
    """
    return _TEXTS[space.name](graphs)
