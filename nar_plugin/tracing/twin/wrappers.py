"""Takes off the wrappers around a model that do not belong to its design."""

from __future__ import annotations

import torch
from torch import nn

from nar_plugin.errors import TraceError
from nar_plugin.tracing.twin.parts import module_name

# Classes whose only content is the wrapped `module`; by name, since FSDP and DeepSpeed are heavy.
_WRAPPERS = frozenset(
    {"DataParallel", "DistributedDataParallel", "FullyShardedDataParallel", "DeepSpeedEngine"}
)


def unwrap(model: nn.Module) -> nn.Module:
    """The module inside `torch.compile`, DDP, FSDP, PEFT's outer wrapper and Ultralytics' runner.

    Args:
        model: Any module.

    Returns:
        The innermost wrapped module, or `model` itself.

    Raises:
        TraceError: The model is a TorchScript module, whose Python forward is gone.
    """
    while not _is_script(model):
        inner = model._modules.get("_orig_mod")
        if inner is None and type(model).__name__ in _WRAPPERS:
            inner = model._modules.get("module")
        if inner is None and module_name(type(model)).startswith("peft."):
            inner = model._modules.get("base_model")  # PeftModel -> LoraModel
            if inner is None and type(model).__name__.endswith("Model"):
                inner = model._modules.get("model")  # LoraModel -> the adapted model
        if inner is None and module_name(type(model)).startswith("ultralytics."):
            bases = {module_name(base) for base in type(model).mro()}
            inner = model._modules.get("model") if "ultralytics.engine.model" in bases else None
        if inner is None:
            return model
        model = inner
    raise TraceError(
        f"Got a TorchScript module ({getattr(model, 'original_name', type(model).__name__)}): "
        "its Python forward is no longer there to follow. Pass the eager nn.Module that it was "
        "scripted or traced from."
    )


def _is_script(model: nn.Module) -> bool:
    return isinstance(model, torch.jit.ScriptModule)
