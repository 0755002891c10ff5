"""Nested tensors: of the jagged layout, which torch takes apart into plain ones in Python.

A strided nested tensor has no sizes and cannot be on meta, so a jagged one stands for it. Lengths
are known; on meta the places where sequences begin are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.nested._internal import nested_tensor as jagged
from torch.utils._python_dispatch import _disable_current_modes

_from_list: Any = jagged.jagged_from_list


def is_taken_apart(types: Any) -> bool:
    """Whether a call has an argument that answers it with calls on the tensors inside."""
    return any(hasattr(kind, "__tensor_flatten__") for kind in types)


@contextmanager
def nested_tensors_followed(recorder: Any) -> Iterator[None]:
    """Inside the block jagged tensors are made so that the recorder knows all that is in them."""

    def followed(tensors: Any, *_: Any, **__: Any) -> Any:
        return from_list(recorder, tensors), None

    before: Any = jagged.jagged_from_list
    jagged.jagged_from_list = followed
    try:
        yield
    finally:
        jagged.jagged_from_list = before


def from_list(recorder: Any, tensors: Any, *_: Any, **__: Any) -> Any:
    """A jagged tensor of tensors of several lengths.

    Args:
        recorder: Learns of the places where they begin; None where nothing is recorded.
        tensors: A list of tensors that differ in one dimension.
    """
    with _disable_current_modes():
        offsets = torch.tensor([0, *_lengths(tensors)]).cumsum(0)
        if tensors[0].is_meta:
            offsets = offsets.to("meta")
        if recorder is not None:
            recorder.constants.add(offsets)
    return _from_list(list(tensors), offsets)[0]


def _lengths(tensors: Any) -> list[int]:
    """The sizes that differ, or the first ones."""
    sizes = [item.shape for item in tensors]
    ragged = [place for place in range(len(sizes[0])) if len({size[place] for size in sizes}) > 1]
    return [int(size[ragged[0] if ragged else 0]) for size in sizes]


def inside_changed(
    tensor: torch.Tensor, change: Callable[[torch.Tensor], torch.Tensor]
) -> torch.Tensor:
    """A nested tensor of the changed tensors that it holds."""
    made: torch.Tensor = from_list(None, [change(item.detach()) for item in tensor.unbind()])
    return made


NESTED: dict[str, Callable[..., Any]] = {"aten::_nested_tensor_from_tensor_list": from_list}
