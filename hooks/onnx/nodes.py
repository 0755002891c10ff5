"""The nodes of an ONNX graph as steps of a program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import onnx
import torch
from onnx import AttributeProto, numpy_helper
from torch import nn

from .._shared.program import MOST_STEPS
from .._shared.program_steps import Step, Value
from .._shared.program_tensors import empty
from . import (  # noqa: F401
    arithmetic,
    blocks,
    choices,
    contributed,
    layers,
    pieces,
    products,
    quantized,
    sequences,
    shapes,
    windows,
)
from .bodies import Body
from .values import OPERATORS, call, known

_OWN = frozenset(("", "ai.onnx", "com.microsoft", "pkg.onnxscript.torch_lib"))


class Graph:
    """Makes steps.

    Args:
        opset: Which version of ONNX's operators the file uses.
        norms: For the result of a layer with a folded norm, the names of the norm's weights.

    Attributes:
        weights: Those that graphs inside the graph hold.
    """

    def __init__(self, opset: int, norms: Mapping[str, tuple[str, ...]]) -> None:
        self._opset = opset
        self._norms = norms
        self.weights: dict[str, nn.Parameter] = {}
        self._count = 0

    def constants(self, values: Mapping[str, Any]) -> list[Step]:
        """A step for each known value of the file."""
        return [Step(partial(_same, value), result=name) for name, value in values.items()]

    def steps(self, nodes: Iterable[Any]) -> list[Step]:
        """A step for each node, in the order of the file.

        Raises:
            ValueError: An operator is not known, or there are too many nodes.
        """
        return [self._step(node) for node in nodes]

    def _step(self, node: Any) -> Step:
        self._count += 1
        if self._count > MOST_STEPS:
            raise ValueError(f"it has more than {MOST_STEPS:,} nodes")
        name = f"{node.domain}:{node.op_type}"
        name = name if name in OPERATORS else node.op_type
        if node.domain not in _OWN or name not in OPERATORS:
            raise ValueError(f"its operator {node.domain[:40]}:{node.op_type[:60]} is not known")
        attributes: dict[str, Any] = {item.name: self._value(item) for item in node.attribute}
        bodies = [item for item in attributes.values() if isinstance(item, Body)]
        attributes |= {
            "op_type": node.op_type,
            "opset": self._opset,
            "outputs": len(node.output),
        }
        inputs = [Value(item) if item else None for item in node.input]
        inputs += [Value(item) for item in self._norms.get(node.output[0], ())]
        results = [item or None for item in node.output]
        if bodies:
            outer = list(dict.fromkeys(item for body in bodies for item in body.outer))
            outside = {item: Value(item) for item in outer}
            return Step(partial(OPERATORS[name], attributes), [outside, *inputs], result=results)
        made = partial(call, name, attributes)
        return Step(partial(_several, made), inputs, result=results)

    def _value(self, item: Any) -> Any:
        kind = item.type
        if kind == AttributeProto.TENSOR:
            return known(numpy_helper.to_array(item.t))
        if kind == AttributeProto.GRAPH:
            return self._body(item.g)
        if kind == AttributeProto.STRING:
            return item.s.decode("utf-8", "replace")
        value = onnx.helper.get_attribute_value(item)
        return list(value) if kind in (AttributeProto.INTS, AttributeProto.FLOATS) else value

    def _body(self, graph: Any) -> Body:
        own, steps = {}, []
        for item in graph.initializer:
            if item.data_type in shapes.FLOATS and len(item.dims) > 1:
                steps.append(self._weight(item))
            else:
                own[item.name] = known(numpy_helper.to_array(item))
        nodes = []
        for node in graph.node:
            value: Any = next((item.t for item in node.attribute if item.name == "value"), None)
            is_weight = node.op_type == "Constant" and value is not None and len(value.dims) > 1
            if is_weight and value.data_type in shapes.FLOATS:
                steps.append(self._weight(value, node.output[0]))
            else:
                nodes.append(node)
        inputs = tuple(item.name for item in graph.input)
        steps = [*self.constants(own), *steps, *self.steps(nodes)]
        outputs = tuple(item.name for item in graph.output)
        made = {*inputs, *(name for step in steps for name in _names(step.result))}
        wanted = [name for step in steps for name in _wanted(step.args)]
        outer = dict.fromkeys(name for name in (*wanted, *outputs) if name not in made)
        return Body(inputs, tuple(steps), outputs, tuple(outer))

    def _weight(self, item: Any, name: str = "") -> Step:
        """A weight of a graph inside the graph, which the whole program holds."""
        place = f"inner weight {len(self.weights)}"
        self.weights[place] = nn.Parameter(empty(torch.float32, list(item.dims)), False)
        return Step(_same, [Value(place)], result=name or item.name)


def _same(value: Any) -> Any:
    return value


def _several(made: Any, *inputs: Any) -> Any:
    result = made(*inputs)
    return result if isinstance(result, list) else [result]


def _names(result: Any) -> list[str]:
    items = result if isinstance(result, list) else [result]
    return [item for item in items if item is not None]


def _wanted(args: Iterable[Any]) -> list[str]:
    found = []
    for item in args:
        found += [v.name for v in item.values()] if isinstance(item, dict) else []
        found += [item.name] if isinstance(item, Value) else []
    return found
