"""The operators that mmcv compiles, for installations that lack them (mmcv-lite).

What torchvision has as well is computed by torchvision, with true values. Every other operator is
one opaque node of its name, whose results have the shapes of the buffers that mmcv's own code
made for them.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, TypeAlias, cast

import torch

_EXTENSION = "mmcv._ext"

# Positions of the buffers that receive results, where it is not the last tensor alone.
_RESULTS: dict[str, tuple[int, ...]] = {
    "border_align_forward": (2,),
    "carafe_forward": (5,),
    "furthest_point_sampling_with_dist_forward": (2,),
    "hard_voxelize_forward": (3, 4, 5),
    "masked_im2col_forward": (3,),
    "roi_pool_forward": (2,),
    "roiaware_pool3d_forward": (5,),
    "roipoint_pool3d_forward": (3, 4),
    "three_nn_forward": (2, 3),
}


@contextmanager
def at_hand() -> Iterator[None]:
    """Let mmcv's operators be imported; an installed extension is left alone."""
    if _EXTENSION in sys.modules or importlib.util.find_spec(_EXTENSION) is not None:
        yield
        return
    stand_in = _StandIn(_EXTENSION)
    stand_in.__spec__ = ModuleSpec(_EXTENSION, None)  # mmengine looks for it
    sys.modules[_EXTENSION] = stand_in
    try:
        yield
    finally:
        sys.modules.pop(_EXTENSION, None)


def without_cuda() -> None:
    """Replace the two functions of mmcv that ask for a GPU before they call their operator."""
    points: Any = importlib.import_module("mmcv.ops.furthest_point_sample")
    neighbours: Any = importlib.import_module("mmcv.ops.knn")
    if isinstance(points.ext_module, _StandIn):
        points.FurthestPointSampling.forward = staticmethod(_furthest_points)
        neighbours.KNN.forward = staticmethod(_nearest)


def _furthest_points(context: Any, points: torch.Tensor, count: int) -> torch.Tensor:
    chosen = points.new_zeros((points.shape[0], count), dtype=torch.int32)
    _opaque("furthest_point_sampling", points, chosen)
    return chosen


def _nearest(
    context: Any,
    count: int,
    points: torch.Tensor,
    centres: torch.Tensor | None = None,
    transposed: bool = False,
) -> torch.Tensor:
    centres = points if centres is None else centres
    axis = 2 if transposed else 1
    chosen = points.new_zeros((points.shape[0], count, centres.shape[axis]), dtype=torch.int32)
    _opaque("knn", points, centres, chosen)
    return chosen


