"""Pooling, reductions and resampling."""

from __future__ import annotations

from math import prod

import torch

from nar_plugin.tracing.canon.call import Call
from nar_plugin.tracing.canon.fusion import Rewriter
from nar_plugin.tracing.canon.node import Node
from nar_plugin.tracing.canon.order import places
from nar_plugin.tracing.canon.rules.layers import sizes
from nar_plugin.tracing.canon.rules.rule import Attributes, Rule, declare, on_calls, starts_at
from nar_plugin.tracing.canon.weights import unmoved
from nar_plugin.tracing.record.record import DATA
from nar_plugin.tracing.vocabulary import NAMES, RESAMPLINGS

GLOBAL: Attributes = {"over": "positions"}
_SMALLEST_GLOBAL_WINDOW = 4  # a window of 2 or 3 may cover a small image by chance
_IN_STEPS = frozenset({"mean", "sum", "max", "min"})
_ROUNDING = 1e-6

declare(
    Rule(
        name="global pooling",
        effect="renamed",
        pattern="mean or max over all positions, adaptive pooling to one, a window as large as "
        "the features or larger",
        result="mean(over=positions), max(over=positions)",
        reason="x.mean((2, 3)), nn.AdaptiveAvgPool2d(1) and F.avg_pool2d(x, x.shape[2:]) are one "
        "pooling, and its window is no attribute: it follows the resolution.",
        source="Lin et al. 2014, arXiv 1312.4400, section 3.2",
    )
)


@on_calls(
    Rule(
        name="pooling",
        effect="renamed",
        pattern="max_pool*d, avg_pool*d, with or without indices",
        result="max_pool(kernel, stride), avg_pool(kernel, stride)",
        reason="The stride is the kernel where none is given.",
    ),
    *(name for name, kind in NAMES.items() if kind in ("max_pool", "avg_pool")),
)
def _pool(call: Call) -> tuple[str, Attributes] | None:
    kind, kernel = NAMES[call.name], call.args[1]
    features = tuple(call.tensors[0].shape[2:])
    padding = call.args[3] if len(call.args) > 3 else [0]
    whole = len(kernel) == len(features) and all(map(int.__ge__, kernel, features))
    covers = whole and not any(padding if isinstance(padding, list) else [0])
    if covers and min(features) >= _SMALLEST_GLOBAL_WINDOW:
        return "mean" if kind == "avg_pool" else "max", dict(GLOBAL)
    stride = call.args[2] if len(call.args) > 2 and call.args[2] else kernel
    return kind, {"kernel": sizes(kernel), "stride": sizes(stride)}


@on_calls(None, *(name for name, kind in NAMES.items() if kind.startswith("adaptive")))
def _adaptive(call: Call) -> tuple[str, Attributes] | None:
    kind = NAMES[call.name]
    if set(call.args[1]) == {1}:
        return "mean" if kind == "adaptive_avg_pool" else "max", dict(GLOBAL)
    return kind, {"output": sizes(call.args[1])}


@on_calls(
    Rule(
        name="reductions",
        effect="renamed",
        pattern="sum, var, std, amax, logsumexp, ...",
        result="the reduction and the number of reduced dimensions",
        reason="Which dimension holds the channels is layout.",
    ),
    *"mean sum max min amax amin var std var_mean std_mean logsumexp linalg_vector_norm".split(),
)
def _reduced(call: Call) -> tuple[str, Attributes] | None:
    kind = NAMES.get(call.name, call.name)
    place = 2 if call.name == "linalg_vector_norm" else 1
    dims = call.args[place] if len(call.args) > place else call.kwargs.get("dim")
    tensor = call.tensors[0]
    if call.name == "linalg_vector_norm" and (degree := _degree(call)) != "2.0":
        call.notes["ord"] = degree
    if isinstance(dims, int):
        dims = [dims]
    if not isinstance(dims, list | tuple) or len(call.tensors) > 1:
        return kind, {"dims": 0, **_ord(call)}
    call.notes["negated"] = call.live == 1 and call.scaled().scale < 0
    rank = tensor.dim()
    axes = sorted(dim % rank for dim in dims) if rank else []
    call.notes["channels"] = _grouped(call)
    if kind in ("sum", "mean") and axes == [0] and _copies(call) == tensor.shape[0] > 1:
        return None
    first = _whole(call)
    if kind in _IN_STEPS and first is not None and first.kind == kind:
        before = call.sources[0]
        said = _reduction(call, kind, tensor.shape, axes)
        alone = Node(*said, [before], call.path, call.out, notes=dict(call.notes))
        together = _instead(call, first, kind, _together(first, axes, rank))
        call.notes["apart"] = before, alone
        return together
    return _reduction(call, kind, tensor.shape, axes)


declare(
    Rule(
        name="one dimension after the other",
        effect="fused",
        pattern="a mean, sum or maximum of the same of other dimensions",
        result="one reduction",
        reason="x.mean(3).mean(2) is x.mean((2, 3)).",
    )
)


declare(
    Rule(
        name="sum of copies",
        effect="dropped",
        pattern="a sum or mean over a first dimension along which one value stands several times",
        result="",
        reason="It is the value times a number; kernels add up parts so.",
    )
)


