"""Build a model without filling its weights and without a trace in the random numbers.

The meta device allocates nothing, but a constructor that looks at a value fails there; the
classic is `[x.item() for x in torch.linspace(0, rate, depth)]` of stochastic depth. Such a model
is built on the CPU with every fill of a parameter left out: its pages are never touched, so the
system never hands out the memory.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

Result = TypeVar("Result")

# What initialises a parameter in place; nothing reads those values.
_FILLS = frozenset(
    "add_ clamp_ constant_ copy_ div_ erfinv_ fill_ kaiming_normal_ kaiming_uniform_ mul_ normal_ "
    "sub_ trunc_normal_ uniform_ zero_".split()
)


def built(make: Callable[[], Result]) -> Result:
    """What `make` returns when it runs on the meta device, else on unfilled parameters.

    Example:
        ```python
        model = built(lambda: MyNet(depth=50))
        ```
    """
    with random_numbers_kept():
        try:
            with torch.device("meta"):
                return make()
        except (NotImplementedError, RuntimeError, TypeError) as error:
            if "meta" not in str(error):
                raise
        with _Unfilled():
            return make()


@contextmanager
def random_numbers_kept() -> Iterator[None]:
    """Seed all generators inside the block, and leave them outside as they were."""
    python, torch_cpu = random.getstate(), torch.default_generator.get_state()
    legacy_numpy = np.random.get_state()  # noqa: NPY002 (the state that other people's code uses)
    random.seed(0)
    torch.default_generator.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(python)
        torch.default_generator.set_state(torch_cpu)
        np.random.set_state(legacy_numpy)  # noqa: NPY002


class _Unfilled(TorchFunctionMode):
    """Leaves out every in-place fill of a parameter, such as `nn.init.normal_`."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        filled = args[0] if args else kwargs.get("tensor")
        if isinstance(filled, torch.nn.Parameter) and getattr(func, "__name__", "") in _FILLS:
            return filled
        return func(*args, **kwargs)
