"""Values of tensors on an accelerator, copied to the CPU before the fork.

A forked child must not touch CUDA: the driver refuses it. The shapes of a model's tensors are
known there all the same, but not their values, of which a trace wants a few: small integers, which
say where and how much. The weights themselves are copied only for a model that must run for real.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from nar_plugin.tracing.record.constants import KNOWN_ELEMENTS

Copies = dict[int, torch.Tensor]
_held: Copies | None = None  # in a child: all that it can read of an accelerator


class WeightsWanted(Exception):
    """The forward needs weights that are on an accelerator and were not copied."""


def on_host(tensor: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
    """A private copy of a tensor on the CPU, of another type if one is given."""
    known = (_held or {}).get(id(tensor), tensor)
    return known.detach().to("cpu", dtype or known.dtype, copy=True)


def out_of_reach(tensor: torch.Tensor) -> bool:
    """Whether this process cannot read a tensor's values, since they are on an accelerator."""
    return _held is not None and _is_away(tensor) and id(tensor) not in _held


@contextmanager
def held(copies: Copies) -> Iterator[None]:
    """In a child, let these copies stand for the tensors on accelerators."""
    global _held
    before, _held = _held, copies
    try:
        yield
    finally:
        _held = before


def host_copies(model: nn.Module, example_inputs: Any, *, weights: bool) -> Copies:
    """Copies of what is on an accelerator, by the id of the tensor.

    Args:
        model: It is only read.
        example_inputs: As in `tracing.trace`.
        weights: Whether to copy everything, and not only what is small and holds integers or one
            number.
    """
    if not torch.accelerator.is_available():
        return {}
    copies: Copies = {}

    of_model = (vars(module) for module in model.modules())  # parameters and buffers among them
    for tensor in _tensors([*of_model, example_inputs], set()):
        if _is_away(tensor) and (weights or _is_telling(tensor)):
            copies[id(tensor)] = tensor.detach().to("cpu", copy=True)
    return copies


def _tensors(item: Any, seen: set[int]) -> Iterator[torch.Tensor]:
    """The tensors in plain containers; modules in them are left to the caller."""
    if isinstance(item, torch.Tensor):
        yield item
    elif type(item) in (list, tuple, dict, SimpleNamespace, OrderedDict) and id(item) not in seen:
        seen.add(id(item))
        held_by = vars(item) if type(item) is SimpleNamespace else item
        for entry in list(held_by.values() if isinstance(held_by, dict) else held_by):
            yield from _tensors(entry, seen)


def _is_away(tensor: torch.Tensor) -> bool:
    return tensor.device.type not in ("cpu", "meta")


def _is_telling(tensor: torch.Tensor) -> bool:
    floats = tensor.is_floating_point() or tensor.is_complex()
    return tensor.numel() == 1 if floats else tensor.numel() <= KNOWN_ELEMENTS
