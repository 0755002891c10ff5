"""What the first layers of a module take in, as guesses at its first argument."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from torch import Tensor, nn

from nar_plugin.tracing.twin.parts import module_name, modules

from .attribute_search import integer, resolutions
from .layers import floats, ids, width_of
from .picture_inputs import IMAGE, images, table_lengths

TOKENS = 64
STEPS = 16  # length of a sequence of feature vectors; also the nodes of a graph
_STEM_CONVOLUTIONS = 3  # at most so many make frames of a spectrogram or a wave
_LENGTHS = (
    "block_size",
    "context_length",
    "ctx_len",
    "max_len",
    "max_length",
    "max_position_embeddings",
    "max_seq_len",
    "n_ctx",
    "n_positions",
    "seq_len",
    "sequence_length",
)


def _volumes(model: nn.Module, stem: nn.Module, name: str) -> Iterator[Tensor]:
    channels = width_of(stem)
    for shape in ((16, 112, 112), (64, 64, 64), (32, 32, 32), (16, 224, 224)):
        yield floats(1, channels, *shape)


def _signals(model: nn.Module, stem: nn.Module, name: str) -> Iterator[Tensor]:
    channels = width_of(stem)
    for length in dict.fromkeys((*_frames(model), *_lengths(model), 1024, 16000, 128)):
        yield floats(1, channels, length)
    yield floats(1, 128, channels)


def _frames(model: nn.Module) -> list[int]:
    """Frames of which a few convolutions make as many rows as a table of positions has.

    The longest first: a decoder's tokens have one too.
    """
    convolutions = [layer for layer in modules(model) if isinstance(layer, nn.Conv1d)]
    if len(convolutions) > _STEM_CONVOLUTIONS:
        return []
    widths = {layer.out_channels for layer in convolutions}
    steps = math.prod(layer.stride[0] for layer in convolutions)
    found = set()
    for module in modules(model):
        if not module_name(type(module)).startswith("torch.nn."):  # no weights of layers
            for tensor in (*module.parameters(recurse=False), *module.buffers(recurse=False)):
                table = tensor.dim() == 2 or (tensor.dim() == 3 and tensor.shape[0] == 1)
                if table and tensor.shape[-1] in widths:
                    found.add(tensor.shape[-2] * steps)
    return sorted(found, reverse=True)


def _token_ids(model: nn.Module, stem: nn.Module, name: str) -> Iterator[Tensor]:
    longest = list(_lengths(model))
    vocabulary = width_of(stem)
    for length in dict.fromkeys((min([TOKENS, *longest]), *longest, STEPS, 1)):
        yield ids(length, vocabulary)
    yield ids(STEPS, vocabulary)[0]


def _sequences(model: nn.Module, stem: nn.Module, name: str) -> Iterator[Tensor]:
    shapes = [(1, STEPS), (STEPS, 1)]
    holder = getattr(stem, "self_attn", stem)
    if isinstance(stem, nn.Transformer):
        holder = stem.encoder.layers[0].self_attn
    if not getattr(holder, "batch_first", True):
        shapes.reverse()
    for shape in shapes:
        yield floats(*shape, width_of(stem))


def _features(model: nn.Module, stem: nn.Module, name: str) -> Iterator[Tensor]:
    width = width_of(stem)
    patch = math.isqrt(width // 3)
    if IMAGE.search(name) and patch >= 4 and 3 * patch * patch == width:  # patches cut by hand
        tables = [math.isqrt(tokens) * patch for tokens in table_lengths(model)]
        for height, across in [*resolutions(model), *((side, side) for side in (*tables, 224))]:
            yield floats(1, 3, height, across)
    yield floats(1, width)
    yield floats(1, STEPS, width)
    yield floats(1, width, STEPS)  # a layer over time, as in DLinear


KINDS: dict[str, Callable[[nn.Module, nn.Module, str], Iterator[Tensor]]] = {
    "image": images,
    "volume": _volumes,
    "signal": _signals,
    "ids": _token_ids,
    "sequence": _sequences,
    "features": _features,
}


def _lengths(model: nn.Module) -> Iterator[int]:
    longest = integer(model, _LENGTHS)
    if longest:
        yield min(longest, 1024)
