"""Parameters that go to the meta device as soon as a module gets them, and stay there.

What a constructor calculates of them is on meta too. Sending either to a device fails, for there
is nothing to copy; in `StaysOnMeta` it stays on meta instead, wherever it is sent, and one number
arrives as zero: mmengine, which looks for the weights that an initialisation changed, compares
their means.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch import nn
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.nn.parameter import is_lazy
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakIdKeyDictionary


@contextmanager
def parameters_on_meta() -> Iterator[None]:
    """Inside the block, a parameter that this thread gives to a module moves to the meta device."""
    _install_hook()
    outside = getattr(_OF_THREAD, "moved", None)
    _OF_THREAD.moved = WeakIdKeyDictionary()  # one parameter given to two modules stays one
    try:
        yield
    finally:
        _OF_THREAD.moved = outside


_OF_THREAD = threading.local()


@cache
def _install_hook() -> None:
    """Put the hook there for good; it does nothing outside the block.

    torch has one list of hooks for all threads, which none may change while another reads it.
    """
    # torch documents that a returned parameter replaces the given one; its types say otherwise.
    register_module_parameter_registration_hook(_moved)  # type: ignore[arg-type]


def _moved(_: nn.Module, __: str, parameter: nn.Parameter | None) -> nn.Parameter | None:
    moved = getattr(_OF_THREAD, "moved", None)
    if moved is None or parameter is None or parameter.is_meta or is_lazy(parameter):
        return None
    if parameter not in moved:
        values = parameter.detach().to("meta")
        moved[parameter] = nn.Parameter(values, requires_grad=parameter.requires_grad)
        vars(moved[parameter]).update(vars(parameter))
    known: nn.Parameter = moved[parameter]
    return known


class StaysOnMeta(TorchFunctionMode):
    """Answers the copies that fail since their source is on meta; it sees one thread only.

    It is for constructors on the CPU: on meta, their buffers would lose values that can be had.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Make the call; where it has no data to copy, say what stands for the copy."""
        kwargs = kwargs or {}
        try:
            return func(*args, **kwargs)
        except NotImplementedError as error:
            answer = _COPIES.get(func)
            if answer is None or "meta tensor" not in str(error):
                raise
            return answer(*args, **kwargs)


def _sent(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """The tensor on meta, of the type that it was to have; or one zero."""
    asked = (*args, *kwargs.values())
    types = [getattr(item, "dtype", item) for item in asked]
    dtype = next((item for item in types if isinstance(item, torch.dtype)), tensor.dtype)
    if tensor.numel() == 1 and not isinstance(tensor, nn.Parameter):
        return torch.zeros(tensor.shape, dtype=dtype, device="cpu")
    return tensor.to(dtype)


def _unchanged(target: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    return target


_COPIES: dict[Any, Callable[..., torch.Tensor]] = {
    torch.Tensor.to: _sent,
    torch.Tensor.cpu: _sent,
    torch.Tensor.cuda: _sent,
    torch.Tensor.copy_: _unchanged,
}
