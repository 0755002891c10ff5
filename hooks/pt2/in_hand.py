"""A `torch.export.ExportedProgram` in hand as a module, without its own code."""

from __future__ import annotations

from typing import Any

import torch
from torch import SymBool, SymFloat, SymInt, Tensor, fx, nn
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils import _pytree as tree

from .._shared.program import Program
from .._shared.program_steps import Step, Value
from .._shared.program_tensors import example
from .decompositions import composed

_WEIGHTS = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)


def program(exported: Any) -> nn.Module:
    """The program as a module with its example inputs; weights are shared, and never written to.

    Raises:
        ValueError: It has an input that is neither a tensor nor a number.
    """
    graph, signature = exported.graph, exported.graph_signature
    values = {node.name: node.meta.get("val") for node in graph.nodes if node.op == "placeholder"}
    inputs: list[str] = []
    examples: list[Any] = []
    weights: dict[str, Tensor] = {}
    for spec in signature.input_specs:
        name = spec.arg.name
        if spec.kind in _WEIGHTS:
            held = exported.constants if spec.target in exported.constants else exported.state_dict
            weights[name] = held[spec.target]
        elif spec.kind == InputKind.USER_INPUT:
            inputs.append(name)
            examples.append(_example(getattr(spec.arg, "value", None), values.get(name)))
        else:
            raise ValueError(f"it has an input of the kind {spec.kind.name}")
    steps, returned, parts = _steps(graph, exported.graph_module)
    kinds = [spec.kind for spec in signature.output_specs]
    outputs = [
        item for item, kind in zip(returned, kinds, strict=True) if kind == OutputKind.USER_OUTPUT
    ]
    made = Program(inputs, composed(steps), outputs, weights, parts)
    made.example_input_array = tuple(examples)  # type: ignore[assignment]
    return made


def _steps(graph: fx.Graph, owner: nn.Module) -> tuple[list[Step], list[Any], dict[str, nn.Module]]:
    """The calls of a graph, what it returns, and the graphs that calls take."""
    steps: list[Step] = []
    parts: dict[str, nn.Module] = {}
    returned: list[Any] = []
    for node in graph.nodes:
        args, kwargs = tree.tree_map_only(fx.Node, _value, (node.args, node.kwargs))
        if node.op == "call_function":
            steps.append(Step(node.target, args, _on_cpu(kwargs), node.name))
        elif node.op == "get_attr":
            parts[node.name] = owner.get_submodule(node.target)
        elif node.op == "output":
            returned = list(args[0]) if isinstance(args[0], list | tuple) else [args[0]]
    return steps, returned, parts


def _on_cpu(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {key: torch.device("cpu") if key == "device" else item for key, item in kwargs.items()}


def _value(node: fx.Node) -> Value:
    return Value(node.name)


def _example(constant: Any, value: Any) -> Any:
    """What an input was at the export."""
    if isinstance(value, Tensor):
        return example(value.dtype, [_plain(size) for size in value.shape])
    return _plain(value) if isinstance(value, SymInt | SymFloat | SymBool) else constant


def _plain(size: Any) -> Any:
    return size.node.hint if isinstance(size, SymInt | SymFloat | SymBool) else size