class _StandIn(ModuleType):
    """The compiled module: a function for each name that is asked for."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return _KNOWN.get(name) or functools.partial(_opaque, name)


def _opaque(name: str, *args: Any, **kwargs: Any) -> None:
    """One node for the call; its results are written into the buffers that were passed."""
    tensors = [item for item in (*args, *kwargs.values()) if isinstance(item, torch.Tensor)]
    last = [place for place, item in enumerate(args) if isinstance(item, torch.Tensor)][-1:]
    buffers = [args[place] for place in _RESULTS.get(name, last)]
    read = [tensor for tensor in tensors if all(tensor is not buffer for buffer in buffers)]
    results = _operator(name.removesuffix("_forward"))(read, buffers)
    for buffer, result in zip(buffers, results, strict=True):
        buffer.copy_(result)


_Operator: TypeAlias = Callable[[list[torch.Tensor], list[torch.Tensor]], list[torch.Tensor]]


@functools.cache
def _operator(name: str) -> _Operator:
    """`mmcv::name`, with new tensors of the shapes of its second argument."""
    schema = "(Tensor[] read, Tensor[] like) -> Tensor[]"
    torch.library.define(f"mmcv::{name}", schema)
    torch.library.impl(f"mmcv::{name}", "CompositeExplicitAutograd", _like)
    return cast("_Operator", getattr(torch.ops.mmcv, name))


def _like(read: list[torch.Tensor], like: list[torch.Tensor]) -> list[torch.Tensor]:
    device = next((tensor.device for tensor in read if tensor.is_meta), None)
    return [torch.zeros_like(tensor, device=device or tensor.device) for tensor in like]


def _deform_conv(
    x: Any, weight: Any, offset: Any, output: Any, *buffers: Any, **sizes: Any
) -> None:
    from torchvision.ops import deform_conv2d

    stride = (sizes["dH"], sizes["dW"])
    padding = (sizes["padH"], sizes["padW"])
    dilation = (sizes["dilationH"], sizes["dilationW"])
    output.copy_(deform_conv2d(x, offset, weight, None, stride, padding, dilation))


def _modulated_deform_conv(
    x: Any,
    weight: Any,
    bias: Any,
    ones: Any,
    offset: Any,
    mask: Any,
    output: Any,
    *buffers: Any,
    **sizes: Any,
) -> None:
    from torchvision.ops import deform_conv2d

    stride = (sizes["stride_h"], sizes["stride_w"])
    padding = (sizes["pad_h"], sizes["pad_w"])
    dilation = (sizes["dilation_h"], sizes["dilation_w"])
    bias = bias if sizes["with_bias"] else None
    # mmcv reads larger offsets (dyhead has such) as if they had the output's size.
    offset, mask = (
        item.flatten(1)[:, : item.shape[1] * output[0, 0].numel()].view(
            item.shape[:2] + output.shape[2:]
        )
        for item in (offset, mask)
    )
    output.copy_(deform_conv2d(x, offset, weight, bias, stride, padding, dilation, mask))


def _roi_align(x: Any, rois: Any, output: Any, *buffers: Any, **sizes: Any) -> None:
    from torchvision.ops import roi_align

    size = (sizes["aligned_height"], sizes["aligned_width"])
    scale, samples = sizes["spatial_scale"], sizes["sampling_ratio"]
    output.copy_(roi_align(x, rois, size, scale, samples or -1, sizes["aligned"]))


def _nms(boxes: Any, scores: Any, *, iou_threshold: float, offset: int = 0) -> Any:
    from torchvision.ops import nms

    return nms(boxes, scores, iou_threshold)


def _first(boxes: Any, *args: Any, **kwargs: Any) -> Any:
    """The other sorts of NMS keep the first box, as the tracer lets torchvision's do."""
    return torch.zeros(min(1, len(boxes)), dtype=torch.int64, device="cpu")


def _index_pairs(indices: Any, batch: int, out: Any, shape: Any, kernel: Any, *args: Any) -> Any:
    """Every active site of a sparse convolution stays active."""
    volume = 1
    for side in kernel:
        volume *= side
    pairs = indices.new_zeros((volume, 2, indices.shape[0]))
    return indices, pairs, indices.new_zeros(volume)


def _index_conv(x: Any, weight: Any, pairs: Any, counts: Any, active: int, *args: Any) -> Any:
    out = x.new_zeros((active, weight.shape[-1]))
    return _operator("indice_conv")([x, weight, pairs, counts], [out])[0]


def _index_maxpool(x: Any, pairs: Any, counts: Any, active: int) -> Any:
    out = x.new_zeros((active, x.shape[1]))
    return _operator("indice_maxpool")([x, pairs, counts], [out])[0]


def _points_to_voxels(x: Any, places: Any, reduction: str) -> Any:
    """Every point is a voxel of its own."""
    like = [x, places, places[:, 0], places[:, 0]]
    return _operator("dynamic_point_to_voxel")([x, places], like)


_KNOWN: dict[str, Callable[..., Any]] = {
    "deform_conv_forward": _deform_conv,
    "dynamic_point_to_voxel_forward": _points_to_voxels,
    "indice_conv_forward": _index_conv,
    "indice_maxpool_forward": _index_maxpool,
    "modulated_deform_conv_forward": _modulated_deform_conv,
    "nms": _nms,
    "nms_quadri": _first,
    "nms_rotated": _first,
    "roi_align_forward": _roi_align,
    "softnms": _first,
    **dict.fromkeys(
        [f"get_indice_pairs_{dimensions}d_forward" for dimensions in (2, 3, 4)], _index_pairs
    ),
}
