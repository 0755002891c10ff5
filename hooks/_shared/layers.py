"""What the first layers of a module take in, as guesses at its first argument."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from numbers import Integral

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter

from nar_plugin.tracing.twin.parts import module_name, modules, parameters

from .attribute_search import attribute, integer, resolutions

TOKENS = 64
STEPS = 16  # length of a sequence of feature vectors; also the nodes of a graph
IMAGE = re.compile(r"image|img|pixel|frame|picture|photo")
PICTURES = ("image", "volume")
_STEM_CONVOLUTIONS = 3  # at most so many make frames of a spectrogram or a wave
_FOR_PHOTOGRAPHS = 5_000_000  # parameters; LeNet has 60 thousand, a ResNet-18 11 million
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


def stems_of(model: nn.Module) -> dict[str, nn.Module]:
    """The first layer of each kind, in the order in which the kinds appear."""
    stems: dict[str, nn.Module] = {}
    for module in modules(model):
        for kind, classes in _LAYERS.items():
            if isinstance(module, classes):
                stems.setdefault(kind, module)
    return {kind: stem for kind, stem in stems.items() if width_of(stem) > 0}  # 0: a lazy layer


_LAYERS: dict[str, tuple[type[nn.Module], ...]] = {
    "image": (nn.Conv2d, nn.ConvTranspose2d, nn.BatchNorm2d),
    "volume": (nn.Conv3d, nn.ConvTranspose3d, nn.BatchNorm3d),
    "signal": (nn.Conv1d, nn.ConvTranspose1d),
    "ids": (nn.Embedding, nn.EmbeddingBag),
    "sequence": (
        nn.RNNBase,
        nn.Transformer,
        nn.TransformerEncoderLayer,
        nn.TransformerDecoderLayer,
        nn.MultiheadAttention,
    ),
    "features": (nn.Linear, nn.RNNCellBase, nn.LayerNorm, nn.BatchNorm1d),
}


def width_of(layer: nn.Module) -> int:
    """The width that a layer takes in."""
    names = ("in_channels", "in_features", "num_features", "num_embeddings", "input_size")
    for name in (*names, "embed_dim", "d_model"):
        value = attribute(layer, name)
        if isinstance(value, Integral):  # NumPy's too
            return int(value)
    if isinstance(layer, nn.LayerNorm):
        return int(layer.normalized_shape[-1])
    attention = attribute(layer, "self_attn")
    return width_of(attention) if isinstance(attention, nn.Module) else 0


def rows_of_table(model: nn.Module) -> int:
    """How many rows a table of embeddings has that is no `nn.Embedding`, 0 without one."""
    for module in modules(model):
        weight = attribute(module, "weight")
        if "embedding" in type(module).__name__.lower() and isinstance(weight, nn.Parameter):
            if weight.dim() == 2:
                return len(weight)
    return 0


def _images(model: nn.Module, stem: nn.Module, name: str) -> Iterator[Tensor]:
    channels = width_of(stem)
    usual = [(size, size) for size in (224, 256, 64, 32, 28, 128, 299)]
    if channels == 1 and _small(model):  # hand-written digits before photographs
        usual = [(28, 28), (32, 32), *usual]
    if _is_enlarged(stem):
        usual = [(1, 1), *usual]
    sizes = dict.fromkeys([*_table_sizes(model, stem), *resolutions(model), *usual])
    seen = {layer.in_channels for layer in modules(model) if isinstance(layer, nn.Conv2d)}
    stem_channels = [channels, *(item for item in (3, 1) if item in seen and item != channels)]
    for height, width in sizes:
        yield floats(1, channels, height, width)
    for other in stem_channels[1:]:
        yield floats(1, other, 224, 224)


def _is_enlarged(stem: nn.Module) -> bool:
    """Whether a layer makes a patch of one pixel: a generator's, whose code has no sides."""
    return (
        isinstance(stem, nn.ConvTranspose2d)
        and stem.stride == (1, 1)
        and stem.padding == (0, 0)
        and min(stem.kernel_size) > 1
    )


def _small(model: nn.Module) -> bool:
    """Whether 28 x 28 pixels can be meant: a deep network halves them away, or a window clips."""
    known = (item for item in parameters(model) if not isinstance(item, UninitializedParameter))
    return sum(parameter.numel() for parameter in known) < _FOR_PHOTOGRAPHS


def thinner(picture: Tensor) -> Iterator[Tensor]:
    """The same picture in colours, gray, and with no channels: a forward may repeat them."""
    channels, *sides = picture.shape[1:]
    for fewer in (3, 1):
        if fewer < channels and channels % fewer == 0:
            yield floats(1, fewer, *sides)
    yield floats(1, *sides)


def _table_sizes(model: nn.Module, stem: nn.Module) -> Iterator[tuple[int, int]]:
    """The image size for which a table of patch positions, (1, patches [+ 1], width), was made."""
    patch = getattr(stem, "stride", None)
    if isinstance(patch, tuple) and patch == getattr(stem, "kernel_size", None):
        for tokens in _table_lengths(model):
            side = math.isqrt(tokens)
            yield side * patch[0], side * patch[-1]


def _table_lengths(model: nn.Module) -> list[int]:
    """Patches of what may be tables of positions, the longest first: registers are few."""
    found = set()
    for parameter in parameters(model):
        if parameter.dim() == 3 and parameter.shape[0] == 1:
            for extra in (0, 1, 2):  # class and distillation tokens
                tokens = parameter.shape[1] - extra
                if tokens > 1 and math.isqrt(tokens) ** 2 == tokens:
                    found.add(tokens)
    return sorted(found, reverse=True)


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
        tables = [math.isqrt(tokens) * patch for tokens in _table_lengths(model)]
        for height, across in [*resolutions(model), *((side, side) for side in (*tables, 224))]:
            yield floats(1, 3, height, across)
    yield floats(1, width)
    yield floats(1, STEPS, width)
    yield floats(1, width, STEPS)  # a layer over time, as in DLinear


KINDS: dict[str, Callable[[nn.Module, nn.Module, str], Iterator[Tensor]]] = {
    "image": _images,
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


def floats(*shape: int) -> Tensor:
    return torch.empty(*shape, device="meta")


def ids(length: int, vocabulary: int) -> Tensor:
    """Token ids int64[1, length], not all the same, 0 left out: it is often the padding."""
    return 1 + (torch.arange(length)[None] * 7 + 3) % max(vocabulary - 1, 1)
