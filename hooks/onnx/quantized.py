"""Quantized operators as their float designs.

A value that is quantized stays the float that it stands for, so a pair of `QuantizeLinear` and
`DequantizeLinear` leaves nothing. Scales and zero points are no part of a design.

Source: onnxruntime's docs/ContribOperators.md.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from .values import OPERATORS, Scale, operator, tensor
from .windows import convolution

Attributes = dict[str, Any]
# Inputs that are weights in a quantized operator, whatever their type in the file.
PACKED = {
    "DequantizeLinear": (0,),
    "ConvInteger": (1,),
    "MatMulInteger": (1,),
    "QLinearConv": (3, 8),
    "QLinearMatMul": (3,),
    "QGemm": (3, 6),
    "QAttention": (1, 2),
    "DynamicQuantizeMatMul": (1,),
    "MatMulIntegerToFloat": (1,),
    "MatMulNBits": (1,),
    "DynamicQuantizeLSTM": (1, 2),
}


@operator("QuantizeLinear", "DequantizeLinear")
def _same(_: Attributes, x: Any, *others: Any) -> Any:
    return x


@operator("DynamicQuantizeLinear")
def _quantized(_: Attributes, x: Any) -> Any:
    return [x, Scale(), Scale()]


@operator("ConvInteger")
def _integer_convolution(attributes: Attributes, x: Any, weight: Any, *_: Any) -> Any:
    return convolution(attributes, x, weight)


@operator("MatMulInteger", "DynamicQuantizeMatMul", "MatMulIntegerToFloat")
def _integer_product(attributes: Attributes, a: Any, b: Any, *others: Any) -> Any:
    place = {"DynamicQuantizeMatMul": 2, "MatMulIntegerToFloat": 4}.get(attributes["op_type"], 9)
    bias = others[place] if len(others) > place else None
    made = torch.matmul(tensor(a), tensor(b))
    return made if bias is None else made + tensor(bias)


@operator("QLinearConv")
def _quantized_convolution(
    attributes: Attributes, x: Any, s: Any, z: Any, weight: Any, *others: Any
) -> Any:
    return convolution(attributes, x, weight, others[4] if len(others) > 4 else None)


@operator("QLinearMatMul")
def _quantized_product(_: Attributes, a: Any, s: Any, z: Any, b: Any, *others: Any) -> Any:
    return torch.matmul(tensor(a), tensor(b))


@operator("QLinearAdd", "QLinearMul")
def _quantized_pair(attributes: Attributes, a: Any, s: Any, z: Any, b: Any, *others: Any) -> Any:
    return OPERATORS[attributes["op_type"].removeprefix("QLinear")](attributes, a, b)


@operator("QLinearSigmoid", "QLinearGlobalAveragePool", "QLinearLeakyRelu", "QLinearSoftmax")
def _quantized_unary(attributes: Attributes, x: Any, *others: Any) -> Any:
    name = attributes["op_type"].removeprefix("QLinear")
    return OPERATORS[name](attributes | {"op_type": name}, x)


@operator("QLinearConcat")
def _quantized_concat(attributes: Attributes, s: Any, z: Any, *items: Any) -> Any:
    return OPERATORS["Concat"](attributes, *items[::3])


@operator("QGemm")
def _quantized_gemm(
    attributes: Attributes, a: Any, s: Any, z: Any, b: Any, t: Any, y: Any, c: Any = None, *_: Any
) -> Any:
    return OPERATORS["Gemm"](attributes, a, b, c)


@operator("DynamicQuantizeLSTM")
def _quantized_recurrent(
    attributes: Attributes, x: Any, weight: Any, hidden: Any, *more: Any
) -> Any:
    """Its matrices stand the other way round."""
    turned = (tensor(item).transpose(1, 2) for item in (weight, hidden))
    return OPERATORS["LSTM"](attributes | {"op_type": "LSTM"}, x, *turned, *more[:4])


@operator("MatMulNBits")
def _packed_product(attributes: Attributes, x: Any, packed: Any, *_: Any) -> Any:
    """The weight is a table of its packed bytes; its sizes are attributes."""
    return F.linear(tensor(x), tensor(packed))
