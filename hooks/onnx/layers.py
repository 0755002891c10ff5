"""ONNX's linear layers, activations with settings, and resizing."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .values import ints, operator, tensor

Attributes = dict[str, Any]


@operator("Gemm")
def _gemm(attributes: Attributes, a: Any, b: Any, c: Any = None) -> Any:
    a, b = tensor(a), tensor(b)
    a = a.t() if attributes.get("transA") else a
    plain = attributes.get("alpha", 1.0) == 1.0 and attributes.get("beta", 1.0) == 1.0
    if plain and (c is None or (isinstance(c, Tensor) and c.ndim == 1)):
        return F.linear(a, b if attributes.get("transB") else b.t(), c)
    made = torch.mm(a, b.t() if attributes.get("transB") else b) * attributes.get("alpha", 1.0)
    return made if c is None else made + tensor(c) * attributes.get("beta", 1.0)


@operator("LeakyRelu", "Elu", "Celu", "Selu", "ThresholdedRelu", "HardSigmoid", "Gelu", "Swish")
def _activation(attributes: Attributes, x: Any) -> Any:
    x, name = tensor(x), attributes["op_type"]
    alpha = attributes.get("alpha")
    if name == "LeakyRelu":
        return F.leaky_relu(x, 0.01 if alpha is None else alpha)
    if name == "Elu":
        return F.elu(x, 1.0 if alpha is None else alpha)
    if name == "Celu":
        return F.celu(x, 1.0 if alpha is None else alpha)
    if name == "Selu":
        return F.selu(x)
    if name == "ThresholdedRelu":
        return F.threshold(x, 1.0 if alpha is None else alpha, 0.0)
    if name == "Gelu":
        return F.gelu(x, approximate=attributes.get("approximate", "none"))
    if name == "Swish":
        return F.silu(x) if alpha in (None, 1.0) else x * torch.sigmoid(alpha * x)
    slope, offset = 0.2 if alpha is None else alpha, attributes.get("beta", 0.5)
    if abs(slope - 1 / 6) < 1e-4 and offset == 0.5:
        return F.hardsigmoid(x)
    return (x * slope + offset).clamp(0, 1)


@operator("PRelu")
def _prelu(_: Attributes, x: Any, slope: Any) -> Any:
    return F.prelu(tensor(x), tensor(slope).reshape(-1))


@operator("Softmax", "LogSoftmax", "Hardmax")
def _softmax(attributes: Attributes, x: Any) -> Any:
    function = F.log_softmax if attributes["op_type"] == "LogSoftmax" else F.softmax
    return function(tensor(x), attributes.get("axis", -1 if attributes["opset"] >= 13 else 1))


@operator("Resize", "Upsample")
def _resize(attributes: Attributes, x: Any, *given: Any) -> Any:
    x, rank = tensor(x), x.ndim - 2
    last = [item for item in given if item is not None and tensor(item).numel()]
    sizes = ints(last[-1]) if len(given) > 2 and given[2] is not None and last else None
    if sizes is None:
        scales = [float(s) for s in (last[-1] if last else attributes["scales"])]
        full = [1.0] * (x.ndim - len(scales)) + scales
        sizes = [int(size * scale) for size, scale in zip(x.shape, full, strict=True)]
    mode = {"linear": "linear bilinear trilinear".split()[rank - 1], "cubic": "bicubic"}
    kind = mode.get(attributes.get("mode", "nearest"), "nearest")
    aligned = attributes.get("coordinate_transformation_mode") == "align_corners"
    if kind == "nearest":
        return F.interpolate(x, sizes[-rank:], mode=kind)
    return F.interpolate(x, sizes[-rank:], mode=kind, align_corners=aligned)


@operator("GridSample")
def _sample(attributes: Attributes, x: Any, grid: Any) -> Any:
    mode = {"linear": "bilinear", "cubic": "bicubic"}.get(attributes.get("mode", ""), None)
    mode = mode or attributes.get("mode", "bilinear")
    aligned = bool(attributes.get("align_corners", 0))
    return F.grid_sample(
        tensor(x), tensor(grid), mode, attributes.get("padding_mode", "zeros"), aligned
    )
