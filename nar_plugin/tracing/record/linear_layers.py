"""`nn.Linear` in one step: through the dispatcher it is four calls, four of ten in a BERT."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from nar_plugin.tracing.record.kernels import without_memory
from nar_plugin.tracing.record.record import CONST, PARAM

if TYPE_CHECKING:
    from nar_plugin.tracing.record.recorder import Recorder

_FORWARD: Any = nn.Linear.forward
_OPERATOR: Any = torch.ops.aten.linear.default
_META = torch.device("meta")
_WITHOUT_MODES: Any = torch._C._DisableTorchDispatch


def is_linear(forward: Any) -> bool:
    """Whether a module's forward is that of `nn.Linear`."""
    return getattr(forward, "__func__", None) is _FORWARD


def in_one_call(recorder: Recorder, forward: Any) -> Callable[..., Any]:
    """The forward of a linear layer, recorded as `aten::linear` where all is as usual.

    Usual are a tensor on meta that depends on the data, and learned weights of its type and width.
    What is not goes the long way, and is refused there if it is wrong.
    """
    own = forward.__self__._parameters

    def run(*args: Any, **kwargs: Any) -> Any:
        if len(args) != 1 or kwargs or recorder.samples is not None:
            return forward(*args, **kwargs)
        if "weight" not in own or "bias" not in own:  # made of others, as a normed weight is
            return forward(*args)
        data, weight, bias = args[0], own["weight"], own["bias"]
        tensors = (data, weight) if bias is None else (data, weight, bias)
        sources = [recorder.sources.of_plain(tensor) for tensor in tensors]
        if not _is_usual(tensors, sources):
            return forward(data)
        with _WITHOUT_MODES():
            out = torch.empty((*data.shape[:-1], weight.shape[0]), dtype=data.dtype, device=_META)
        recorder.note(_OPERATOR, tensors, sources, without_memory(out))
        return out

    return run


def _is_usual(tensors: tuple[Any, ...], sources: list[int]) -> bool:
    data, weight = tensors[:2]
    return (
        sources[0] not in (PARAM, CONST)
        and sources[1:].count(PARAM) == len(sources) - 1
        and data.dtype is weight.dtype
        and not data.requires_grad
        and data.dim() > 1
        and data.is_contiguous()
        and data.shape[-1] == weight.shape[-1]
    )
