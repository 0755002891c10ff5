"""Turns recorded calls into canonical operations with the attributes that make designs differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from nar_plugin.tracing.graph import Attribute, Op
from nar_plugin.tracing.recorder import CONST, DATA, PARAM, Record
from nar_plugin.tracing.vocabulary import (
    ARITHMETIC,
    ATTENTION_KERNELS,
    MASKING,
    NAMES,
    WEIGHT_ARITHMETIC,
)

_QUICK_GELU = 1.702  # x * sigmoid(1.702 x): the one factor that tells an activation from another


@dataclass(slots=True)
class Node:
    """One operation while the graph is still being rewritten.

    Attributes:
        kind: Entry of the operator vocabulary.
        attributes: Name and value of each attribute.
        inputs: Indices of the nodes it reads, in order; PARAM for a learned tensor.
        path: Module path that issued it.
    """

    kind: str
    attributes: dict[str, Attribute]
    inputs: list[int]
    path: str
    notes: dict[str, Any] = field(default_factory=dict)

    def op(self) -> Op:
        """The frozen form."""
        return Op(self.kind, tuple(sorted(self.attributes.items())))


Rule = Callable[[Record, "list[torch.Tensor]", "list[int]"], "tuple[str, dict[str, Attribute]]"]


def nodes_of(records: list[Record], head_counts: dict[int, int]) -> tuple[list[Node], list[int]]:
    """Canonical nodes in recorded order.

    Args:
        records: The recorded calls.
        head_counts: Heads that were folded into the batch, by id of the folded tensor.

    Returns:
        The nodes, and for every record the node (or PARAM, DATA, CONST) that stands for it.
    """
    nodes: list[Node] = []
    stands_for: list[int] = []
    for record in records:
        sources = [stands_for[s] if s >= 0 else s for s in record.sources]
        node = _node(record, sources, head_counts)
        if node is None:
            stands_for.append(next((s for s in sources if s >= 0), max(sources, default=CONST)))
            continue
        node.inputs = [s for s in sources if s >= 0]
        if _is_pooled(node, nodes):
            _pointwise_as_linear(node)
        stands_for.append(len(nodes))
        nodes.append(node)
    return nodes, stands_for


def _is_pooled(node: Node, nodes: list[Node]) -> bool:
    """Whether a node works on globally pooled features; noted on the node for those after it."""
    pool = node.kind == "mean" and int(node.attributes.get("dims", 0)) > 1
    after = bool(node.inputs) and all(nodes[index].notes.get("pooled") for index in node.inputs)
    node.notes["pooled"] = pool or after
    return after


def _pointwise_as_linear(node: Node) -> None:
    """A 1x1 convolution of pooled features is a linear layer, as in squeeze and excitation."""
    if node.kind == "conv" and set(str(node.attributes["kernel"]).split("x")) == {"1"}:
        if node.attributes["groups"] == 1:
            node.kind = "linear"
            node.attributes = {name: node.attributes[name] for name in ("in", "out", "bias")}


def _node(record: Record, sources: list[int], head_counts: dict[int, int]) -> Node | None:
    if isinstance(record.func, Op):
        return Node(record.func.kind, dict(record.func.attributes), [], record.path)
    name = record.func.name().split("::")[1].split(".")[0]
    tensors = _tensors(record)
    attributes: dict[str, Attribute] | None
    if name in _RULES:
        kind, attributes = _RULES[name](record, tensors, sources)
    else:
        name = name.rstrip("_") if not name.startswith("__") else name
        kind, attributes = NAMES.get(name, name.lstrip("_")), _attributes(name, record, sources)
    if attributes is None:
        return None
    node = Node(kind, attributes, [], record.path)
    if kind == "matmul":
        node.notes = _product(tensors, head_counts)
    elif kind == "mean":
        node.notes = {"width": int(tensors[0].shape[-1])}
    return node


def _attributes(name: str, record: Record, sources: list[int]) -> dict[str, Attribute] | None:
    """Attributes of a call without a rule of its own; None where it is only bookkeeping."""
    operands = sum(s != CONST for s in sources)
    if name in WEIGHT_ARITHMETIC and max(sources) < 0 and DATA not in sources:
        return None  # weight_norm, spectral_norm, Gemma's 1 + weight: still a weight
    if name in ARITHMETIC:
        return _arithmetic(record, sources)
    if name in MASKING and operands < 2:
        return _clamped(record) if name.startswith("clamp") else None
    if name in ("cat", "stack") and len(set(sources) - {CONST}) == 1:
        return None  # parts of one tensor in another order, or put behind an empty cache
    if name in ("index", "gather", "index_select") and max(sources) < 0:
        return None  # a look-up in a learned table, such as a relative position bias
    if name in ("pow", "float_power"):
        exponent = record.args[1] if len(record.args) > 1 else None
        return {"exponent": float(exponent)} if isinstance(exponent, int | float) else {}
    if name in _REDUCTIONS:
        return {"dims": _reduced_dims(record)}
    return {}


def _arithmetic(record: Record, sources: list[int]) -> dict[str, Attribute] | None:
    tensors = _tensors(record)
    if sum(s >= 0 or s == DATA for s in sources) < 2:
        others = [
            (tensor, source)
            for tensor, source in zip(tensors, sources, strict=True)
            if source < 0 and source != DATA
        ]
        if not any(tensor.numel() > 1 for tensor, _ in others):
            number = record.args[1] if len(record.args) > 1 else None
            if isinstance(number, float) and abs(number - _QUICK_GELU) < 1e-3:
                return {"factor": _QUICK_GELU}
            return None
        learned = any(source == PARAM for _, source in others)
        return {"operand": "param" if learned else "const"}
    return {}


def _clamped(record: Record) -> dict[str, Attribute] | None:
    limits = [a for a in record.args[1:3] if isinstance(a, int | float)]
    return {"limits": "0..6"} if limits == [0, 6] else None


def _tensors(record: Record) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    for item in (*record.args, *record.kwargs.values()):
        if isinstance(item, torch.Tensor):
            found.append(item)
        elif type(item) is list or type(item) is tuple:
            found.extend(entry for entry in item if isinstance(entry, torch.Tensor))
    return found


def _product(tensors: list[torch.Tensor], head_counts: dict[int, int]) -> dict[str, Any]:
    """What a batched product tells of attention: heads and the width of one head."""
    left, right = tensors[-2], tensors[-1]
    heads = head_counts.get(id(left)) or head_counts.get(id(right))
    if not heads:
        heads = left.shape[0] if left.dim() == 3 else 1
    return {"heads": int(heads), "inner": int(left.shape[-1]), "outer": int(right.shape[-1])}


# -- rules with attributes -------------------------------------------------------------------


def _size(values: Any) -> str:
    return "x".join(str(int(value)) for value in values)


def _conv(record: Record, tensors: list[torch.Tensor], sources: list[int]) -> Any:
    _, weight, bias, stride, _, dilation, transposed, _, groups = record.args[:9]
    shape = weight.shape
    wide_in, wide_out = shape[1] * groups, shape[0]
    if transposed:
        wide_in, wide_out = shape[0], shape[1] * groups
    return "conv", {
        "in": int(wide_in),
        "out": int(wide_out),
        "kernel": _size(shape[2:]),
        "stride": _size(stride),
        "dilation": _size(dilation),
        "groups": int(groups),
        "bias": bias is not None,
        "transposed": bool(transposed),
    }


def _linear(wide_in: int, wide_out: int, bias: bool, experts: int = 1) -> Any:
    attributes: dict[str, Attribute] = {"in": int(wide_in), "out": int(wide_out), "bias": bias}
    if experts > 1:
        attributes["experts"] = int(experts)
    return "linear", attributes


def _matmul(record: Record, tensors: list[torch.Tensor], sources: list[int]) -> Any:
    """A product with a learned matrix is a linear layer; of two live tensors, a matmul.

    `addmm` adds a bias, `baddbmm` may also add a mask.
    """
    name = record.func.name().split("::")[1].split(".")[0]
    if name in WEIGHT_ARITHMETIC and max(sources) < 0 and DATA not in sources:
        return "matmul", None  # the power iteration of spectral_norm
    added = len(tensors) == 3
    left, right = tensors[-2], tensors[-1]
    left_source, right_source = sources[-2], sources[-1]
    bias = added and sources[0] == PARAM
    if right_source == PARAM and left_source != PARAM:
        experts = right.shape[0] if right.dim() == 3 else 1
        rows = right.shape[-1] if right.dim() > 1 else 1
        return _linear(left.shape[-1], rows, bias, experts)
    if left_source == PARAM and right_source != PARAM:
        experts = left.shape[0] if left.dim() == 3 else 1
        return _linear(left.shape[-1], left.shape[-2], bias, experts)
    return "matmul", {}


def _aten_linear(record: Record, tensors: list[torch.Tensor], sources: list[int]) -> Any:
    weight = tensors[1]
    return _linear(weight.shape[1], weight.shape[0], len(tensors) > 2)


def _grouped_mm(record: Record, tensors: list[torch.Tensor], sources: list[int]) -> Any:
    weight = tensors[1]
    experts = weight.shape[0] if weight.dim() == 3 else 1
    return _linear(weight.shape[-2], weight.shape[-1], False, experts)


def _embedding(record: Record, tensors: list[torch.Tensor], sources: list[int]) -> Any:
    vocabulary, width = tensors[0].shape[:2]
    return "embedding", {"vocabulary": int(vocabulary), "width": int(width)}


def _batch_norm(record: Record, tensors: list[torch.Tensor], sources: list[int]) -> Any:
    return "batch_norm", {"width": int(tensors[0].shape[1])}


def _layer_norm(record: Record, tensors: list[torch.Tensor], sources: list[int]) -> Any:
    return "layer_norm", {"width": int(record.args[1][-1]), "affine": len(tensors) > 1}


def _rms_norm(record: Record, tensors: list[torch.Tensor], sources: list[int]) -> Any:
    return "rms_norm", {"width": int(record.args[1][-1]), "affine": len(tensors) > 1}


def _group_norm(record: Record, tensors: list[torch.Tensor], sources: list[int]) -> Any:
    width, groups = record.args[4], record.args[6]
    return "group_norm", {"width": int(width), "groups": int(groups)}


def _pool(record: Record, tensors: list[torch.Tensor], sources: list[int]) -> Any:
    name = NAMES[record.func.name().split("::")[1].split(".")[0]]
    kernel = record.args[1]
    stride = record.args[2] if len(record.args) > 2 and record.args[2] else kernel
    return name, {"kernel": _size(kernel), "stride": _size(stride)}


def _adaptive(record: Record, tensors: list[torch.Tensor], sources: list[int]) -> Any:
    name = NAMES[record.func.name().split("::")[1].split(".")[0]]
    if set(record.args[1]) == {1}:  # 2-D average pooling to one pixel comes as a mean
        pool = "mean" if name == "adaptive_avg_pool" else "max"
        return pool, {"dims": len(record.args[1])}
    return name, {"output": _size(record.args[1])}


def _attention(record: Record, tensors: list[torch.Tensor], sources: list[int]) -> Any:
    query, value = tensors[0], tensors[2]
    mask = len(tensors) > 3 and sources[3] != CONST
    return "attention", {
        "heads": int(query.shape[1]),
        "width": int(query.shape[-1]),
        "value_width": int(value.shape[-1]),
        "bias": mask,
    }


def _gelu(record: Record, tensors: list[torch.Tensor], sources: list[int]) -> Any:
    return "gelu", {"approximate": record.kwargs.get("approximate", "none")}


def _hardtanh(record: Record, tensors: list[torch.Tensor], sources: list[int]) -> Any:
    limits = [float(value) for value in record.args[1:3]]
    return ("relu6", {}) if limits == [0.0, 6.0] else ("hardtanh", {})


def _leaky(record: Record, tensors: list[torch.Tensor], sources: list[int]) -> Any:
    slope = float(record.args[1]) if len(record.args) > 1 else 0.01
    return "leaky_relu", {"slope": slope}


def _upsample(record: Record, tensors: list[torch.Tensor], sources: list[int]) -> Any:
    name = record.func.name().split("::")[1].split(".")[0]
    return "upsample", {"mode": name.removeprefix("_").removeprefix("upsample_")}


_PRODUCTS = ("mm", "bmm", "addmm", "baddbmm", "mv", "addmv", "matmul", "dot")
_REDUCTIONS = frozenset("mean sum max min amax amin var std var_mean std_mean logsumexp".split())

_RULES: dict[str, Rule] = {
    "convolution": _conv,
    "linear": _aten_linear,
    "_grouped_mm": _grouped_mm,
    "embedding": _embedding,
    "embedding_bag": _embedding,
    "_embedding_bag": _embedding,
    "native_layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
    "_fused_rms_norm": _rms_norm,
    "native_group_norm": _group_norm,
    "gelu": _gelu,
    "gelu_": _gelu,
    "hardtanh": _hardtanh,
    "hardtanh_": _hardtanh,
    "leaky_relu": _leaky,
    "leaky_relu_": _leaky,
    **dict.fromkeys(_PRODUCTS, _matmul),
    **dict.fromkeys((n for n, kind in NAMES.items() if kind == "batch_norm"), _batch_norm),
    **dict.fromkeys((n for n in NAMES if NAMES[n] in ("max_pool", "avg_pool")), _pool),
    **dict.fromkeys((n for n in NAMES if NAMES[n].startswith("adaptive")), _adaptive),
    **dict.fromkeys(ATTENTION_KERNELS, _attention),
    **{
        name: _upsample
        for kind in (
            "nearest1d",
            "nearest2d",
            "nearest3d",
            "bilinear2d",
            "bicubic2d",
            "linear1d",
            "trilinear3d",
        )
        for name in (
            f"upsample_{kind}",
            f"_upsample_{kind}_aa",
            f"_upsample_{kind.replace('est', 'est_exact')}",
        )
    },
}


def _reduced_dims(record: Record) -> int:
    dims = record.args[1] if len(record.args) > 1 else record.kwargs.get("dim")
    if isinstance(dims, int):
        return 1
    return len(dims) if isinstance(dims, list | tuple) else 0
