"""Undoes what exporters fold and add, where they leave a trace of it.

A batch norm that was folded into a convolution looks like the bias of one. Torch's exporters leave
a trace of it: the new one names the rule that it applied, the older one gives the weights that it
made a number for a name. Then the norm is put back; its weights are as many as they were.
"""

from __future__ import annotations

import math
import re
from typing import Any

import onnx
import torch
from torch import Tensor, nn

from .._shared.program_tensors import empty
from .shapes import FLOATS

LAYERS = frozenset(
    "BatchNormalization Conv ConvTranspose Gemm GRU InstanceNormalization LayerNormalization LSTM "
    "MatMul RNN".split()
)

_CONTENT = ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data")
_LEAST_WEIGHT = 64  # elements of a constant that is a weight, though no layer reads it itself
_RULE = "FuseBatchNormIntoConv"  # onnxscript/rewriter/rules/common/_fuse_batchnorm.py
_NUMBERED = re.compile(r"onnx::Conv(Transpose)?_\d+")  # torch.onnx's pass eval_peephole
_PARTS = ("own bias", "scale", "shift", "mean", "variance")


def unfold(graph: Any, weights: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Add the weights of folded norms, and name them by the result of their convolution.

    Args:
        graph: The `GraphProto`.
        weights: By name; those of the norms are added, and a bias that was theirs is taken out.
    """
    found: dict[str, tuple[str, ...]] = {}
    for node in graph.node:
        if node.op_type not in ("Conv", "ConvTranspose") or not _is_folded(node):
            continue
        weight = weights.get(node.input[1])
        if not isinstance(weight, Tensor):
            continue
        groups = next((item.i for item in node.attribute if item.name == "group"), 1)
        width = weight.shape[0] if node.op_type == "Conv" else weight.shape[1] * groups
        bias = node.input[2] if len(node.input) > 2 else ""
        names = tuple(f"{node.output[0]} {part}" for part in _PARTS)
        own = bias.endswith(".bias")  # else the norm's own became one
        weights[names[0]] = _learned(width) if own else None
        weights |= {names[1]: _learned(width), names[2]: _learned(width)}
        weights |= {name: empty(torch.float32, [width]) for name in names[3:]}
        weights.pop(bias, None)
        del node.input[2:]
        node.input.append("")
        found[node.output[0]] = names
    return found


def _learned(width: int) -> nn.Parameter:
    return nn.Parameter(empty(torch.float32, [width]), requires_grad=False)


def _is_folded(node: Any) -> bool:
    if any(_RULE in item.value for item in node.metadata_props if item.key.endswith("rule_name")):
        return True
    return len(node.input) > 1 and bool(_NUMBERED.fullmatch(node.input[1]))


def has_values(item: Any) -> bool:
    """Whether the values of a tensor were read: those of large ones never are."""
    return any(getattr(item, name) for name in _CONTENT) or 0 in item.dims


def hoist(graph: Any) -> set[str]:
    """Make initializers of the weights that are nodes, as Paddle and onnx's own light models do.

    Returns:
        The names of large constants among them, which are no weights.
    """
    large: set[str] = set()
    read = {name for node in graph.node if node.op_type in LAYERS for name in node.input}
    shapes = {item.name: item for item in graph.initializer}
    bare = not len(graph.initializer)  # its weights are all nodes
    kept = []
    for node in graph.node:
        if node.op_type == "Constant" and node.output:
            value: Any = next((item.t for item in node.attribute if item.name == "value"), None)
            least = 1 if node.output[0] in read else _LEAST_WEIGHT if bare else 1 << 62
            real = value is not None and value.data_type in FLOATS and len(value.dims) > 0
            unread = value is not None and not has_values(value)
            if unread and not bare and node.output[0] not in read:
                large.add(node.output[0])
            if unread or (real and math.prod(value.dims) >= least):
                graph.initializer.add().CopyFrom(value)
                graph.initializer[-1].name = node.output[0]
                continue
        if node.op_type == "ConstantOfShape" and node.output[0] in read and node.input[0] in shapes:
            sizes = onnx.numpy_helper.to_array(shapes[node.input[0]]).tolist()
            graph.initializer.add(name=node.output[0], data_type=1, dims=sizes)
            continue
        kept.append(node)
    if len(kept) < len(graph.node):
        nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node in kept]
        del graph.node[:]
        graph.node.extend(nodes)
    return large


def without_guards(graph: Any) -> None:
    """Take out what attention is guarded with: `Where(IsNaN(x), 0, x)` becomes x."""
    makers = {name: node for node in graph.node for name in node.output}
    for node in graph.node:
        if node.op_type != "Where" or len(node.input) != 3:
            continue
        maker = makers.get(node.input[0])
        if maker is not None and maker.op_type == "IsNaN" and maker.input[0] == node.input[2]:
            kept = node.input[2]
            del node.input[:]
            node.input.append(kept)
            node.op_type = "Identity"
