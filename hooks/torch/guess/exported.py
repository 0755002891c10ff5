"""The inputs of an exported program, as its own graph says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.utils import _pytree as tree

from nar_plugin.hookspecs import ExampleInputs

from ..._shared.program_tensors import example


def exported(model: nn.Module) -> Iterator[ExampleInputs]:
    """What `torch.export.export(model, inputs).module()` was exported with.

    Example:
        ```python
        next(exported(torch.export.export(net, (torch.ones(1, 8),)).module())).args[0].shape  # 1, 8
        ```
    """
    if not isinstance(model, fx.GraphModule):
        return
    inputs = [node for node in model.graph.nodes if node.op == "placeholder"]
    values = [node.meta.get("val", node.meta.get("example_value")) for node in inputs]
    if not inputs or any(value is None for value in values):
        return
    made = [_value(value) for value in values]
    with suppress(Exception):  # a form of inputs that a later torch writes otherwise
        codegen: Any = model.graph._codegen
        spec = getattr(model, "_in_spec", None) or codegen.pytree_info.in_spec
        args, kwargs = tree.tree_unflatten(made, spec)
        yield ExampleInputs(tuple(args), kwargs)
    yield ExampleInputs(tuple(made))


def _value(value: Any) -> Any:
    """A tensor like that of a graph; a dynamic size is what it was at the export."""
    if not isinstance(value, Tensor):
        return _size(value) if isinstance(value, torch.SymInt) else value
    shape = [_size(size) for size in value.shape]
    return example(value.dtype, shape)


def _size(size: Any) -> int:
    known: Any = size.node.hint if isinstance(size, torch.SymInt) else size
    return int(known)
