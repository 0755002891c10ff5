"""One canonical operation while the graph is still being rewritten."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

from nar_plugin.tracing.graph import Attribute, Op


class Read(NamedTuple):
    """What a node reads of one input: which values, scale and offset by numbers aside.

    Attributes:
        root: Identity of the tensor before numbers were added to it or multiplied with it.
        size: Its number of elements; fewer than the input's when a slice is read.
    """

    root: int
    size: int


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
    """

    kind: str
    attributes: dict[str, Attribute]
    inputs: list[int]
    path: str
    out: Any = None
    reads: list[Read] = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Number of elements of its first result."""
        first = self.out[0] if isinstance(self.out, tuple | list) and self.out else self.out
        return first.numel() if isinstance(first, torch.Tensor) else 0

    def op(self) -> Op:
        """The frozen form."""
        return Op(self.kind, tuple(sorted(self.attributes.items())))
