"""What a twin has in the place of a model's tensors: empty ones, and few with their values."""

from __future__ import annotations

import torch
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter

from nar_plugin.errors import TraceError
from nar_plugin.tracing.record.constants import KNOWN_ELEMENTS
from nar_plugin.tracing.record.host_copies import on_host
from nar_plugin.tracing.record.kernels import without_memory


def real_copy(tensor: torch.Tensor) -> torch.Tensor:
    """A private copy on the CPU; every float becomes float32."""
    dtype = torch.float32 if tensor.is_floating_point() else tensor.dtype
    return on_host(tensor, dtype)


def is_setting(tensor: torch.Tensor) -> bool:
    """Whether a buffer holds a few integers, such as paddings or positions, not weights."""
    integers = not (tensor.is_floating_point() or tensor.is_complex() or tensor.is_quantized)
    plain = type(tensor) is torch.Tensor and tensor.layout is torch.strided
    return plain and integers and not tensor.is_meta and tensor.numel() <= KNOWN_ELEMENTS


def empty(tensor: torch.Tensor) -> torch.Tensor:
    """An empty meta tensor of the same logical shape; every float becomes float32."""
    if isinstance(tensor, UninitializedParameter | UninitializedBuffer):
        raise TraceError(
            "The model has lazy layers that its forward does not reach with these inputs, so "
            "their sizes are not known. Run one forward that reaches them first, then ask again."
        )
    dtype = torch.float32 if tensor.is_floating_point() else tensor.dtype
    return without_memory(torch.empty(_logical_shape(tensor), dtype=dtype, device="meta"))


def _logical_shape(tensor: torch.Tensor) -> torch.Size:
    state = getattr(tensor, "quant_state", None)  # a bitsandbytes weight, packed in bytes
    return torch.Size(state.shape) if state is not None else tensor.shape
