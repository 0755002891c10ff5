"""Build a model without allocating its weights, and without a trace in the random numbers.

On the meta device nothing is allocated, but a constructor that looks at a value fails there; the
classic is `[x.item() for x in torch.linspace(0, rate, depth)]` of stochastic depth. Such a model
is built on the CPU, with each parameter moved to the meta device as soon as a module gets it and
before it is filled, as accelerate's `init_empty_weights` does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
import torch
from torch import nn
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.nn.parameter import is_lazy
from torch.utils.weak import WeakIdKeyDictionary

Result = TypeVar("Result")


def built(make: Callable[[], Result]) -> Result:
    """What `make` returns when the models that it builds may allocate no weights.

    Example:
        ```python
        model = built(lambda: MyNet(depth=50))
        ```

    Raises:
        Exception: Whatever `make` raises.
    """
    with random_numbers_kept():
        try:
            with torch.device("meta"):
                return make()
        except (NotImplementedError, RuntimeError, TypeError) as error:
            if "meta" not in str(error).lower():
                raise
        with parameters_on_meta():
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


@contextmanager
def parameters_on_meta() -> Iterator[None]:
    """Inside the block, a parameter that is given to a module moves to the meta device."""
    moved = WeakIdKeyDictionary()  # one parameter given to two modules stays one

    def move(_: nn.Module, __: str, parameter: nn.Parameter | None) -> nn.Parameter | None:
        if parameter is None or parameter.is_meta or is_lazy(parameter):
            return None
        if parameter not in moved:
            values = parameter.detach().to("meta")
            moved[parameter] = nn.Parameter(values, requires_grad=parameter.requires_grad)
            vars(moved[parameter]).update(vars(parameter))
        known: nn.Parameter = moved[parameter]
        return known

    # torch documents that a returned parameter replaces the given one; its types say otherwise.
    hook = register_module_parameter_registration_hook(move)  # type: ignore[arg-type]
    try:
        yield
    finally:
        hook.remove()
