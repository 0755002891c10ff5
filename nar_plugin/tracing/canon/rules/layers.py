"""Layers with weights: convolutions and linear layers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

import torch

from nar_plugin.tracing.canon.call import Call
from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node
from nar_plugin.tracing.canon.patches import patches, side_by_side
from nar_plugin.tracing.canon.rules.rule import Attributes, Rule, declare, on_calls, starts_at
from nar_plugin.tracing.record.record import DATA, PARAM


def sizes(values: Iterable[int]) -> str:
    """Such as `3x3`."""
    return "x".join(str(int(value)) for value in values)


declare(
    Rule(
        name="pointwise convolution of pooled features",
        effect="renamed",
        pattern="convolution with kernel 1 after global pooling",
        result="linear(in, out, bias)",
        reason="Squeeze and excitation is written with either.",
        source="Hu et al. 2018, arXiv 1709.01507, section 3",
    )
)
declare(
    Rule(
        name="pointwise convolution along a sequence",
        effect="renamed",
        pattern="1-D convolution with kernel 1, stride 1, one group",
        result="linear(in, out, bias)",
        reason="The same layer at every step; PointNets and feed-forward layers have either. In "
        "two dimensions it stays a convolution, as its papers call it.",
        source="Qi et al. 2017, arXiv 1612.00593, section 4.2",
    )
)


@on_calls(
    Rule(
        name="convolution",
        effect="renamed",
        pattern="conv1d, conv2d, conv3d, conv_transpose*d of every backend",
        result="conv(in, out, kernel, stride, dilation, groups, bias, transposed)",
        reason="What backend runs it is no design; where the kernel is 1, dilation is nothing.",
    ),
    "convolution",
    "_convolution",
    "convolution_overrideable",
)
def _convolution(call: Call) -> tuple[str, Attributes] | None:
    data, weight, bias, stride, _, dilation, transposed, _, groups = call.args[:9]
    kernel = weight.shape[2:]
    wide_in, wide_out = weight.shape[1] * groups, weight.shape[0]
    if transposed:
        wide_in, wide_out = weight.shape[0], weight.shape[1] * groups
    if data.shape[0] == 1 and groups > 1:  # each sample's own weights, as in a modulated one
        of_all, groups = groups, call.share(groups, weight, live=call.sources[1] >= 0)
        wide_in, wide_out = wide_in * groups // of_all, wide_out * groups // of_all
    steps = [1 if side == 1 else step for side, step in zip(kernel, dilation, strict=True)]
    plain = groups == 1 and not transposed
    if plain and tuple(kernel) == (1,) and tuple(stride) == (1,):
        return linear(wide_in, wide_out, bias is not None)
    call.notes["pointwise"] = plain and set(kernel) == {1}
    call.notes["weight"] = held(weight)
    attributes = {"groups": int(groups), "bias": bias is not None, "transposed": bool(transposed)}
    return "conv", {**_window(wide_in, wide_out, kernel, stride, steps), **attributes}


def _window(
    wide_in: int,
    wide_out: int,
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
) -> Attributes:
    return {
        "in": int(wide_in),
        "out": int(wide_out),
        "kernel": sizes(kernel),
        "stride": sizes(stride),
        "dilation": sizes(dilation),
    }


declare(
    Rule(
        name="patches side by side",
        effect="dropped",
        pattern="F.unfold and F.fold of patches that neither overlap nor leave anything out",
        result="",
        reason="They move values, as views do.",
    )
)


@on_calls(None, "im2col", "col2im")
def _unfolded(call: Call) -> tuple[str, Attributes] | None:
    return None if side_by_side(call) else (call.name, {})


declare(
    Rule(
        name="projected patches",
        effect="renamed",
        pattern="a linear layer on the patches that an image was cut into, by views, unfold or "
        "F.unfold",
        result="conv(in, out, kernel, stride, bias), the stride being the kernel",
        reason="A ViT's first layer is written with either.",
        source="Dosovitskiy et al. 2021, arXiv 2010.11929, section 3.1",
    )
)


def _of_rows(
    call: Call, place: int, wide_out: int, bias: bool, experts: int = 1
) -> tuple[str, Attributes]:
    """The node of a linear layer, or of a convolution where each row is a patch of an image.

    Args:
        call: The call.
        place: Which of its tensors holds the rows.
        wide_out: Width of the result.
        bias: Whether there is one.
        experts: Matrices in the weight.
    """
    wide_in = call.tensors[place].shape[-1]
    sides = patches(call, place) if experts == 1 else None
    if sides is None:
        return linear(wide_in, wide_out, bias, experts)
    same = _window(wide_in // prod(sides), wide_out, sides, sides, [1] * len(sides))
    return "conv", {**same, "groups": 1, "bias": bias, "transposed": False}


def linear(wide_in: int, wide_out: int, bias: bool, experts: int = 1) -> tuple[str, Attributes]:
    """The node of a linear layer."""
    attributes: Attributes = {"in": int(wide_in), "out": int(wide_out), "bias": bias}
    if experts > 1:
        attributes["experts"] = int(experts)
    return "linear", attributes


@on_calls(
    Rule(
        name="product with a weight",
        effect="renamed",
        pattern="mm, bmm, addmm, einsum, linear, mv, _grouped_mm with a parameter",
        result="linear(in, out, bias, experts)",
        reason="One layer, many spellings.",
    ),
    *("mm", "bmm", "addmm", "baddbmm", "mv", "addmv", "matmul", "dot"),
)
def _product(call: Call) -> tuple[str, Attributes] | None:
    left, right = call.tensors[-2], call.tensors[-1]
    left_source, right_source = call.sources[-2], call.sources[-1]
    bias = len(call.tensors) == 3 and call.sources[0] == PARAM
    if right_source == PARAM and left_source != PARAM:
        wide_out = right.shape[-1] if right.dim() > 1 else 1
        call.notes["weight"] = held(right)
        place = len(call.tensors) - 2
        return _of_rows(call, place, wide_out, bias, _experts(call, right))
    if left_source == PARAM and right_source != PARAM:
        wide_out = left.shape[-2] if left.dim() > 1 else 1
        call.notes["weight"] = held(left)
        return linear(left.shape[-1], wide_out, bias, _experts(call, left))
    folded = call.head_counts.get(id(left)) or call.head_counts.get(id(right))
    columns = int(right.shape[-1]) if right.dim() > 1 else 1
    call.notes.update(heads=folded, inner=int(left.shape[-1]), outer=columns)
    rows = int(left.shape[-2]) if left.dim() > 1 else 1
    call.notes.update(operands=(left_source, right_source), rows=rows, bias=bias)
    call.notes["rows_are_samples"] = left.dim() == 2
    call.notes["transposed"] = call.is_transposed(left), call.is_transposed(right)
    if left_source >= 0 or left_source == DATA:
        call.notes["place"] = call.place()
    if call.of_weights and call.samples is not None:
        call.notes["biased_for_one"] = call.samples.is_dense(left)
    return "matmul", {}


def held(weight: torch.Tensor) -> tuple[int, int, int]:
    """Which part of which memory a weight is: equal for its transposed view."""
    return weight.untyped_storage()._cdata, int(weight.storage_offset()), weight.numel()


def _experts(call: Call, weight: torch.Tensor) -> int:
    """How many matrices a batched weight holds; one that was expanded to the batch is one."""
    return call.share(weight.shape[0], weight) if weight.dim() == 3 and weight.stride(0) else 1


@on_calls(None, "linear")
def _linear(call: Call) -> tuple[str, Attributes] | None:
    weight = call.tensors[1]
    call.notes["weight"] = held(weight)
    return _of_rows(call, 0, weight.shape[0], len(call.tensors) > 2)


@on_calls(None, "_grouped_mm")
def _grouped(call: Call) -> tuple[str, Attributes] | None:
    weight = call.tensors[1]
    return linear(weight.shape[-2], weight.shape[-1], False, _experts(call, weight))


def is_of_channels(node: Node, made: torch.Tensor, channels: Iterable[int]) -> bool:
    """Whether a sum or product has a number for each channel of what a layer made, if known."""
    told = node.notes.get("along")
    if "along" not in node.notes or not isinstance(made, torch.Tensor):
        return True
    return told is not None and told.is_of(made, channels)


@starts_at(
    Rule(
        name="bias by hand",
        effect="fused",
        pattern="linear or convolution without a bias, then a parameter of its width added",
        result="the layer with a bias",
        reason="x @ w + b and F.linear(x, w, b) are one layer.",
    ),
    "linear",
    "conv",
)
def _bias(graph: Rewriter, index: int) -> None:
    node = graph.nodes[index]
    if node.attributes["bias"]:
        return
    added = graph.only_consumer(index)
    if added is None or graph.nodes[added].kind != "add":
        return
    width = int(node.attributes["out"]) * int(node.attributes.get("experts", 1))
    if graph.nodes[added].notes.get("operand_size") != width:
        return
    attributes = {**node.attributes, "bias": True}
    layer = Node(node.kind, attributes, node.inputs, node.path, node.out, node.reads, node.notes)
    graph.replace(added, layer, [index])


@starts_at(None, "matmul")
def _bias_of_copies(graph: Rewriter, index: int) -> None:
    """A learned query that was copied for each sample is multiplied and biased in two calls.

    For one sample it is one, since torch's `linear` then finds its input contiguous.
    """
    node = graph.nodes[index]
    added = graph.only_consumer(index) if node.notes.get("biased_for_one") else None
    if added is None or graph.nodes[added].kind != "add":
        return
    if graph.nodes[added].notes.get("operand_size") == node.notes["outer"]:
        graph.replace(added, Node("matmul", {}, [], node.path, node.out, notes=node.notes), [index])
