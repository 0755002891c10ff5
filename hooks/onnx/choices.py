"""ONNX's operators that pick elements by index, and those that make new ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .values import ints, operator, tensor

Attributes = dict[str, Any]


@operator("Gather")
def _gather(attributes: Attributes, x: Any, indices: Any) -> Any:
    axis, data = attributes.get("axis", 0), tensor(x)
    if not isinstance(indices, Tensor) or (not indices.is_meta and indices.ndim == 0):
        places = np.asarray(indices)
        if places.ndim == 0:
            return data.select(axis, int(places))
        if places.ndim == 1 and places.size and (np.diff(places) == 1).all() and places[0] >= 0:
            if places.size == data.shape[axis]:
                return data
            return data.narrow(axis, int(places[0]), places.size)
        indices = np.where(places < 0, places + data.shape[axis], places)
    index = tensor(indices).long()
    is_computed = not index.is_meta and not isinstance(data, nn.Parameter)
    if axis == 0 and data.ndim == 2 and data.is_floating_point() and not is_computed:
        return F.embedding(index, data)
    found = data.index_select(axis, index.reshape(-1))
    axis %= data.ndim
    return found.reshape(*data.shape[:axis], *index.shape, *data.shape[axis + 1 :])


@operator("GatherElements")
def _gather_elements(attributes: Attributes, x: Any, indices: Any) -> Any:
    return torch.gather(tensor(x), attributes.get("axis", 0), tensor(indices).long())


@operator("GatherND")
def _gather_nd(attributes: Attributes, x: Any, indices: Any) -> Any:
    data, index = tensor(x), tensor(indices).long()
    batch = attributes.get("batch_dims", 0)
    if batch == 0:
        return data[index.unbind(-1)]
    shape = data.shape[:batch]
    count = shape.numel()
    rows = torch.arange(count).reshape(-1, *[1] * (index.ndim - batch - 1))
    flat = index.reshape(count, *index.shape[batch:])
    found = data.reshape(count, *data.shape[batch:])[(rows, *flat.unbind(-1))]
    return found.reshape(*shape, *found.shape[1:])


@operator("ScatterND")
def _scatter_nd(_: Attributes, x: Any, indices: Any, updates: Any) -> Any:
    data, index = tensor(x), tensor(indices).long()
    return data.index_put(list(index.unbind(-1)), tensor(updates))


@operator("ScatterElements", "Scatter")
def _scatter(attributes: Attributes, x: Any, indices: Any, updates: Any) -> Any:
    index = tensor(indices).long()
    return torch.scatter(tensor(x), attributes.get("axis", 0), index, tensor(updates))


@operator("OneHot")
def _one_hot(attributes: Attributes, indices: Any, depth: Any, values: Any) -> Any:
    hot = F.one_hot(tensor(indices).long() % ints(depth)[0], ints(depth)[0])
    axis = attributes.get("axis", -1)
    return (hot if axis == -1 else hot.movedim(-1, axis)).float()


@operator("TopK")
def _topk(attributes: Attributes, x: Any, count: Any = None) -> Any:
    wanted = attributes["k"] if count is None else ints(count)[0]
    axis, largest = attributes.get("axis", -1), bool(attributes.get("largest", 1))
    data = tensor(x)
    return list(torch.topk(data, min(wanted, data.shape[axis]), axis, largest))


@operator("NonZero")
def _non_zero(_: Attributes, x: Any) -> Any:
    data = tensor(x)
    if data.is_meta:  # as many as there may be
        return torch.zeros(data.ndim, data.numel(), dtype=torch.int64)
    return torch.nonzero(data).T


@operator("NonMaxSuppression")
def _suppression(_: Attributes, boxes: Any, scores: Any, most: Any = None, *others: Any) -> Any:
    """What is kept depends on the data: one box of each picture and class."""
    rows = scores.shape[0] * scores.shape[1]
    return torch.zeros(rows, 3, dtype=torch.int64)


@operator("Compress")
def _compress(attributes: Attributes, x: Any, condition: Any) -> Any:
    data = tensor(x) if "axis" in attributes else tensor(x).reshape(-1)
    return data[(slice(None),) * (attributes.get("axis", 0) % data.ndim)]


@operator("Trilu")
def _triangle(attributes: Attributes, x: Any, diagonal: Any = None) -> Any:
    place = 0 if diagonal is None else ints(diagonal)[0]
    return (torch.triu if attributes.get("upper", 1) else torch.tril)(tensor(x), place)


@operator("EyeLike")
def _eye(attributes: Attributes, x: Any) -> Any:
    return torch.eye(*x.shape)


@operator("RandomNormal", "RandomUniform")
def _random(attributes: Attributes) -> Any:
    return torch.randn(attributes["shape"])


@operator("RandomNormalLike", "RandomUniformLike", "Bernoulli")
def _random_like(_: Attributes, x: Any) -> Any:
    return torch.randn_like(tensor(x).float())


@operator("DepthToSpace")
def _depth_to_space(attributes: Attributes, x: Any) -> Any:
    size = attributes["blocksize"]
    if attributes.get("mode") == "CRD":
        return F.pixel_shuffle(tensor(x), size)
    batch, channels, height, width = x.shape
    parts = tensor(x).reshape(batch, size, size, channels // size**2, height, width)
    return parts.permute(0, 3, 4, 1, 5, 2).reshape(batch, -1, height * size, width * size)


@operator("SpaceToDepth")
def _space_to_depth(attributes: Attributes, x: Any) -> Any:
    return F.pixel_unshuffle(tensor(x), attributes["blocksize"])


@operator("Unique")
def _unique(_: Attributes, x: Any) -> Any:
    data = tensor(x).reshape(-1)
    places = torch.arange(data.shape[0])
    return [data, places, places, places]


@operator("ReverseSequence")
def _reversed(attributes: Attributes, x: Any, lengths: Any) -> Any:
    return tensor(x).flip(attributes.get("time_axis", 0))
