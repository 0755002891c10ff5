"""The fused operators of onnxruntime, taken apart.

Source: onnxruntime's docs/ContribOperators.md.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .blocks import apart, attend, layer_norm
from .values import OPERATORS, operator, tensor
from .windows import convolution

Attributes = dict[str, Any]


@operator("FusedConv")
def _fused_convolution(
    attributes: Attributes, x: Any, weight: Any, bias: Any = None, other: Any = None
) -> Any:
    made = convolution(attributes, x, weight, bias)
    made = made if other is None else made + tensor(other)
    return _activated(attributes, made)


@operator("FusedGemm")
def _fused_gemm(attributes: Attributes, *items: Any) -> Any:
    return _activated(attributes, OPERATORS["Gemm"](attributes, *items))


def _activated(attributes: Attributes, x: Tensor) -> Any:
    name = attributes.get("activation")
    return x if not name else OPERATORS[name](attributes | {"op_type": name}, x)


@operator("FusedMatMul", "TransposeMatMul")
def _fused_product(attributes: Attributes, a: Any, b: Any) -> Any:
    a, b = tensor(a), tensor(b)
    a = a.transpose(-1, -2) if attributes.get("transA") else a
    b = b.transpose(-1, -2) if attributes.get("transB") else b
    alpha = attributes.get("alpha", 1.0)
    return torch.matmul(a, b) * alpha if alpha != 1.0 else torch.matmul(a, b)


@operator("BiasGelu", "FastGelu", "QuickGelu")
def _gelu(attributes: Attributes, x: Any, bias: Any = None) -> Any:
    x = tensor(x) if bias is None else tensor(x) + tensor(bias)
    if attributes["op_type"] == "QuickGelu":
        return x * torch.sigmoid(attributes.get("alpha", 1.702) * x)
    return F.gelu(x, approximate="tanh" if attributes["op_type"] == "FastGelu" else "none")


@operator("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")
def _skip_norm(attributes: Attributes, x: Any, skip: Any, weight: Any, *biases: Any) -> Any:
    simple = attributes["op_type"] == "SkipSimplifiedLayerNormalization"
    beta = None if simple or not biases else biases[0]
    extra = (biases[0] if biases else None) if simple else (biases[1] if len(biases) > 1 else None)
    total = tensor(x) + tensor(skip)
    total = total if extra is None else total + tensor(extra)
    name = "RMSNormalization" if simple else "LayerNormalization"
    made = layer_norm(attributes | {"op_type": name, "axis": -1}, total, weight, beta)
    return [made, None, None, total]


@operator("EmbedLayerNormalization")
def _embedded(attributes: Attributes, ids: Any, kinds: Any, words: Any, *tables: Any) -> Any:
    places, segments, weight, bias = tables[:4]
    made = F.embedding(tensor(ids), tensor(words))
    made = made + tensor(places)[: made.shape[1]]
    if segments is not None:
        made = made + F.embedding(tensor(kinds), tensor(segments))
    named = attributes | {"op_type": "LayerNormalization", "axis": -1}
    return [layer_norm(named, made, weight, bias), None, made]


@operator("MultiHeadAttention", "GroupQueryAttention")
def _heads(attributes: Attributes, q: Any, k: Any = None, v: Any = None, *others: Any) -> Any:
    q, grouped = tensor(q), attributes["op_type"] == "GroupQueryAttention"
    heads = attributes["num_heads"]
    fewer: int = attributes.get("kv_num_heads") or heads
    if k is None:
        width = q.shape[-1] // (heads + 2 * fewer)
        q, k, v = torch.split(q, [heads * width, fewer * width, fewer * width], -1)
    elif others and others[0] is not None and not grouped:
        first, second, third = torch.split(tensor(others[0]), [x.shape[-1] for x in (q, k, v)])
        q, k, v = q + first, tensor(k) + second, tensor(v) + third
    parts = (apart(q, heads), apart(tensor(k), fewer), apart(tensor(v), fewer))
    past = others[:2] if grouped else ()
    made = attend(
        *parts,
        None,
        grouped or bool(attributes.get("unidirectional")),
        attributes.get("scale"),
        True,
    )
    return [made, *(past or parts[1:])]


@operator("com.microsoft:Attention", "com.microsoft:QAttention")
def _packed_attention(attributes: Attributes, x: Any, weight: Any, bias: Any, *_: Any) -> Any:
    """Its three maps are one matrix."""
    heads = attributes["num_heads"]
    q, k, v = (torch.matmul(tensor(x), tensor(weight)) + tensor(bias)).chunk(3, -1)
    q, k, v = (apart(item, heads) for item in (q, k, v))
    causal = bool(attributes.get("unidirectional"))
    return [attend(q, k, v, None, causal, attributes.get("scale"), True), None]


@operator("com.microsoft:RotaryEmbedding")
def _rotary(attributes: Attributes, x: Any, places: Any, cos: Any, sin: Any) -> Any:
    return OPERATORS["RotaryEmbedding"](attributes, x, cos, sin, places)
