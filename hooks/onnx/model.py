"""An ONNX file as a module: its graph in steps, and its weights without their values."""

from __future__ import annotations

import re
from io import BufferedReader
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn

from .._shared.program import MOST_KNOWN, Program, Value, empty
from .folded import LAYERS, has_values, hoist, unfold, without_guards
from .group_norms import join_group_norms
from .inputs import guesses
from .nodes import Graph
from .quantized import PACKED
from .shapes import FLOATS
from .values import known
from .wire import without_weights

_LEAST_OPSET = 7  # before it, broadcasting was an attribute
# Names that torch's exporters give to what they compute while they export, such as masks.
_COMPUTED = re.compile(r"val_\d+|onnx::(Add|Div|Mul|Sub|Where)_\d+")
_SET_BY_INPUTS = frozenset(("Clip", "OneHot", "Pad", "Resize", "Upsample"))
_NOT_LEARNED = ("BatchNormalization", (3, 4))  # its statistics


def model_of(file: BufferedReader) -> nn.Module:
    """The graph of a file as a module, with guesses at its inputs in `onnx_inputs`.

    Raises:
        ValueError: It is no ONNX model, is damaged, or has an operator that is not known.
    """
    model = _parsed(file)
    opset = _opset(model)
    without_guards(model.graph)
    join_group_norms(model.graph)
    large = hoist(model.graph)
    for item in model.graph.initializer:
        _check_place(item)
    packed, statistics = _packed(model.graph), _statistics(model.graph)
    multiplied = {
        name for node in model.graph.node if node.op_type in LAYERS for name in node.input
    }
    settings = {
        name
        for node in model.graph.node
        if node.op_type in _SET_BY_INPUTS
        for name in node.input[1:]
    }
    values: dict[str, Any] = {}
    for item in model.graph.initializer:
        computed = item.name in settings | large or (
            bool(_COMPUTED.fullmatch(item.name))
            and item.name not in multiplied
            and not _is_of_channels(item)
        )
        values[item.name] = _initial(item, packed, statistics, computed)
    for sparse in model.graph.sparse_initializer:
        values[sparse.values.name] = nn.Parameter(
            empty(torch.float32, list(sparse.dims)), requires_grad=False
        )
    inputs = [item for item in model.graph.input if item.name not in values]
    graph = Graph(opset, unfold(model.graph, values))
    weights = {name: value for name, value in values.items() if isinstance(value, Tensor)}
    constants = {name: value for name, value in values.items() if not isinstance(value, Tensor)}
    steps = graph.steps(model.graph.node)
    weights |= graph.weights
    outputs = [Value(item.name) for item in model.graph.output]
    made = Known(
        [item.name for item in inputs], [*graph.constants(constants), *steps], outputs, weights
    )
    made.onnx_inputs = guesses(inputs)
    return made


class Known(Program):
    """A program whose results may be known values: they are tensors at its end."""

    onnx_inputs: list[tuple[Any, ...]]

    def forward(self, *given: Any) -> Any:
        """What the graph makes of the inputs."""
        made = super().forward(*given)
        found = made if isinstance(made, tuple) else (made,)
        return tuple(torch.as_tensor(x) if isinstance(x, np.ndarray) else x for x in found)


def _parsed(file: BufferedReader) -> onnx.ModelProto:
    content = without_weights(file)
    try:
        model = onnx.load_model_from_string(content)
    except Exception as error:  # protobuf's own
        raise ValueError(f"it is no ONNX model: {error}") from error
    if not model.graph.node:
        raise ValueError("it is no ONNX model, or its graph is empty")
    if model.functions:
        from onnx.inliner import inline_local_functions

        model = inline_local_functions(model)
    return model


def _opset(model: onnx.ModelProto) -> int:
    found = [item.version for item in model.opset_import if item.domain in ("", "ai.onnx")]
    version = max(found, default=1)
    if version < _LEAST_OPSET:
        raise ValueError(f"it is of opset {version}; {_LEAST_OPSET} and newer are read")
    return version


def _check_place(item: onnx.TensorProto) -> None:
    """External data is never opened; a place outside the file's folder is refused all the same."""
    for entry in item.external_data:
        if entry.key == "location":
            path = PurePosixPath(entry.value.replace("\\", "/"))
            if path.is_absolute() or ".." in path.parts or ":" in entry.value:
                raise ValueError(f"its weights are said to be in {entry.value[:80]!r}, outside")


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
    name, places = _NOT_LEARNED
    return {
        node.input[place]
        for node in graph.node
        if node.op_type == name
        for place in places
        if place < len(node.input)
    }
