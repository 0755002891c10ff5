"""Operators that nothing here can run: one node named after the operator, with likely outputs."""

from __future__ import annotations

from typing import Any

import torch

from nar_plugin.tracing.graph import Op

# Namespaces whose operators the vocabulary knows by their bare name.
_KNOWN_NAMESPACES = frozenset({"aten", "prim", "prims", "quantized", "torchvision"})


def named_after(func: Any) -> Op | None:
    """The node for a custom operator, such as `mylib::scan`; None for one of torch's own."""
    namespace, _, name = func.name().partition("::")
    return None if namespace in _KNOWN_NAMESPACES else Op(f"{namespace}::{name.partition('.')[0]}")


def likely_outputs(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Results for an operator without a kernel for meta or CPU tensors.

    Its schema says how many there are; each is taken to be like the first floating point argument,
    as in most operators that users write (activations, norms, scans, attention).

    Args:
        func: The operator.
        args: Its arguments, tensors on the meta device.
        kwargs: Its keyword arguments.
    """
    tensors = [item for item in (*args, *kwargs.values()) if isinstance(item, torch.Tensor)]
    like = next((item for item in tensors if item.is_floating_point()), None)
    if like is None:
        like = tensors[0] if tensors else torch.empty(1, device="meta")
    results = [
        _result(str(returned.type), like)
        for returned in func._schema.returns
        if returned.alias_info is None or not returned.alias_info.is_write
    ]
    if len(results) < len(func._schema.returns):  # it returns what it has written to
        return tensors[0]
    if not results:
        return None
    return results[0] if len(results) == 1 else tuple(results)


def _result(kind: str, like: torch.Tensor) -> Any:
    if kind == "Tensor":
        return torch.empty_like(like, device="meta")
    if kind.startswith(("Tensor[", "List[Tensor")):
        return [torch.empty_like(like, device="meta")]
    return {"bool": False, "float": 1.0}.get(kind, 1)
