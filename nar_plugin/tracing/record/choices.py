"""What a router chose, where a forward asks: each expert of a mixture has some tokens.

A mixture of experts is often a loop that asks which tokens go to an expert, and runs it when there
are any. On meta nobody knows, so every choice is said to be made, and each as often as another.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch

from nar_plugin.tracing.record.record import Record
from nar_plugin.tracing.record.sources import Sources

_CHOOSE = {"topk": 2, "argmax": 1}  # where each has its dimension


def asks_for_chosen(sources: Sources, answer: torch.Tensor) -> bool:
    """Whether a truth value is `(chosen == 3).any()` or says as much.

    As `(chosen == 3).sum() > 0` and `(weights[:, 3] > 0).any()` do, whose weights were scattered.
    """
    record, depth = sources.maker(answer), 0
    while record is not None:
        if record.name == "eq":
            return depth > 0 and not isinstance(record.args[1], float)
        if record.name in ("scatter", "scatter_"):
            return depth > 1
        if record.name not in ("any", "sum", "max", "amax") and not _is_above_zero(record):
            return False
        record, depth = sources.maker(record.args[0]), depth + 1
    return False


def choices(sources: Sources, tensor: torch.Tensor) -> int:
    """Among how many things each element was chosen; 0 where it is no choice."""
    record = sources.maker(tensor)
    if record is None or record.name not in _CHOOSE:
        return 0
    place = _CHOOSE[record.name]
    stated = record.args[place] if len(record.args) > place else -1
    dim = record.kwargs.get("dim", stated)
    return 0 if dim is None else int(record.args[0].shape[dim])


def counts(sources: Sources, tensor: torch.Tensor) -> npt.NDArray[np.int64] | None:
    """How often each thing was chosen, all alike and the first for the rest, at least once each.

    Returns:
        int64 of the tensor's shape, or None where it holds no counts.
    """
    record = sources.maker(tensor)
    chosen = None if record is None else _counted(sources, record)
    if chosen is None or tensor.numel() == 0:
        return None
    each, rest = divmod(chosen, tensor.numel())  # fewer choices than things: once each
    told = np.full(tuple(tensor.shape), max(each, 1), dtype=np.int64)
    if each:
        told.reshape(-1)[0] += rest
    return told


def _is_above_zero(record: Record) -> bool:
    return record.name in ("gt", "ne") and isinstance(record.args[1], int) and record.args[1] == 0


def _counted(sources: Sources, record: Record) -> int | None:
    """How many elements a record counts: `bincount`, or the sum of ones at what was chosen."""
    if record.name == "bincount":
        return int(record.args[0].numel())
    ones = sources.maker(record.args[0]) if record.name == "sum" else None
    if ones is None:
        return None
    if ones.name in ("scatter", "scatter_") and ones.args[3] == 1:
        return int(ones.args[2].numel())
    if ones.name == "eq" and ones.out.numel() > ones.args[0].numel():  # one_hot
        return int(ones.args[0].numel())
    return None
