"""Build a model without allocating its weights, and without a trace in the random numbers.

On the meta device nothing is allocated, but a constructor that looks at a value fails there; the
classic is `[x.item() for x in torch.linspace(0, rate, depth)]` of stochastic depth. Such a model
is built on the CPU, with each parameter moved to the meta device as soon as a module gets it and
before it is filled, as accelerate's `init_empty_weights` does. It stays there when the constructor
sends the model or a part of it to a device (`parameters_on_meta.py`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np

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
    import torch

    from nar_plugin.references.parameters_on_meta import StaysOnMeta, parameters_on_meta

    with random_numbers_kept():
        try:
            with torch.device("meta"):
                return make()
        except (NotImplementedError, RuntimeError, TypeError) as error:
            if "meta" not in str(error).lower():
                raise
        with parameters_on_meta(), StaysOnMeta():
            return make()


@contextmanager
def random_numbers_kept() -> Iterator[None]:
    """Seed all generators inside the block, and leave them outside as they were."""
    import torch

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
