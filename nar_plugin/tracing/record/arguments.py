"""What an operator gets for the arguments of a call: each tensor, or what stands for it.

Live tensors and constants that were seen being made stand for themselves. A real tensor from
outside, such as a global, is copied where it is small and has a twin on meta where it is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from nar_plugin.tracing.graph import Op
from nar_plugin.tracing.record.constants import KNOWN_ELEMENTS
from nar_plugin.tracing.record.host_copies import out_of_reach
from nar_plugin.tracing.record.kernels import meta_twin
from nar_plugin.tracing.record.record import PARAM

if TYPE_CHECKING:
    from nar_plugin.tracing.record.recorder import Recorder

_HOLDERS = (torch.Tensor, tuple, list)  # arguments that are tensors or may hold some


class ValuesLost(Exception):
    """A forward made a constant on the device of a meta tensor; it is to be made on the CPU."""


def all_live(args: tuple[Any, ...], made_by: dict[int, int]) -> list[torch.Tensor]:
    """The tensors among arguments where all are live and on meta, as in most calls; else none.

    The steps of a packed sequence have values, and come from what was packed.

    Args:
        args: Of a call, no list among them.
        made_by: As in `Sources`.
    """
    tensors = [item for item in args if isinstance(item, torch.Tensor)]
    for tensor in tensors:
        if id(tensor) not in made_by or not tensor.is_meta:
            return []
    return tensors


def replaced(
    recorder: Recorder, args: tuple[Any, ...], kwargs: dict[str, Any], tensors: list[torch.Tensor]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with what stands for each tensor, which is also put into `tensors`.

    Raises:
        ValuesLost: One was made on the meta device, and the recorder is strict.
    """
    args = tuple(
        [
            _argument(recorder, item, tensors) if isinstance(item, _HOLDERS) else item
            for item in args
        ]
    )
    return args, {key: _argument(recorder, item, tensors) for key, item in kwargs.items()}


def without_values(recorder: Recorder, tensor: torch.Tensor) -> torch.Tensor:
    """A tensor on meta: itself, or an empty twin of a known constant."""
    tensor = recorder.sources.standing_for(tensor)
    if tensor.is_meta:
        return tensor
    with _disable_current_modes():
        return recorder.constants.add(meta_twin(tensor))


def _argument(recorder: Recorder, item: Any, tensors: list[torch.Tensor]) -> Any:
    if isinstance(item, torch.Tensor):
        standing = recorder.sources.replaced.get(id(item))
        if standing is not None:
            item = standing
        elif item.is_meta:
            if recorder.strict and id(item) not in recorder.sources.made_by:
                _check_seen(recorder, item)
        elif id(item) not in recorder.constants.known:
            item = _foreign(recorder, item)
        tensors.append(item)
        return item
    if type(item) is list or type(item) is tuple:
        if item and type(item[0]) is int:  # a shape
            return item
        return type(item)([_argument(recorder, entry, tensors) for entry in item])
    return item


def _check_seen(recorder: Recorder, tensor: torch.Tensor) -> None:
    """Stop at the result of `torch.tensor(..., device=x.device)`, made below the dispatcher.

    Raises:
        ValuesLost: Its values were lost on the meta device.
    """
    if tensor not in recorder.constants and not isinstance(tensor, torch.nn.Parameter):
        raise ValuesLost("a tensor was made on the meta device, without its values")


def _foreign(recorder: Recorder, tensor: torch.Tensor) -> torch.Tensor:
    """A real tensor from outside (a closure, a global): never written to, seldom read."""
    sources = recorder.sources
    learned = isinstance(tensor, torch.nn.Parameter)
    returned = bool(recorder.exported) and not learned and tensor.is_floating_point()
    small = tensor.numel() <= KNOWN_ELEMENTS and not learned and type(tensor) is torch.Tensor
    small = small and not out_of_reach(tensor)
    if returned:  # from numpy, where it was computed from what went out
        twin = meta_twin(tensor)
        recorder.emit(Op("numpy"), recorder.exported, twin, flops=0)
    elif small:
        twin = recorder.constants.know(tensor.detach().to("cpu", copy=True))
    else:
        twin = meta_twin(tensor)
        sources.keep.append(twin)
        if learned:
            sources.made_by[id(twin)] = PARAM
    sources.replaced[id(tensor)] = twin
    sources.keep.append(tensor)
    return twin
