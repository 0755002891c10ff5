"""The state that a recurrent model begins with, as it makes it itself."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from torch import Tensor, nn

from nar_plugin.tracing.twin.twin import Twin


def first_state(model: nn.Module) -> Iterator[Any]:
    """What `init_hidden(1)` of a twin gives: the user's model must not change.

    Example:
        ```python
        list(first_state(language_model))  # [[(h, c), (h, c)]], a pair for each of two LSTMs
        ```
    """
    make = getattr(type(model), "init_hidden", None)
    if not callable(make) or len(inspect.signature(make).parameters) != 2:
        return
    try:
        twin = Twin(model, lambda path, forward: forward)
        state = make(twin.model, 1)
        twin.dissolve()
    except Exception:  # somebody else's
        return
    if _only_tensors(state):
        yield state


def _only_tensors(state: Any) -> bool:
    if isinstance(state, list | tuple):
        return all(_only_tensors(item) for item in state)
    return isinstance(state, Tensor)