def _copies(call: Call) -> int:
    """How many times a call reads what a node made, along its first dimension."""
    strides = call.tensors[0].stride()
    if min(strides, default=1) == 0 < strides[0]:
        return 0
    size = call.nodes[call.sources[0]].size if call.sources[0] >= 0 else 0
    return call.tensors[0].numel() // size if size else 0


def _whole(call: Call) -> Node | None:
    """The reduction whose whole result a call reads first."""
    node = call.nodes[call.sources[0]] if call.sources[0] >= 0 else None
    if node is None or "dims" not in node.notes:
        return None
    made = node.out[0] if isinstance(node.out, tuple | list) else node.out
    read = call.tensors[0]
    same = (made.shape, made.stride()) == (read.shape, read.stride())
    return node if same and not call.order(read) else None


def _together(first: Node, axes: list[int], rank: int) -> list[int]:
    """The dimensions that two reductions take away, the second of them given."""
    shape, dims = first.notes["shape"], first.notes["dims"]
    left = list(range(len(shape)))
    if rank < len(shape):
        left = [axis for axis in left if axis not in dims]
    return sorted({*dims, *(left[axis] for axis in axes)})


def _instead(call: Call, first: Node, kind: str, axes: list[int]) -> tuple[str, Attributes]:
    """The node of a reduction of what the first one reduced, and read."""
    call.sources = [*(first.inputs or [DATA]), *call.sources[1:]]
    call.roots = {id(call.tensors[0]): read for read in first.reads[:1]}
    call.notes["channels"] = first.notes.get("channels", 0)
    return _reduction(call, kind, first.notes["shape"], axes)


@starts_at(None, *sorted(_IN_STEPS))
def _apart(graph: Rewriter, index: int) -> None:
    """Where something else reads the first reduction too, the second is one of its own."""
    before, alone = graph.nodes[index].notes.get("apart", (None, None))
    if before is not None and list(graph.readers(before)):
        graph.replace(index, alone, [])


def _reduction(
    call: Call, kind: str, shape: tuple[int, ...], axes: list[int]
) -> tuple[str, Attributes]:
    """The node of a reduction of a tensor of this shape."""
    rank, width = len(shape), prod(shape[axis] for axis in axes)
    grouped = call.notes.get("channels", 0) and axes == list(range(2, rank))
    named = "groups" if grouped else _named(axes, rank)
    call.notes |= {"shape": shape, "dims": axes, "width": width, "axes": named}
    call.notes["spread"] = places(shape, [axis for axis in range(rank) if axis not in axes])
    if kind in ("mean", "max") and len(shape) - len(axes) == 2 and 0 not in axes:
        return kind, dict(GLOBAL)
    return kind, {"dims": len(axes), **_ord(call)}


def _degree(call: Call) -> str:
    """Of a vector norm."""
    return str(float(call.args[1] if len(call.args) > 1 else call.kwargs.get("ord", 2)))


def _ord(call: Call) -> Attributes:
    return {"ord": call.notes["ord"]} if "ord" in call.notes else {}


declare(
    Rule(
        name="sum over how many",
        effect="fused",
        pattern="a sum divided by the number of its terms",
        result="mean",
        reason="One function.",
    )
)


def as_mean(call: Call) -> tuple[str, Attributes] | None:
    """The mean that a product with a number makes of a sum, if it does."""
    if call.name not in ("div", "mul") or len(call.args) < 2:
        return None
    first, number = _whole(call), call.number(1)
    if first is None or first.kind != "sum" or not number:
        return None
    count = number if call.name == "div" else 1 / number
    if first.notes["width"] < 2 or abs(count / first.notes["width"] - 1) > _ROUNDING:
        return None
    return _instead(call, first, "mean", first.notes["dims"])


def _grouped(call: Call) -> int:
    """The channels of features that are seen in groups, of a view of theirs; 0 for others."""
    view, source = call.tensors[0], call.sources[0]
    made = call.nodes[source].out if source >= 0 else unmoved(view, call.moves)
    if not isinstance(made, torch.Tensor) or made.dim() < 3 or view.dim() < 3:
        return 0
    if view.numel() != made.numel():
        return 0
    channels, groups = made.shape[1], view.shape[1]
    same = view.untyped_storage()._cdata == made.untyped_storage()._cdata
    inside = groups < channels and channels % groups == 0
    return channels if same and inside and view.is_contiguous() and made.is_contiguous() else 0


def _named(axes: list[int], rank: int) -> str:
    """Which dimensions these are, as normalisations need to know."""
    if axes == [rank - 1]:
        return "last"
    if axes == [1]:
        return "channels" if rank > 3 else "middle"
    if rank > 2 and axes == list(range(1, rank)):
        return "sample"
    return "positions" if axes == list(range(2, rank)) and rank > 3 else ""


@on_calls(
    Rule(
        name="resampling",
        effect="renamed",
        pattern="nn.Upsample and F.interpolate by size or by factor",
        result="upsample(mode)",
        reason="The factor follows the resolution.",
    ),
    *RESAMPLINGS,
)
def _resampled(call: Call) -> tuple[str, Attributes] | None:
    return "upsample", {"mode": call.name.removeprefix("_").removeprefix("upsample_")}
