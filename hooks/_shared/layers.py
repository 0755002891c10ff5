"""The first layers of a module, their widths, and inputs of a shape."""

from __future__ import annotations

from numbers import Integral

import torch
from torch import Tensor, nn

from nar_plugin.tracing.twin.parts import modules

from .attribute_search import attribute

PICTURES = ("image", "volume")


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


def floats(*shape: int) -> Tensor:
    return torch.empty(*shape, device="meta")


def ids(length: int, vocabulary: int) -> Tensor:
    """Token ids int64[1, length], not all the same, 0 left out: it is often the padding."""
    return 1 + (torch.arange(length)[None] * 7 + 3) % max(vocabulary - 1, 1)
