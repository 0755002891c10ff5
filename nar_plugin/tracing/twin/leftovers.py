"""The state that an earlier batch left on a model, which is no part of its design.

A recurrent layer may keep its state in an attribute that its constructor sets to `None` or zero
and that its forward writes to, as spiking neurons keep their membrane.
"""

from __future__ import annotations

import ast
import dis
import inspect
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import torch
from torch import nn

from nar_plugin.tracing.twin.parts import module_name, named_modules
from nar_plugin.tracing.twin.twin import Twin


def fresh(model: nn.Module) -> nn.Module:
    """A model without such a state: a copy where there is one, which shares its weights.

    Example:
        ```python
        fresh(spiking_net)[1].membrane  # None, as before the first batch
        ```
    """
    left = list(_left(model))
    if not left:
        return model
    copied = Twin(model, lambda path, forward: forward, copy_tensor=_shared)
    modules = {path: module for path, module in copied.modules if path}
    modules[""] = copied.model
    for path, name, value in left:
        if path in modules:
            vars(modules[path])[name] = value
    return copied.model


def _shared(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach()


def _left(model: nn.Module) -> Iterator[tuple[str, str, Any]]:
    """Path and name of each attribute with a state, and what it was at first."""
    for path, module in named_modules(model):
        if module_name(type(module)).startswith("torch."):
            continue
        for name, value in vars(module).items():
            if not name.startswith("__") and _holds_tensors(value):
                first = _at_first(type(module)).get(name, _UNKNOWN)
                if first is not _UNKNOWN and name in _written(type(module)):
                    yield path, name, first


_UNKNOWN = object()


def _holds_tensors(value: Any) -> bool:
    if type(value) in (tuple, list):
        return bool(value) and any(_holds_tensors(item) for item in value)
    return issubclass(type(value), torch.Tensor)


def _written(kind: type) -> frozenset[str]:
    """The attributes to which a class writes in its methods, but for its constructor."""
    found: set[str] = set()
    for owner in kind.__mro__:
        if owner in (nn.Module, object):
            continue
        for name, method in vars(owner).items():
            code = getattr(method, "__code__", None)
            if code is not None and name != "__init__":
                stores = dis.get_instructions(code)
                found |= {str(item.argval) for item in stores if item.opname == "STORE_ATTR"}
    return frozenset(found)


def _at_first(kind: type) -> dict[str, Any]:
    """The attributes that a constructor sets to a plain value, and these values."""
    found: dict[str, Any] = {}
    for owner in reversed(kind.__mro__):
        if "__init__" not in vars(owner) or owner in (nn.Module, object):
            continue
        with suppress(OSError, TypeError, SyntaxError, ValueError):
            source = textwrap.dedent(inspect.getsource(vars(owner)["__init__"]))
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.Assign):
                    for target in node.targets:
                        found |= _assigned(target, node.value)
    return found


def _assigned(target: ast.expr, value: ast.expr) -> dict[str, Any]:
    """The attributes to which plain values are assigned."""
    match target, value:
        case ast.Attribute(attr=name), ast.Constant(value=first):
            return {name: first}
        case ast.Tuple(elts=targets), ast.Tuple(elts=values):
            pairs = map(_assigned, targets, values)
            return {name: first for found in pairs for name, first in found.items()}
    return {}
