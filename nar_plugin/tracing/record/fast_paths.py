"""torch's fast paths of attention and of encoder layers, as the modules that they stand for.

A module in eval mode without gradients calls one kernel for all that it does, which is what
`torch.export` and `torch.jit` record. Source: `torch/nn/modules/activation.py` and
`torch/nn/modules/transformer.py`, where each says when it takes which way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

_OF_KEYS, _OF_BOTH = 1, 2  # what a mask masks; 0 are pairs of places


def attention(
    recorder: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    width: int,
    heads: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor | None,
    out_weight: Tensor,
    out_bias: Tensor | None,
    mask: Tensor | None = None,
    need_weights: bool = True,
    average: bool = True,
    mask_type: int | None = None,
) -> tuple[Tensor, Tensor]:
    """`nn.MultiheadAttention`.

    Shapes:
        query, key, value: `(samples, places, width)`.
        mask: `(samples, places)` of keys, `(places, places)`, or of both and each head.
    """
    by_id = {id(tensor): tensor.transpose(0, 1) for tensor in (query, key, value)}
    q, k, v = (by_id[id(tensor)] for tensor in (query, key, value))
    of_keys = mask if mask_type == _OF_KEYS else None
    of_pairs = None if mask is None or of_keys is not None else mask
    if of_pairs is not None and mask_type == _OF_BOTH:
        of_pairs = of_pairs.flatten(0, 1)
    out, weights = F.multi_head_attention_forward(
        *(q, k, v, width, heads, qkv_weight, qkv_bias, None, None, False, 0.0),
        *(out_weight, out_bias, False, of_keys, need_weights, of_pairs),
        average_attn_weights=average,
    )
    return out.transpose(0, 1), torch.empty(0) if weights is None else weights


def encoder_layer(
    recorder: Any,
    x: Tensor,
    width: int,
    heads: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor | None,
    out_weight: Tensor,
    out_bias: Tensor | None,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm1_weight: Tensor,
    norm1_bias: Tensor,
    norm2_weight: Tensor,
    norm2_bias: Tensor,
    first_weight: Tensor,
    first_bias: Tensor,
    second_weight: Tensor,
    second_bias: Tensor,
    mask: Tensor | None = None,
    mask_type: int | None = None,
) -> Tensor:
    """`nn.TransformerEncoderLayer`; `x` is `(samples, places, width)`."""

    def norm1(y: Tensor) -> Tensor:
        return F.layer_norm(y, (width,), norm1_weight, norm1_bias, eps)

    def norm2(y: Tensor) -> Tensor:
        return F.layer_norm(y, (width,), norm2_weight, norm2_bias, eps)

    def attended(y: Tensor) -> Tensor:
        weights = (qkv_weight, qkv_bias, out_weight, out_bias)
        return attention(
            recorder, y, y, y, width, heads, *weights, mask, False, mask_type=mask_type
        )[0]

    def forward(y: Tensor) -> Tensor:
        inner = F.linear(y, first_weight, first_bias)
        inner = F.gelu(inner) if use_gelu else F.relu(inner)
        return F.linear(inner, second_weight, second_bias)

    if norm_first:
        x = x + attended(norm1(x))
        return x + forward(norm2(x))
    x = norm1(x + attended(x))
    return norm2(x + forward(x))


FAST_PATHS: dict[str, Callable[..., Any]] = {
    "aten::_native_multi_head_attention": attention,
    "aten::_transformer_encoder_layer_fwd": encoder_layer,
}
