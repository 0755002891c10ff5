"""What a batch of several samples adds to shapes, so that the graph can be that of one sample.

Only a user's own inputs are looked at: guesses hold one sample wherever a model takes one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from nar_plugin.hookspecs import ExampleInputs
from nar_plugin.tracing.record.record import CONST, PARAM

_COPYING = frozenset({"expand", "expand_copy", "repeat", "tile", "repeat_interleave", "cat"})
_PICKING = frozenset({"select", "slice", "narrow", "split", "split_with_sizes", "unbind", "chunk"})
_LARGEST_LAYOUT = 2  # the batch is the first dimension, or the second behind steps or queries


class Samples:
    """Which tensors hold one thing for each sample.

    Args:
        count: Samples in the batch, more than one.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._copies: dict[int, bool] = {}  # of weights, by id; whether one lay dense in memory
        self._of_weights: set[int] = set()  # records that no data reach
        self._are_steps = False

    def move(self, name: str, before: torch.Tensor, after: torch.Tensor, source: int) -> None:
        """Follow a call that moves or copies values and computes none.

        Args:
            name: Of the operator.
            before: Its first argument.
            after: One of its results.
            source: Of the argument.
        """
        if id(before) in self._copies:
            if name in _PICKING and before.shape[:1] != after.shape[:1]:
                return
            dense = self._copies[id(before)]
            if name == "clone" and not before.is_contiguous():
                dense = self._is_dense_for_one(before)
            self._copies[id(after)] = dense
        elif name in _COPYING and self._is_weight(source) and self._grew(before, after):
            self._copies[id(after)] = True

    def compute(
        self, name: str, tensors: list[torch.Tensor], sources: list[int], out: Any, index: int
    ) -> None:
        """Follow a call that is recorded.

        Args:
            name: Of the operator.
            tensors: Its arguments.
            sources: Of each of them.
            out: Its result.
            index: Its record.
        """
        known = [source for source in sources if source != CONST]
        if not known or not all(self._is_weight(source) for source in known):
            return
        self._of_weights.add(index)
        if not isinstance(out, torch.Tensor):
            return
        copies = [tensor for tensor in tensors if id(tensor) in self._copies]
        if any(tensor.shape[:1] == out.shape[:1] for tensor in copies) or (
            name == "cat" and self._grew(tensors[0], out)
        ):
            self._copies[id(out)] = True

    def size(self, tensor: torch.Tensor, out: Any, *, learned: bool) -> int:
        """Elements that an operand has for one sample.

        Args:
            tensor: An operand that does not depend on the data.
            out: The result of the call.
            learned: Whether it is made of parameters.
        """
        copied = learned and id(tensor) in self._copies
        each = (
            isinstance(out, torch.Tensor)
            and tensor.dim() == out.dim() > 0
            and tensor.shape[0] == self.count == out.shape[0]
        )
        whole = tensor.numel()
        return whole // self.count if (copied or each) and whole % self.count == 0 else whole

    def share(self, number: int, weight: torch.Tensor, *, live: bool = False) -> int:
        """Of a number of matrices or groups in a weight those that belong to one sample.

        Args:
            number: In all samples.
            weight: The weight.
            live: Whether the data make it, as in a modulated convolution.
        """
        if number % self.count or not (live or id(weight) in self._copies):
            return number
        return number // self.count

    def is_shared(self, index: int) -> bool:
        """Whether a record is computed once for all samples, from weights alone."""
        return index in self._of_weights

    def run_along(self, steps: int) -> None:
        """Note that a recurrent layer runs along a first dimension: those are steps."""
        self._are_steps |= steps == self.count

    def are_in(self, results: list[torch.Tensor]) -> bool:
        """Whether what a forward returns has something for each sample, or numbers alone.

        A picture without a batch has as many channels as it seems to have samples.
        """
        if self._are_steps:
            return False
        shapes = [tensor.shape[:_LARGEST_LAYOUT] for tensor in results if tensor.dim()]
        return not shapes or any(self.count in shape for shape in shapes)

    def is_dense(self, tensor: torch.Tensor) -> bool:
        """Whether a weight that was copied for each sample would be contiguous for one."""
        return self._copies.get(id(tensor), False)

    def _is_weight(self, source: int) -> bool:
        return source == PARAM or source in self._of_weights

    def _grew(self, before: torch.Tensor, after: torch.Tensor) -> bool:
        """Whether a dimension of size 1 where a batch may be became one of a batch's size."""
        sizes = [1] * (after.dim() - before.dim()) + list(before.shape)
        return any(
            old == 1 and new % self.count == 0
            for old, new in zip(sizes[:_LARGEST_LAYOUT], after.shape, strict=False)
        )

    def _is_dense_for_one(self, tensor: torch.Tensor) -> bool:
        for axis, size in enumerate(tensor.shape[:_LARGEST_LAYOUT]):
            if size % self.count == 0 and tensor.select(axis, 0).is_contiguous():
                return True
        return False


def samples_of(inputs: ExampleInputs) -> Samples | None:
    """For inputs of several samples: the first size, where all tensors have the same.

    Beside others a square matrix says which nodes are neighbours, and a row of floats alone is a
    signal: they are no samples.
    """
    items = (*inputs.args, *inputs.kwargs.values())
    given = [
        tensor
        for item in items
        for tensor in _tensors(item)
        if tensor.dim() and not tensor.is_nested
    ]
    sizes = {tensor.shape[0] for tensor in given}
    count = sizes.pop() if len(sizes) == 1 else 1
    graph = len(given) > 1 and any(tensor.shape == (count, count) for tensor in given)
    signal = all(tensor.dim() == 1 and tensor.is_floating_point() for tensor in given)
    return Samples(count) if count > 1 and not (graph or signal) else None


def _tensors(item: Any) -> list[torch.Tensor]:
    """Those at the top and in dicts; the tensors of a list may be samples themselves."""
    if isinstance(item, torch.Tensor):
        return [item]
    if isinstance(item, Mapping):
        return [tensor for value in item.values() for tensor in _tensors(value)]
    return []
