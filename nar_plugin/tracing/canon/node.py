"""One canonical operation while the graph is still being rewritten."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch

from nar_plugin.tracing.graph import Attribute, IntArray, Op

_ROUNDING = 1e-3  # 1 / 6 is written as 0.1667 too


class Scaled(NamedTuple):
    """What numbers made of a value x: scale * x + offset."""

    scale: float
    offset: float

    def near(self, scale: float, offset: float) -> bool:
        """Whether both are these, up to rounding."""
        return abs(self.scale - scale) < _ROUNDING and abs(self.offset - offset) < _ROUNDING

    def shift(self) -> float:
        """The offset of x itself: that of scale * (x + shift)."""
        return self.offset / self.scale if self.scale else math.inf


@dataclass(frozen=True, slots=True)
class Read:
    """What a node reads of one input: which values, scale and offset by numbers aside.

    Attributes:
        root: Identity of the tensor before numbers were added to it or multiplied with it.
        size: Its number of elements; fewer than the input's when a slice is read.
        place: The memory, and which part of it; equal for views of the same values.
        order: Empty where the values follow one another as the input has them: see `order.py`.
        shape: Of what is read; 1 where it is spread by `expand`.
        scaled: The numbers that it was multiplied with and added to.
    """

    root: int
    size: int
    place: tuple[int, ...]
    order: tuple[Hashable, ...] = ()
    shape: tuple[int, ...] = field(default=(), compare=False)
    scaled: Scaled = field(default=Scaled(1.0, 0.0), compare=False)


@dataclass(slots=True)
class Node:
    """One operation of the canonical graph in the making.

    Attributes:
        kind: Entry of the operator vocabulary.
        attributes: Name and value of each attribute.
        inputs: Indices of the nodes that it reads, in order.
        path: Module path that issued it.
        out: Its result.
        reads: One entry for each input, where it is known.
        notes: What fusion rules need to know and the graph does not show.
        operands: Where it reads what comes into the model: `inputs` with -1 for the first of
            these, -2 for the second.
        all_reads: One entry for each of `operands`, where it is known.
    """

    kind: str
    attributes: dict[str, Attribute]
    inputs: list[int]
    path: str
    out: Any = None
    reads: list[Read] = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)
    operands: list[int] = field(default_factory=list)
    all_reads: list[Read] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of its first result; (0,) where that is no tensor."""
        first = self.out[0] if isinstance(self.out, tuple | list) and self.out else self.out
        return tuple(first.shape) if isinstance(first, torch.Tensor) else (0,)

    @property
    def size(self) -> int:
        """Number of elements of its first result."""
        return math.prod(self.shape)

    def op(self) -> Op:
        """The frozen form."""
        return Op(self.kind, tuple(sorted(self.attributes.items())))


class Parts(NamedTuple):
    """Operations, edges and paths, as an ArchitectureGraph has them."""

    ops: tuple[Op, ...]
    edges: IntArray
    paths: tuple[str, ...]


def parts_of(nodes: Sequence[Node], dropped: Set[int]) -> Parts:
    """The parts of a graph of all nodes that are not dropped; equal operations are one object."""
    kept = [index for index in range(len(nodes)) if index not in dropped]
    position = {index: place for place, index in enumerate(kept)}
    interned: dict[Op, Op] = {}
    ops = tuple(interned.setdefault(op, op) for op in (nodes[index].op() for index in kept))
    edges = [
        (position[source], position[index])
        for index in kept
        for source in dict.fromkeys(nodes[index].inputs)
    ]
    paths = tuple(nodes[index].path for index in kept)
    return Parts(ops, np.array(edges, dtype=np.int32).reshape(-1, 2), paths)
