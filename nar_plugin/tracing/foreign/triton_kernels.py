"""Triton kernels: launched on raw memory, past the dispatcher, on a GPU that may not be there.

While a trace runs, a launch in its thread is followed as torch would compute it, where the kernel
is a known one, or becomes one node named after it. Launches in other threads go on as ever.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from nar_plugin.tracing.foreign.known_kernels import known_kernel
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


def launched(recorder: Any, kernel: Any, arguments: Mapping[str, Any]) -> None:
    """Record one launch.

    Of a kernel that is not known the outputs are the tensors that were allocated for it, and no
    tables or integers; one that gets none works in place, on its last tensor that is no weight.
    """
    while hasattr(kernel, "fn"):  # inside autotuning and heuristics
        kernel = kernel.fn
    name = str(getattr(kernel, "__name__", "kernel"))
    tensors = [item for item in arguments.values() if isinstance(item, torch.Tensor)]
    known = known_kernel(name, arguments)
    # Another library's kernel of that name has other shapes, or a gate of its own.
    if known is not None and recorder.attempt(known, tensors):
        return
    live = [tensor for tensor in tensors if recorder.sources.is_live(tensor)]
    fresh = [tensor for tensor in tensors if recorder.writes.is_fresh(tensor)]
    data = [tensor for tensor in live if not recorder.sources.is_learned(tensor)]
    if live:
        recorder.write(Op(f"triton::{name}"), live, fresh or (data or live)[-1:])


def _by_name(kernel: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a launch by their names; those without one by their places."""
    names = getattr(kernel, "arg_names", ())
    words = (*names, *map(str, range(len(names), len(args))))
    return {**dict(zip(words, args, strict=False)), **kwargs}


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
        return lambda *args, **kwargs: launched(recorder, self, _by_name(self, args, kwargs))

    launcher.__wrapped__ = original  # type: ignore[attr-defined]
    return launcher
