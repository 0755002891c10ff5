"""Lazy layers, such as `nn.LazyLinear`, whose sizes a first forward tells.

A twin of the model runs once on meta tensors, and stands for the model from then on.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import nn
from torch.nn.modules.lazy import LazyModuleMixin
from torch.nn.parameter import is_lazy

from nar_plugin.errors import TraceError
from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.references.construction import random_numbers_kept
from nar_plugin.tracing.record.escapes import told
from nar_plugin.tracing.run import inputs as example
from nar_plugin.tracing.twin.parts import buffers, named_modules, parameters
from nar_plugin.tracing.twin.twin import Twin


def with_sizes(model: nn.Module, inputs: ExampleInputs | None) -> nn.Module:
    """The model itself, or where it has lazy layers a twin on meta whose sizes the inputs tell.

    Example:
        ```python
        with_sizes(nn.Sequential(nn.LazyLinear(10)), ExampleInputs((torch.ones(1, 32),)))
        ```

    Args:
        model: Any module; it is only read.
        inputs: What a user or the model itself says, never a guess: sizes would follow from it.

    Raises:
        TraceError: There are no such inputs, or the forward refuses them.
    """
    if not any(map(is_lazy, (*parameters(model), *buffers(model)))):
        return model
    layers = ", ".join(
        f"{path or 'model'}: {type(layer).__name__}"
        for path, layer in named_modules(model)
        if any(is_lazy(item) for key in _TENSORS for item in vars(layer)[key].values())
    )
    name = type(model).__name__
    if inputs is None:
        raise TraceError(
            f"{name} has lazy layers ({layers[:300]}), whose sizes are not known before a first "
            "forward. Pass example_inputs=, or run one forward with real inputs first."
        )
    twin = Twin(model, lambda path, forward: forward, copy_tensor=_still_lazy).model
    for _, layer in named_modules(twin):
        if isinstance(layer, LazyModuleMixin):
            _initialize_once(layer)
    args, kwargs = example.on_meta(inputs, [], [])
    try:
        with random_numbers_kept(), torch.no_grad(), warnings.catch_warnings(action="ignore"):
            twin(*args, **kwargs)
    except (Exception, SystemExit) as error:
        raise TraceError(
            f"{name} has lazy layers ({layers[:300]}), whose sizes a first forward tells, and on "
            f"{example.describe(inputs)} it raised {told(error)[:500]}. Run one forward with real "
            "inputs first, then ask again."
        ) from error
    return twin


_TENSORS = ("_parameters", "_buffers")


def _still_lazy(tensor: torch.Tensor) -> torch.Tensor:
    """On meta, without a size where the model's has none; small whole numbers keep their values."""
    kind: Any = type(tensor)
    if is_lazy(tensor):
        return kind(requires_grad=False, device="meta")  # type: ignore[no-any-return]
    if not tensor.is_meta and not tensor.is_floating_point() and tensor.numel() <= _SETTINGS:
        return tensor.detach().clone()
    return torch.empty_like(tensor, device="meta")


_SETTINGS = 65536


def _initialize_once(layer: Any) -> None:
    """Let the hook that sets the sizes run before the first call alone: its handle is a copy."""
    hooks = vars(layer)["_forward_pre_hooks"]
    for key, hook in list(hooks.items()):
        if getattr(hook, "__func__", None) is not LazyModuleMixin._infer_parameters:
            continue

        def once(module: nn.Module, *given: Any, key: int = key, hook: Any = hook) -> Any:
            del hooks[key]
            return hook(module, *given)

        hooks[key] = once
