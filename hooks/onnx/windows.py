"""ONNX's layers that slide a window: convolutions and pools."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F
from torch import Tensor

from .values import operator, tensor

Attributes = dict[str, Any]

_CONVOLUTIONS = {3: F.conv1d, 4: F.conv2d, 5: F.conv3d}
_TRANSPOSED = {3: F.conv_transpose1d, 4: F.conv_transpose2d, 5: F.conv_transpose3d}
_MAXIMA = {3: F.max_pool1d, 4: F.max_pool2d, 5: F.max_pool3d}
_MEANS = {3: F.avg_pool1d, 4: F.avg_pool2d, 5: F.avg_pool3d}
_ADAPTIVE: dict[int, Any] = {
    3: F.adaptive_avg_pool1d,
    4: F.adaptive_avg_pool2d,
    5: F.adaptive_avg_pool3d,
}
_ADAPTIVE_MAX = {3: F.adaptive_max_pool1d, 4: F.adaptive_max_pool2d, 5: F.adaptive_max_pool3d}


def convolution(attributes: Attributes, x: Any, weight: Any, bias: Any = None) -> Tensor:
    """A convolution; uneven pads are made before it."""
    x, weight = tensor(x), tensor(weight)
    kernel, rank = list(weight.shape[2:]), weight.ndim - 2
    steps, dilations = _settings(attributes, rank)
    x, pads = _padded(attributes, x, kernel, steps, dilations, 0.0)
    groups = attributes.get("group", 1)
    bias = None if bias is None else tensor(bias)
    return _CONVOLUTIONS[weight.ndim](x, weight, bias, steps, pads, dilations, groups)


@operator("Conv", "ConvTranspose")
def _convolution(attributes: Attributes, x: Any, weight: Any, bias: Any = None, *norm: Any) -> Any:
    function = convolution if attributes["op_type"] == "Conv" else transposed
    if not norm:
        return function(attributes, x, weight, bias)
    own, scale, shift, mean, variance = norm
    return F.batch_norm(function(attributes, x, weight, own), mean, variance, scale, shift)


def transposed(attributes: Attributes, x: Any, weight: Any, bias: Any = None) -> Tensor:
    """A transposed convolution."""
    weight = tensor(weight)
    rank, kernel = weight.ndim - 2, list(weight.shape[2:])
    steps, dilations = _settings(attributes, rank)
    pads = attributes.get("pads") or [0] * 2 * rank
    extra = attributes.get("output_padding") or [0] * rank
    if attributes.get("auto_pad", "NOTSET").startswith("SAME"):
        spare = [
            (size - 1) * d + 1 - step
            for size, d, step in zip(kernel, dilations, steps, strict=True)
        ]
        pads = [max(0, item) // 2 for item in spare] * 2
        extra = [item % 2 for item in spare]
    before, after = list(pads[:rank]), list(pads[rank:])
    extra = [item + max(0, a - b) for item, a, b in zip(extra, before, after, strict=True)]
    bias = None if bias is None else tensor(bias)
    groups = attributes.get("group", 1)
    function = _TRANSPOSED[weight.ndim]
    return function(tensor(x), weight, bias, steps, before, extra, groups, dilations)


@operator("MaxPool", "AveragePool")
def _pool(attributes: Attributes, x: Any) -> Any:
    x, kernel = tensor(x), list(attributes["kernel_shape"])
    steps, dilations = _settings(attributes, len(kernel))
    highest, up = attributes["op_type"] == "MaxPool", bool(attributes.get("ceil_mode", 0))
    x, pads = _padded(attributes, x, kernel, steps, dilations, float("-inf") if highest else 0.0)
    if highest:
        return _MAXIMA[x.ndim](x, kernel, steps, pads, dilations, up)
    counted = bool(attributes.get("count_include_pad", 0)) or not any(pads)
    if list(x.shape[2:]) == kernel and not any(pads):
        return _ADAPTIVE[x.ndim](x, 1)
    if set(kernel) == {1} and set(steps) == {1}:  # an adaptive pool of the size that is there
        return _ADAPTIVE[x.ndim](x, list(x.shape[2:]))
    return _MEANS[x.ndim](x, kernel, steps, pads, up, counted)


@operator("GlobalAveragePool")
def _global_mean(_: Attributes, x: Any) -> Any:
    return _ADAPTIVE[x.ndim](tensor(x), 1)


@operator("GlobalMaxPool")
def _global_maximum(_: Attributes, x: Any) -> Any:
    return _ADAPTIVE_MAX[x.ndim](tensor(x), 1)


def _settings(attributes: Attributes, rank: int) -> tuple[list[int], list[int]]:
    steps = attributes.get("strides") or [1] * rank
    return list(steps), list(attributes.get("dilations") or [1] * rank)


def _padded(
    attributes: Attributes,
    x: Tensor,
    kernel: list[int],
    steps: list[int],
    dilations: list[int],
    filler: float,
) -> tuple[Tensor, list[int]]:
    """The input, padded where torch's layer could not, and the layer's own pads."""
    rank, auto = len(kernel), attributes.get("auto_pad", "NOTSET")
    pads = list(attributes.get("pads") or [0] * 2 * rank)
    if auto.startswith("SAME"):
        pads = [0] * 2 * rank
        sizes = zip(x.shape[2:], kernel, steps, dilations, strict=True)
        for i, (size, width, step, dilation) in enumerate(sizes):
            whole = max(0, (-(-size // step) - 1) * step + (width - 1) * dilation + 1 - size)
            half = whole // 2 if auto == "SAME_UPPER" else whole - whole // 2
            pads[i], pads[i + rank] = half, whole - half
    even = pads[:rank] == pads[rank:]
    if even and all(
        2 * pad <= width or filler == 0 for pad, width in zip(pads, kernel, strict=False)
    ):
        return x, pads[:rank]
    flat = [side for i in reversed(range(rank)) for side in (pads[i], pads[i + rank])]
    return F.pad(x, flat, value=filler), [0] * rank
