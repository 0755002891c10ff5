"""Gives a model that was built on the meta device its few integers back: paddings, positions.

Mimi's convolutions keep their stride and padding in integer buffers and read them in the forward.
transformers computes such buffers again when it loads a checkpoint into a model on the meta device:
`_init_weights` fills them.
"""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from torch import nn

_MOST = 1 << 16  # elements; more are weights to a trace
_KINDS = (torch.int32, torch.int64)
_UNFILLED = -(1 << 30)  # no padding, position or index


def restore_settings(model: nn.Module) -> None:
    """Fill the integer buffers that the model knows how to compute; the others stay on meta.

    Example:
        ```python
        restore_settings(mimi)
        mimi.encoder.layers[0].padding_total  # tensor(6)
        ```
    """
    with torch.device("cpu"), torch.no_grad():
        _restore(model, model)


def _restore(module: nn.Module, owner: Any) -> None:
    """Restore a module and those inside; `owner` is the nearest model around it."""
    owner = module if hasattr(module, "_init_weights") else owner
    for child in module.children():
        _restore(child, owner)
    buffers = ((name, item) for name, item in module._buffers.items() if item is not None)
    blank = {name: item for name, item in buffers if _is_setting(item)}
    if not blank:
        return
    for name, item in blank.items():
        module._buffers[name] = torch.full_like(item, _UNFILLED, device="cpu")
    with contextlib.suppress(Exception):  # what it cannot compute stays as it was
        owner._init_weights(module)
    for name, item in blank.items():
        filled = module._buffers[name]
        if filled is None or filled.is_meta or bool((filled == _UNFILLED).any()):
            module._buffers[name] = item


def _is_setting(buffer: torch.Tensor) -> bool:
    return buffer.is_meta and buffer.dtype in _KINDS and buffer.numel() <= _MOST
