"""The plain module inside a wrapper, an adapter or a packed layer, and the class that it has."""

from __future__ import annotations

from torch import nn

from nar_plugin.tracing.twin.dequantized import plain_layer
from nar_plugin.tracing.twin.parts import module_name
from nar_plugin.tracing.twin.wrappers import unwrap


def own_class(module: nn.Module) -> type[nn.Module]:
    """The class that the user wrote: `fully_shard` puts a subclass of its own in its place."""
    cls = type(module)
    sharded = any(base.__name__ == "FSDPModule" for base in cls.__bases__)
    return cls.__bases__[-1] if sharded else cls


def plain_module(module: nn.Module) -> nn.Module | None:
    """The plain module that a wrapper, an adapter or a quantized layer is made of."""
    if module_name(type(module)).startswith("torch.nn.modules."):
        return None
    inner = unwrap(module)  # torch.compile and DDP inside the model as well as around it
    if inner is not module:
        return inner
    adapted = _without_adapter(module)
    return plain_layer(module) if adapted is None else adapted


def _without_adapter(module: nn.Module) -> nn.Module | None:
    """The layer inside one of PEFT's: merged or not, an adapter is no part of the design."""
    if not module_name(type(module)).startswith("peft."):
        return None
    inner = module._modules.get("base_layer")
    return inner if inner is not None else module._modules.get("original_module")
