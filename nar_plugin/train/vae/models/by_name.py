"""The six autoencoders of Table 1, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from nar_plugin.errors import NarError
from nar_plugin.train.vae.models.autoencoder import LATENT, Autoencoder
from nar_plugin.train.vae.models.dag_decoder import DagDecoder
from nar_plugin.train.vae.models.dag_encoder import DagEncoder
from nar_plugin.train.vae.models.graph_convolutions import ConvolutionEncoder
from nar_plugin.train.vae.models.operations import Operations
from nar_plugin.train.vae.models.sequences import GraphRnnDecoder, SequenceDecoder, SequenceEncoder

D_OP = 3  # numbers of an operation embedding (section 3.3)

Sizes = tuple[int, int, int]  # kinds, vertices, hidden


def build(
    model: str, kinds: int, vertices: int, hidden: int, *, numbered: bool = False
) -> Autoencoder:
    """A new autoencoder.

    Args:
        model: One of `MODELS`.
        kinds: How many types of vertices there are.
        vertices: Of each graph.
        hidden: Width of all hidden states.
        numbered: Whether a decoder of D-VAE tells vertices by their number (`DagDecoder`).

    Raises:
        NarError: There is no such model.
    """
    (name,) = known([model])
    return _BUILDERS[name]((kinds, vertices, hidden), numbered)


def known(names: Iterable[str]) -> list[str]:
    """The names, each of which is one of `MODELS`.

    Raises:
        NarError: One is not.
    """
    names = list(names)
    for name in names:
        if name not in _BUILDERS:
            raise NarError(f"No model {name!r}. Give --model {', '.join(_BUILDERS)}.")
    return names


def _strings(sizes: Sizes, _: bool) -> Autoencoder:
    hidden = sizes[-1]
    return Autoencoder(SequenceEncoder(*sizes), SequenceDecoder(*sizes, LATENT), hidden, LATENT)


def _graph_rnn(sizes: Sizes, _: bool) -> Autoencoder:
    hidden = sizes[-1]
    return Autoencoder(SequenceEncoder(*sizes), GraphRnnDecoder(*sizes, LATENT), hidden, LATENT)


def _graphs(
    sizes: Sizes,
    numbered: bool,
    *,
    encoder: type[DagEncoder] | type[ConvolutionEncoder],
    width: int | None = None,
) -> Autoencoder:
    """Encoder and decoder share the vectors of operations (section 3.3)."""
    kinds, vertices, hidden = sizes
    operations = Operations(kinds, width)
    decoder = DagDecoder(operations, kinds, vertices, hidden, LATENT, numbered=numbered)
    return Autoencoder(encoder(operations, vertices, hidden), decoder, hidden, LATENT)


_BUILDERS: dict[str, Callable[[Sizes, bool], Autoencoder]] = {
    "D-VAE": partial(_graphs, encoder=DagEncoder),
    "GCN": partial(_graphs, encoder=ConvolutionEncoder),
    "S-VAE": _strings,
    "GraphRNN": _graph_rnn,
    "DVAE-EMB": partial(_graphs, encoder=DagEncoder, width=D_OP),
    "GCN-EMB": partial(_graphs, encoder=ConvolutionEncoder, width=D_OP),
}
MODELS = tuple(_BUILDERS)
