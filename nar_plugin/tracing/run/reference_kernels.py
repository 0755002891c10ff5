"""Lets torch's reference kernels run without dynamo, which takes more than a second to import.

torch keeps dynamo away from kernels that are written in Python (`torch/_compile.py`), and imports
it for that at their first call. A kernel that is marked here is called as it is.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

from torch import _compile

_MARK = "__dynamo_disable"  # where torch/_compile.py keeps what it calls in the kernel's place
_HOMES = (
    "torch._decomp.decompositions",
    "torch._meta_registrations",
    "torch._prims",
    "torch._refs",
)


@contextmanager
def without_dynamo() -> Iterator[None]:
    """Inside the block no reference kernel imports dynamo; afterwards nothing is marked."""
    if "torch._dynamo" in sys.modules:
        yield
        return
    marked = [kernel for kernel in _guarded() if _MARK not in vars(kernel)]
    for kernel in marked:
        setattr(kernel, _MARK, kernel)
    try:
        yield
    finally:
        for kernel in marked:
            if vars(kernel).get(_MARK) is kernel:
                delattr(kernel, _MARK)


@cache
def _guarded() -> tuple[Any, ...]:
    """What `torch._compile._disable_dynamo` has wrapped in the modules of reference kernels."""
    wrapper = _compile._disable_dynamo(_guarded).__code__
    homes = [
        module
        for name, module in list(sys.modules.items())
        if name.startswith(_HOMES) and isinstance(module, types.ModuleType)
    ]
    waiting = [item for home in homes for item in list(vars(home).values())]
    seen: set[int] = set()
    found: list[Any] = []
    while waiting:
        function = waiting.pop()
        if type(function) is not types.FunctionType or id(function) in seen:
            continue
        seen.add(id(function))
        held = _held(function)
        if function.__code__ is wrapper:
            found.append(held["fn"])
        waiting += held.values()
    return tuple(found)


def _held(function: types.FunctionType) -> dict[str, Any]:
    """What a decorated function holds, by name; its `__wrapped__` may be another function."""
    held = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # a name that was never given a value
            held[name] = cell.cell_contents
    return held
