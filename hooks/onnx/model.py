"""An ONNX file as a module: its graph in steps, and its weights without their values."""

from __future__ import annotations

from io import BufferedReader
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import onnx
import torch
from torch import Tensor, nn

from .._shared.program import Program
from .._shared.program_steps import Value
from .constants import initial_values
from .folded import hoist, unfold, without_guards
from .group_norms import join_group_norms
from .inputs import guesses
from .nodes import Graph
from .wire import without_weights

_LEAST_OPSET = 7  # before it, broadcasting was an attribute


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
    values = initial_values(model.graph, large)
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
