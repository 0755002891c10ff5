"""The nodes of torch's serialized graphs as steps of a program."""

from __future__ import annotations

import math
import operator
import re
from typing import Any

import torch
from torch import nn
from torch._ops import HigherOrderOperator, OpOverload, OpOverloadPacket

from .._shared.program import Program, Step, Value

SCALAR_TYPES = {  # torch/_export/serde/schema.py, ScalarType
    1: torch.uint8,
    2: torch.int8,
    3: torch.int16,
    4: torch.int32,
    5: torch.int64,
    6: torch.float16,
    7: torch.float32,
    8: torch.float64,
    9: torch.complex32,
    10: torch.complex64,
    11: torch.complex128,
    12: torch.bool,
    13: torch.bfloat16,
    28: torch.uint16,
    29: torch.float8_e4m3fn,
    30: torch.float8_e5m2,
    31: torch.float8_e4m3fnuz,
    32: torch.float8_e5m2fnuz,
    34: torch.uint32,
    35: torch.uint64,
}
_MEMORY_FORMATS = {
    1: torch.contiguous_format,
    2: torch.channels_last,
    3: torch.channels_last_3d,
    4: torch.preserve_format,
}
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
        return _argument(kind, value)

    def _entries(self, value: Any) -> Any:
        return {key: self.argument(item) for key, item in value.items()}

    def _graph(self, value: Any) -> Value:
        graph, reader = value["graph"], Reader()
        inputs = [_name(item) for item in graph["inputs"]]
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


def _argument(kind: str, value: Any) -> Any:
    if kind == "as_none":
        return None
    if kind in ("as_tensor", "as_custom_obj"):
        return Value(value["name"])
    if kind == "as_scalar_type":
        return SCALAR_TYPES[value]
    if kind == "as_memory_format":
        return _MEMORY_FORMATS[value]
    if kind == "as_layout":
        return torch.strided
    if kind == "as_device":
        return torch.device("cpu")  # wherever it was exported
    if kind == "as_float":
        return float(value)  # which may be the text "-Infinity"
    if kind == "as_floats":
        return [float(item) for item in value]
    if kind == "as_complex":
        return complex(value["real"], value["imag"])
    if kind.startswith(("as_sym_", "as_optional_tensor")) or kind in _LISTS:
        if isinstance(value, list):
            return [_entry(item) for item in value]
        return _entry(value)
    return value


_LISTS = ("as_tensors", "as_nested_tensors")


def _entry(item: Any) -> Any:
    """One item of a list whose items may be values."""
    if isinstance(item, list):
        return [_entry(each) for each in item]
    if "name" in item:
        return Value(item["name"])
    ((kind, value),) = item.items()
    if kind == "as_name":
        return Value(value)
    return Value(value["name"]) if kind == "as_tensor" else None if kind == "as_none" else value


def _name(argument: Any) -> Any:
    """The name of a result; None of one that is left out."""
    ((kind, value),) = argument.items()
    if kind in ("as_tensors", "as_sym_ints"):
        return [_name({"as_tensor": item} if "name" in item else {"s": item}) for item in value]
    if not isinstance(value, dict):
        return None
    if "as_tensor" in value:
        return value["as_tensor"]["name"]
    return value.get("name") or value.get("as_name")


def _result(node: Any) -> Any:
    names = [_name(item) for item in node["outputs"]]
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
