"""Guesses at the inputs of a module that nobody described, from its layers and its signature."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import torch
from nar_plugin.hooks._attribute_search import integer, resolutions
from torch import Tensor, nn

from nar_plugin.hookspecs import ExampleInputs

_MOST = 10
_TOKENS = 64
_STEPS = 16  # length of a sequence of feature vectors; also the nodes of a graph
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
# What a name says about an argument. `x` says nothing.
_IMAGE = re.compile(r"image|img|pixel|frame|picture|photo")
_IDS = re.compile(r"ids?$|idx|token|word|text|sentence|caption|^src$|^tgt$|^trg$")
_TIME = re.compile(r"^(t|time|sigma|step|noise_level)s?$|time_?steps?")
_MASK = re.compile(r"mask")
_LENGTH = re.compile(r"len(gth)?s?$")
_EDGES = re.compile(r"^edge_index|^edges?$")
_ADJACENCY = re.compile(r"^adj")
_BATCH = re.compile(r"^batch(_index)?$")
_LABEL = re.compile(r"^y$|label|^class")
_CONTEXT = re.compile(r"context|cond|memory|encoder_hidden")
_STATE = re.compile(r"^h(idden|x|0|_0|_prev)?$|hidden_state|^states?$|^prev")


def guesses(model: nn.Module) -> list[ExampleInputs]:
    """Inputs that the forward may accept, best first, at most ten.

    Example:
        ```python
        guesses(nn.Sequential(nn.Conv2d(3, 8, 3)))[0].args[0].shape  # (1, 3, 224, 224)
        ```
    """
    names, keywords = _required(model)
    return list(islice(_combinations(model, names, keywords), _MOST))


def _combinations(
    model: nn.Module, names: list[str], keywords: list[str]
) -> Iterator[ExampleInputs]:
    for place, main in enumerate(_mains(model, names)):
        choices = {name: _companions(name, main, model) for name in (*names[1:], *keywords)}
        variants = max((len(found) for found in choices.values()), default=1)
        for variant in range(variants if place < 2 else 1):
            picked = {name: found[min(variant, len(found) - 1)] for name, found in choices.items()}
            yield ExampleInputs(
                (main, *(picked[name] for name in names[1:])),
                {name: picked[name] for name in keywords},
            )


def _required(model: nn.Module) -> tuple[list[str], list[str]]:
    """Names of the positional arguments that must be given (one at least), and of keywords."""
    try:
        parameters = list(inspect.signature(model.forward).parameters.values())
    except (TypeError, ValueError):  # a forward in C++ or TorchScript
        return ["input"], []
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = [item for item in parameters if item.kind in places]
    names = [item.name for item in positional if item.default is item.empty]
    keywords = [
        item.name
        for item in parameters
        if item.kind is inspect.Parameter.KEYWORD_ONLY and item.default is item.empty
    ]
    return names or [item.name for item in positional[:1]] or ["input"], keywords


def _mains(model: nn.Module, names: list[str]) -> Iterator[Tensor]:
    """Guesses at the first argument: for each kind of first layer, in the likely order."""
    stems = _stems(model)
    order = list(stems)
    if any(_TIME.search(name) for name in names[1:]):  # the time's own layers often come first
        order.sort(key=lambda kind: kind in ("ids", "features"))
    first = names[0]
    if _IMAGE.search(first):
        order.sort(key=lambda kind: kind not in ("image", "volume"))
    elif _IDS.search(first):
        order.sort(key=lambda kind: kind != "ids")
    if any(_EDGES.search(name) or _ADJACENCY.search(name) for name in names):
        yield _floats(_STEPS, _width(stems))
    lists = [list(islice(_KINDS[kind](model, stems[kind], first), _MOST)) for kind in order]
    for found, share in zip(lists, (6, 3, 2), strict=False):
        yield from found[:share]
    for found, share in zip(lists, (6, 3, 2), strict=False):
        yield from found[share:]
    yield from (_floats(1, 3, 224, 224), _floats(1, _STEPS, 64), _floats(1, 64), _ids(_TOKENS, 128))


def _stems(model: nn.Module) -> dict[str, nn.Module]:
    """The first layer of each kind, in the order in which the kinds appear."""
    stems: dict[str, nn.Module] = {}
    for module in model.modules():
        for kind, classes in _LAYERS.items():
            if isinstance(module, classes):
                stems.setdefault(kind, module)
    return {kind: stem for kind, stem in stems.items() if _channels(stem) > 0}  # 0: a lazy layer


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


def _channels(layer: nn.Module) -> int:
    """The width that a layer takes in."""
    names = ("in_channels", "in_features", "num_features", "num_embeddings", "input_size")
    for name in (*names, "embed_dim", "d_model"):
        value = getattr(layer, name, None)
        if isinstance(value, int):
            return value
    if isinstance(layer, nn.LayerNorm):
        return int(layer.normalized_shape[-1])
    attention = getattr(layer, "self_attn", None)
    return _channels(attention) if isinstance(attention, nn.Module) else 0


def _width(stems: dict[str, nn.Module]) -> int:
    return _channels(stems["features"]) if "features" in stems else 64


def _images(model: nn.Module, stem: nn.Module, name: str) -> Iterator[Tensor]:
    channels = _channels(stem)
    usual = [(size, size) for size in (224, 256, 64, 32, 28, 128, 299)]
    if channels == 1:  # hand-written digits before photographs
        usual = [(28, 28), (32, 32), *usual]
    sizes = dict.fromkeys([*_table_sizes(model, stem), *resolutions(model), *usual])
    seen = {layer.in_channels for layer in model.modules() if isinstance(layer, nn.Conv2d)}
    stem_channels = [channels, *(item for item in (3, 1) if item in seen and item != channels)]
    for height, width in sizes:
        yield _floats(1, channels, height, width)
    for other in stem_channels[1:]:
        yield _floats(1, other, 224, 224)


def _table_sizes(model: nn.Module, stem: nn.Module) -> Iterator[tuple[int, int]]:
    """The image size for which a table of patch positions, (1, patches [+ 1], width), was made."""
    patch = getattr(stem, "stride", None)
    if isinstance(patch, tuple) and patch == getattr(stem, "kernel_size", None):
        for tokens in _table_lengths(model):
            side = math.isqrt(tokens)
            yield side * patch[0], side * patch[-1]


def _table_lengths(model: nn.Module) -> Iterator[int]:
    for parameter in model.parameters():
        if parameter.dim() == 3 and parameter.shape[0] == 1:
            for extra in (0, 1, 2):  # class and distillation tokens
                tokens = parameter.shape[1] - extra
                if tokens > 1 and math.isqrt(tokens) ** 2 == tokens:
                    yield tokens


def _volumes(model: nn.Module, stem: nn.Module, name: str) -> Iterator[Tensor]:
    channels = _channels(stem)
    for shape in ((16, 112, 112), (64, 64, 64), (32, 32, 32), (16, 224, 224)):
        yield _floats(1, channels, *shape)


def _signals(model: nn.Module, stem: nn.Module, name: str) -> Iterator[Tensor]:
    channels = _channels(stem)
    for length in dict.fromkeys((*_lengths(model), 1024, 16000, 128)):
        yield _floats(1, channels, length)
    yield _floats(1, 128, channels)


def _token_ids(model: nn.Module, stem: nn.Module, name: str) -> Iterator[Tensor]:
    longest = list(_lengths(model))
    vocabulary = _channels(stem)
    for length in dict.fromkeys((min([_TOKENS, *longest]), *longest, _STEPS, 1)):
        yield _ids(length, vocabulary)
    yield _ids(_STEPS, vocabulary)[0]


def _sequences(model: nn.Module, stem: nn.Module, name: str) -> Iterator[Tensor]:
    shapes = [(1, _STEPS), (_STEPS, 1)]
    holder = getattr(stem, "self_attn", stem)
    if isinstance(stem, nn.Transformer):
        holder = stem.encoder.layers[0].self_attn
    if not getattr(holder, "batch_first", True):
        shapes.reverse()
    for shape in shapes:
        yield _floats(*shape, _channels(stem))


def _features(model: nn.Module, stem: nn.Module, name: str) -> Iterator[Tensor]:
    width = _channels(stem)
    patch = math.isqrt(width // 3)
    if _IMAGE.search(name) and patch >= 4 and 3 * patch * patch == width:  # patches cut by hand
        tables = [math.isqrt(tokens) * patch for tokens in _table_lengths(model)]
        for height, across in [*resolutions(model), *((side, side) for side in (*tables, 224))]:
            yield _floats(1, 3, height, across)
    yield _floats(1, width)
    yield _floats(1, _STEPS, width)
    yield _floats(1, width, _STEPS)  # a layer over time, as in DLinear


_KINDS: dict[str, Callable[[nn.Module, nn.Module, str], Iterator[Tensor]]] = {
    "image": _images,
    "volume": _volumes,
    "signal": _signals,
    "ids": _token_ids,
    "sequence": _sequences,
    "features": _features,
}


def _companions(name: str, main: Tensor, model: nn.Module) -> list[Any]:
    """Guesses at an argument beside the first, from its name."""
    length = main.shape[-1] if main.dim() < 3 else main.shape[1]
    picture = main.dim() > 3
    if _TIME.search(name):
        return [torch.tensor([7]), _floats(1), _floats(1, 1)]
    if _MASK.search(name):
        return [None, torch.ones(1, 1, length, dtype=torch.bool)]
    if _LENGTH.search(name):
        return [torch.tensor([length]), length]
    if _EDGES.search(name):
        return [torch.stack([torch.arange(32) % _STEPS, torch.arange(32) * 5 % _STEPS])]
    if _ADJACENCY.search(name):
        return [_floats(_STEPS, _STEPS), _floats(1, _STEPS, _STEPS)]
    if _BATCH.search(name):
        return [torch.zeros(_STEPS, dtype=torch.int64)]
    if _LABEL.search(name) and picture:
        return [torch.tensor([1]), main]
    if _STATE.search(name):
        return [None, *_states(model)]
    if _CONTEXT.search(name):
        width = integer(model, ("context_dim", "cross_attention_dim", "cond_dim", "d_model"))
        return [_floats(1, _STEPS, width), _floats(1, width)] if width else [main]
    stems = _stems(model)
    if _IDS.search(name) and picture and "ids" in stems:
        return [_ids(_TOKENS, _channels(stems["ids"])), main]
    if _IMAGE.search(name) and not picture and "image" in stems:
        return [next(_images(model, stems["image"], name)), main]
    return [main]


def _states(model: nn.Module) -> Iterator[Any]:
    """The initial state of the first recurrent layer."""
    for module in model.modules():
        if isinstance(module, nn.RNNCellBase | nn.RNNBase):
            layers = getattr(module, "num_layers", 0) * (1 + getattr(module, "bidirectional", 0))
            state = _floats(*((layers,) if layers else ()), 1, module.hidden_size)
            yield (state, state) if isinstance(module, nn.LSTM | nn.LSTMCell) else state
            return


def _lengths(model: nn.Module) -> Iterator[int]:
    longest = integer(model, _LENGTHS)
    if longest:
        yield min(longest, 1024)


def _floats(*shape: int) -> Tensor:
    return torch.empty(*shape, device="meta")


def _ids(length: int, vocabulary: int) -> Tensor:
    """Token ids int64[1, length], not all the same, 0 left out: it is often the padding."""
    return 1 + (torch.arange(length)[None] * 7 + 3) % max(vocabulary - 1, 1)
