"""What a search for inputs may spend, so that it ends long before the question does."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

import torch

from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.tracing.run import inputs as example

_MOST_CALLS = 100_000  # of all tries; the largest model of the libraries makes 61,576
_MOST_ELEMENTS = 1 << 24  # of a guess: a picture of 2,300 x 2,300 pixels, a wave of 17 minutes
_SHORT = 32  # steps or pixels that are left of a dimension that was walked along


class Budget:
    """The calls and the time that the refused tries of one search share.

    Args:
        until: When no new try begins any more, as `time.monotonic` tells it.

    Attributes:
        calls: How many the next try may make.
    """

    def __init__(self, until: float = math.inf) -> None:
        self.calls = _MOST_CALLS
        self._until = until

    def spend(self, calls: int) -> None:
        """Count the calls of a try that was refused."""
        self.calls -= calls

    def is_spent(self) -> bool:
        """Whether the search is over."""
        return self.calls <= 0 or time.monotonic() > self._until


def is_too_large(inputs: ExampleInputs) -> bool:
    """Whether a guess has more elements than a forward is asked to take."""
    return elements(inputs) > _MOST_ELEMENTS


def elements(inputs: ExampleInputs) -> int:
    """How many numbers all tensors of the inputs hold."""
    return sum(tensor.numel() for tensor in _tensors(inputs))


def shortened(inputs: ExampleInputs) -> ExampleInputs | None:
    """The inputs with their long dimensions cut to 32; None where none is long.

    Example:
        ```python
        shortened(ExampleInputs((torch.empty(1, 4, 16000),))).args[0].shape  # (1, 4, 32)
        ```
    """
    longest = max((max(tensor.shape, default=0) for tensor in _tensors(inputs)), default=0)
    if longest <= _SHORT:
        return None

    def cut(tensor: torch.Tensor) -> torch.Tensor:
        places = [slice(_SHORT) if size == longest else slice(None) for size in tensor.shape]
        return tensor[tuple(places)]

    return with_tensors(inputs, cut)


def with_tensors(inputs: ExampleInputs, change: Any) -> ExampleInputs:
    """The inputs with every tensor changed."""
    args = example.changed(tuple(inputs.args), change)
    kwargs = example.changed(dict(inputs.kwargs), change)
    return ExampleInputs(args, kwargs, inputs.batch, inputs.blind)


def _tensors(inputs: ExampleInputs) -> Iterator[torch.Tensor]:
    found: list[torch.Tensor] = []

    def note(tensor: torch.Tensor) -> torch.Tensor:
        found.append(tensor)
        return tensor

    with_tensors(inputs, note)
    yield from found
