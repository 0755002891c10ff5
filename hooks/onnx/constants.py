"""Which tensors of an ONNX file are weights, and which are values that are known.

An exporter computes what depends on no input, such as masks and tables of places, and writes the
result as if it were a weight. Only its name and where it is read tell.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn

from .._shared.program_tensors import MOST_KNOWN, empty
from .folded import LAYERS, has_values
from .quantized import PACKED
from .shapes import FLOATS
from .values import known

# Names that torch's exporters give to what they compute while they export, such as masks.
_COMPUTED = re.compile(r"val_\d+|onnx::(Add|Div|Mul|Sub|Where)_\d+")
# And names of calls that make a constant, which the new exporter keeps.
_MADE = re.compile(r"(arange|full|ones|zeros)(_like)?(_\d+)?")
_SET_BY_INPUTS = frozenset(("Clip", "OneHot", "Pad", "Resize", "Upsample"))
_HELD_BACK = -1000  # a mask's values below it; the softmax makes zero of them
_MOVES = frozenset("Add Cast Identity Reshape Squeeze Unsqueeze Where".split())


def initial_values(graph: Any, large: set[str]) -> dict[str, Any]:
    """The tensors of a graph by name: weights without their values, all else as it is.

    Args:
        graph: The `GraphProto`.
        large: Names of large constants that are no weights.
    """
    packed, statistics = _packed(graph), _statistics(graph)
    multiplied = {name for node in graph.node if node.op_type in LAYERS for name in node.input}
    settings = {
        name for node in graph.node if node.op_type in _SET_BY_INPUTS for name in node.input[1:]
    }
    scores = _added_to_scores(graph)
    values: dict[str, Any] = {}
    for item in graph.initializer:
        computed = item.name in settings | large or bool(_MADE.fullmatch(item.name))
        named = bool(_COMPUTED.fullmatch(item.name)) and item.name not in multiplied
        if item.name in scores:
            computed |= _is_mask(item) or (named and not _tells_heads_apart(item))
        else:
            computed |= named and not _is_of_channels(item)
        values[item.name] = _initial(item, packed, statistics, computed)
    for sparse in graph.sparse_initializer:
        values[sparse.values.name] = nn.Parameter(
            empty(torch.float32, list(sparse.dims)), requires_grad=False
        )
    return values


def _added_to_scores(graph: Any) -> set[str]:
    """Names of what attention adds to its scores, and of results on the way to the softmax."""
    makers = {name: node for node in graph.node for name in node.output}
    found: set[str] = set()
    waiting = [node.input[0] for node in graph.node if node.op_type == "Softmax"]
    seen = set(waiting)
    while waiting:
        maker = makers.get(waiting.pop())
        if maker is None or maker.op_type not in _MOVES:
            continue
        if maker.op_type == "Add":
            found.update(maker.input)
        waiting += set(maker.input) - seen
        seen |= set(maker.input)
    return found


def _is_mask(item: onnx.TensorProto) -> bool:
    """Whether it only holds some keys back: its values are zero or large and negative."""
    if len(item.dims) < 2 or item.data_type not in FLOATS or not has_values(item):
        return False
    values = numpy_helper.to_array(item)
    return bool(((values == 0) | (values < _HELD_BACK)).all())


def _tells_heads_apart(item: onnx.TensorProto) -> bool:
    """Whether it has a number for each head, query and key, so that it was learned.

    A mask is the same for all heads, and a slope of distances (ALiBi) for all queries. A table of
    relative places, which the exporter has read already, differs in all three.
    """
    sides = list(item.dims)[-3:]
    return len(sides) == 3 and min(sides) > 1


def _initial(
    item: onnx.TensorProto,
    packed: dict[str, list[int] | None],
    statistics: set[str],
    computed: bool,
) -> Any:
    """A weight on meta, or a known value: of one number, or `computed` by the exporter."""
    shape = list(item.dims)
    if item.name in packed:
        shape = packed[item.name] or shape
        return nn.Parameter(empty(torch.float32, shape), requires_grad=False)
    real = item.data_type in FLOATS
    size = int(np.prod(shape, dtype=object)) if shape else 1
    learned = real and bool(shape) and not (size == 1 and _is_constant(item))
    if learned and not computed:
        made = empty(torch.float32, shape)
        return made if item.name in statistics else nn.Parameter(made, requires_grad=False)
    if not has_values(item) or size > MOST_KNOWN:
        return empty(torch.float32 if real else torch.int64, shape)
    return known(numpy_helper.to_array(item))


def _is_of_channels(item: onnx.TensorProto) -> bool:
    """Whether it has a number for each channel, such as a layer scale; colours are three."""
    sides = list(item.dims)
    return len(sides) > 1 and sides[0] > 3 and set(sides[1:]) == {1}


def _is_constant(item: onnx.TensorProto) -> bool:
    """Whether one number is written by an exporter, and not learned: it has no name of a weight."""
    return not item.name.endswith((".weight", ".bias", ".gamma", ".beta", ".alpha", ".scale"))


def _packed(graph: onnx.GraphProto) -> dict[str, list[int] | None]:
    """The weights of quantized operators, with their shape where its bytes hide it."""
    found: dict[str, list[int] | None] = {}
    for node in graph.node:
        for place in PACKED.get(node.op_type, ()):
            if place < len(node.input):
                sides = {item.name: item.i for item in node.attribute}
                hidden = node.op_type == "MatMulNBits"
                found[node.input[place]] = [sides["N"], sides["K"]] if hidden else None
    return found


def _statistics(graph: onnx.GraphProto) -> set[str]:
    """The means and variances of batch norms."""
    norms = [node for node in graph.node if node.op_type == "BatchNormalization"]
    return {name for node in norms for name in node.input[3:5]}
