"""Undoes what exporters fold and add, where they leave a trace of it.

A batch norm that was folded into a convolution looks like the bias of one. Torch's exporters leave
a trace of it: the new one names the rule that it applied, the older one gives the weights that it
made a number for a name. Then the norm is put back; its weights are as many as they were.
"""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import Tensor, nn

from .._shared.program import empty

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
