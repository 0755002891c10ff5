"""ONNX's operators that are whole blocks: norms, attention, recurrent layers."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .values import operator, tensor

Attributes = dict[str, Any]


def _optional(value: Any) -> Any:
    return None if value is None else tensor(value)


@operator("BatchNormalization")
def _batch_norm(attributes: Attributes, x: Any, *statistics: Any) -> Any:
    scale, shift, mean, variance = map(tensor, statistics)
    epsilon = attributes.get("epsilon", 1e-5)
    return F.batch_norm(tensor(x), mean, variance, scale, shift, False, 0.1, epsilon)


@operator("LayerNormalization", "SimplifiedLayerNormalization", "RMSNormalization")
def layer_norm(attributes: Attributes, x: Any, weight: Any = None, bias: Any = None) -> Any:
    """A norm over the last axes."""
    x, axis = tensor(x), attributes.get("axis", -1)
    shape, epsilon = x.shape[axis % x.ndim :], attributes.get("epsilon", 1e-5)
    if attributes["op_type"] == "LayerNormalization":
        return F.layer_norm(x, shape, _optional(weight), _optional(bias), epsilon)
    return F.rms_norm(x, shape, _optional(weight), epsilon)


@operator("InstanceNormalization")
def _instance_norm(attributes: Attributes, x: Any, weight: Any, bias: Any) -> Any:
    epsilon = attributes.get("epsilon", 1e-5)
    if not isinstance(weight, Tensor):  # of ones, which an exporter wrote for no weights
        return F.instance_norm(tensor(x), eps=epsilon)
    return F.instance_norm(tensor(x), weight=weight, bias=tensor(bias), eps=epsilon)


@operator("GroupNormalization", "GroupNorm")
def _group_norm(attributes: Attributes, x: Any, weight: Any = None, bias: Any = None) -> Any:
    groups: Any = attributes.get("num_groups", attributes.get("groups"))
    epsilon = attributes.get("epsilon", 1e-5)
    return F.group_norm(tensor(x), groups, _optional(weight), _optional(bias), epsilon)


@operator("MeanVarianceNormalization")
def _mean_variance(attributes: Attributes, x: Any) -> Any:
    x, axes = tensor(x), attributes.get("axes", [0, 2, 3])
    middle = x - x.mean(axes, True)
    return middle / (middle.square().mean(axes, True).sqrt() + 1e-9)


@operator("LpNormalization")
def _normalize(attributes: Attributes, x: Any) -> Any:
    return F.normalize(tensor(x), attributes.get("p", 2), attributes.get("axis", -1))


@operator("LRN")
def _local_response(attributes: Attributes, x: Any) -> Any:
    alpha, beta = attributes.get("alpha", 1e-4), attributes.get("beta", 0.75)
    return F.local_response_norm(
        tensor(x), attributes["size"], alpha, beta, attributes.get("bias", 1.0)
    )


@operator("Attention")
def _attention(attributes: Attributes, q: Any, k: Any, v: Any, mask: Any = None, *_: Any) -> Any:
    """Of opset 23: heads apart, or side by side."""
    q, k, v = map(tensor, (q, k, v))
    flat = q.ndim == 3
    if flat:
        q = apart(q, attributes["q_num_heads"])
        k, v = (apart(item, attributes["kv_num_heads"]) for item in (k, v))
    causal, scale = bool(attributes.get("is_causal", 0)), attributes.get("scale")
    return attend(q, k, v, mask, causal, scale, flat)


def attend(
    q: Tensor, k: Tensor, v: Tensor, mask: Any, causal: bool, scale: Any, flat: bool
) -> Tensor:
    """Attention of heads that are apart; where `flat`, their results stand side by side."""
    made = F.scaled_dot_product_attention(
        q, k, v, _optional(mask), 0.0, causal, scale=scale, enable_gqa=q.shape[1] != k.shape[1]
    )
    return made.transpose(1, 2).reshape(made.shape[0], made.shape[2], -1) if flat else made


def apart(x: Tensor, heads: int) -> Tensor:
    """[batch, steps, heads * width] as [batch, heads, steps, width]."""
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


@operator("RotaryEmbedding")
def _rotary(attributes: Attributes, x: Any, cos: Any, sin: Any, places: Any = None) -> Any:
    x, cos, sin = map(tensor, (x, cos, sin))
    flat = x.ndim == 3
    x = apart(x, attributes["num_heads"]) if flat else x
    if places is not None:
        cos, sin = F.embedding(tensor(places), cos), F.embedding(tensor(places), sin)
    width = cos.shape[-1]
    cos, sin = (item.reshape(-1, 1, *item.shape[-2:]) for item in (cos, sin))
    if attributes.get("interleaved"):
        a, b = x[..., 0::2], x[..., 1::2]
        made = torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2)
    else:
        a, b, rest = x[..., :width], x[..., width : 2 * width], x[..., 2 * width :]
        made = torch.cat((a * cos - b * sin, b * cos + a * sin, rest), -1)
    return made.transpose(1, 2).flatten(2) if flat else made


@operator("LSTM", "GRU", "RNN")
def _recurrent(
    attributes: Attributes, x: Any, weight: Any, hidden: Any, bias: Any = None, *more: Any
) -> Any:
    """One layer; its gates may stand in another order, which no design depends on."""
    x, weight, hidden = map(tensor, (x, weight, hidden))
    kind, width, directions = attributes["op_type"], attributes["hidden_size"], weight.shape[0]
    first = more[1] if len(more) > 1 else None
    batched = bool(attributes.get("layout", 0))
    shape = (directions, x.shape[0 if batched else 1], width)
    state = _state(first, shape)
    biases = tensor(bias) if isinstance(bias, Tensor) else None
    flat: list[Tensor] = []
    for place in range(directions):
        flat += [weight[place], hidden[place]]
        if biases is not None:
            flat += list(biases[place].chunk(2))
    given = (flat, biases is not None, 1, 0.0, False, directions == 2, batched)
    if kind == "LSTM":
        cells = more[2] if len(more) > 2 else None
        cell = _state(cells, shape)
        out, *last = torch.lstm(x, (state, cell), *given)
    else:
        function = torch.gru if kind == "GRU" else torch.rnn_tanh
        out, *last = function(x, state, *given)
    # [steps, batch, directions * width] as ONNX has it, [steps, directions, batch, width]
    out = out.reshape(*out.shape[:2], directions, width)
    return [out if batched else out.transpose(1, 2), *last]


def _state(first: Any, shape: tuple[int, ...]) -> Tensor:
    """A first state of a recurrent layer; what is known of it, such as zeros, does not matter."""
    known_or_none = not isinstance(first, Tensor) or not first.is_meta
    return torch.zeros(shape, device="meta") if known_or_none else first
