"""Triton kernels: launched on raw memory, past the dispatcher, on a GPU that may not be there.

While a trace runs, a launch in its thread becomes one node named after the kernel. Launches in
other threads go on as ever.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from nar_plugin.tracing.graph import Op

_lock = threading.Lock()
_tracing = threading.local()
_users = 0


@contextmanager
def launches_recorded(recorder: Any) -> Iterator[None]:
    """Turn this thread's launches into records of `recorder`, if Triton is in use at all."""
    jit = sys.modules.get("triton.runtime.jit")
    if jit is None:
        yield
        return
    outer = getattr(_tracing, "recorder", None)
    _tracing.recorder = recorder
    _install(jit.KernelInterface)
    try:
        yield
    finally:
        _uninstall(jit.KernelInterface)
        _tracing.recorder = outer


def launched(recorder: Any, kernel: Any, arguments: Iterable[Any]) -> None:
    """Record one launch: its outputs are the tensors that were allocated for it.

    A kernel that gets no fresh tensor works in place, on its last one.
    """
    tensors = [item for item in arguments if isinstance(item, torch.Tensor)]
    live = [tensor for tensor in tensors if recorder.is_live(tensor)]
    fresh = [tensor for tensor in tensors if not recorder.is_live(tensor)]
    if live:
        recorder.write(Op(f"triton::{_name(kernel)}"), live, fresh or live[-1:])


def _name(kernel: Any) -> str:
    while hasattr(kernel, "fn"):  # inside autotuning and heuristics
        kernel = kernel.fn
    return str(getattr(kernel, "__name__", "kernel"))


def _install(interface: Any) -> None:
    global _users
    with _lock:
        if _users == 0:
            interface.__getitem__ = _watched(interface.__getitem__)
        _users += 1


def _uninstall(interface: Any) -> None:
    global _users
    with _lock:
        _users -= 1
        if _users == 0:
            interface.__getitem__ = interface.__getitem__.__wrapped__


def _watched(original: Callable[..., Any]) -> Callable[..., Any]:
    def launcher(self: Any, grid: Any) -> Any:
        recorder = getattr(_tracing, "recorder", None)
        if recorder is None:
            return original(self, grid)
        return lambda *args, **kwargs: launched(recorder, self, (*args, *kwargs.values()))

    launcher.__wrapped__ = original  # type: ignore[attr-defined]
    return launcher
