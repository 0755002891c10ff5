"""The nodes of torch's serialized graphs as steps of a program."""

from __future__ import annotations

import math
import operator
import re
from typing import Any

import torch
from torch import nn
from torch._ops import HigherOrderOperator, OpOverload, OpOverloadPacket

from .._shared.program import Program
from .._shared.program_steps import Step, Value
from .arguments import plain_argument, result_name

# Operators of torch that compute tensors from tensors. A library's own are not looked up.
_NAMESPACES = frozenset(("aten", "prims", "prim", "higher_order", "torchvision"))
_OPERATOR = re.compile(r"torch\.ops\.(\w+)\.(\w+)(?:\.(\w+))?")
_REFUSED = frozenset(("from_file", "save"))  # the only ones that open files
_ARITHMETIC = frozenset(
    "abs add and_ eq floordiv ge getitem gt le lshift lt mod mul ne neg not_ or_ pos pow rshift sub"
    " truediv xor".split()
)
_SYMBOLIC = frozenset(("sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not"))
_NESTED = ("as_graph", "as_string_to_argument")


class Reader:
    """Makes steps of nodes.

    Attributes:
        parts: The graphs that nodes take as arguments, by the name of their place.
    """

    def __init__(self) -> None:
        self.parts: dict[str, nn.Module] = {}

    def step(self, node: Any) -> Step:
        """One node as a step.

        Raises:
            ValueError: Its operator is unknown.
        """
        args, kwargs = [], {}
        for item in node["inputs"]:
            value = self.argument(item["arg"])
            if item.get("kind") == 2:
                kwargs[str(item["name"])] = value
            else:
                args.append(value)
        call = _call(node["target"], kwargs, args)
        return Step(call, args, kwargs, _result(node))

    def argument(self, argument: Any) -> Any:
        """An argument, with a `Value` for what a step makes."""
        ((kind, value),) = argument.items()
        if kind in _NESTED:
            return self._graph(value) if kind == "as_graph" else self._entries(value)
        return plain_argument(kind, value)

    def _entries(self, value: Any) -> Any:
        return {key: self.argument(item) for key, item in value.items()}

    def _graph(self, value: Any) -> Value:
        graph, reader = value["graph"], Reader()
        inputs = [result_name(item) for item in graph["inputs"]]
        steps = [reader.step(node) for node in graph["nodes"]]
        outputs = [reader.argument(item) for item in graph["outputs"]]
        part = Program(inputs, steps, outputs, parts=reader.parts)
        place = f"graph {len(self.parts)}"
        self.parts[place] = part if graph.get("is_single_tensor_return") else _Tupled(part)
        return Value(place)


class _Tupled(nn.Module):
    """Returns a tuple, of one result too, as an operator that takes a graph wants it."""

    def __init__(self, part: nn.Module) -> None:
        super().__init__()
        self.part = part

    def forward(self, *given: Any) -> Any:
        made = self.part(*given)
        return made if isinstance(made, tuple) else (made,)


def _result(node: Any) -> Any:
    names = [result_name(item) for item in node["outputs"]]
    if not names:  # it only checks something
        return None
    whole = len(names) == 1
    if node["target"].startswith("torch.ops.higher_order."):
        return names[0] if whole and node.get("is_hop_single_tensor_return") else names
    return names[0] if whole else names


def _call(target: str, kwargs: dict[str, Any], args: list[Any]) -> Any:
    """What a node calls."""
    if match := _OPERATOR.fullmatch(target):
        namespace, name, overload = match.groups()
        if namespace in _NAMESPACES and name not in _REFUSED:
            found = getattr(getattr(torch.ops, namespace), name, None)
            if overload:
                found = getattr(found, overload, None)
            if isinstance(found, OpOverload | OpOverloadPacket | HigherOrderOperator):
                return found
    module, _, name = target.rpartition(".")
    if module in ("_operator", "operator") and name in _ARITHMETIC:
        return getattr(operator, name)
    if module in ("torch", "torch.sym_ops") and name in _SYMBOLIC:
        return getattr(torch, name)
    if module == "math" and name in ("ceil", "floor", "trunc"):
        return getattr(math, name)
    raise ValueError(f"it calls {target[:120]}, which is no operator of torch")
