"""The ArchitectureGraph: what a forward pass computes, as a canonical directed acyclic graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nar_plugin.html_table import html_table

if TYPE_CHECKING:
    from nar_plugin.drawing import Picture

Attribute = int | float | str | bool
IntArray = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Op:
    """One canonical operation: its kind and the attributes that make designs differ.

    Attributes:
        kind: An entry of the operator vocabulary, such as `conv`, `linear` or `attention`.
        attributes: Pairs of name and value, sorted by name.
    """

    kind: str
    attributes: tuple[tuple[str, Attribute], ...] = ()

    def get(self, name: str, default: Attribute | None = None) -> Attribute | None:
        """The value of one attribute, or `default`."""
        for key, value in self.attributes:
            if key == name:
                return value
        return default

    def __str__(self) -> str:
        """Such as `conv(groups=1, in=64, kernel=3x3, out=64)`."""
        inside = ", ".join(f"{key}={value}" for key, value in self.attributes)
        return f"{self.kind}({inside})" if inside else self.kind


@dataclass(frozen=True, eq=False)
class ArchitectureGraph:
    """A model's computation, free of bookkeeping, batch, resolution and sequence length.

    Two graphs are equal if their fingerprints are. Names and paths do not count.

    Attributes:
        ops: The n operations in topological order; equal ones are one shared object.
        edges: int32[E, 2], rows (source, target) with source < target.
        paths: The n module paths that issued the operations, such as `layer1.0.conv1`.
        classes: Class name of every module path that occurs, for labels only.
        flops: Floating point operations at batch 1 and the traced input, counted as
            `torch.utils.flop_counter` does (a multiply and an add are two).
        work: The same by kind of operator: `conv`, `matmul` (linear layers too), `attention`,
            `lstm`, `gru`, `rnn`.
        work_of_modules: The same by the module that issued them; empty for a design of an index.
        params: Number of distinct parameter elements of the model.
        unread: How many of them belong to modules that the forward did not reach.
        method: How the graph was obtained: `meta`, or a fallback.
        reason: Why that method was used.
        inputs: The inputs of the traced forward, in words.
    """

    ops: tuple[Op, ...]
    edges: IntArray
    paths: tuple[str, ...]
    classes: Mapping[str, str] = field(default_factory=dict)
    flops: int = 0
    work: Mapping[str, int] = field(default_factory=dict)
    work_of_modules: Mapping[str, int] = field(default_factory=dict)
    params: int = 0
    unread: int = 0
    method: str = "meta"
    reason: str = ""
    inputs: str = ""

    def __eq__(self, other: object) -> bool:
        """Whether both have the same operations, edges and attributes."""
        return isinstance(other, ArchitectureGraph) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        """Hash the fingerprint."""
        return hash(self.fingerprint)

    def __len__(self) -> int:
        """The number of operations."""
        return len(self.ops)

    def __repr__(self) -> str:
        """A line with sizes and the fingerprint."""
        return (
            f"ArchitectureGraph({len(self.ops)} ops, {len(self.edges)} edges, "
            f"{self.params:,} params, {self.flops:,} FLOPs, {self.fingerprint})"
        )

    def _repr_html_(self) -> str:
        """Sizes, kinds of operations and hashes as a notebook shows them."""
        kinds = Counter(op.kind for op in self.ops).most_common()
        facts = {
            "params": f"{self.params:,}",
            "FLOPs": "unknown" if self.method == "modules" else f"{self.flops:,}",
            "ops": ", ".join(f"{count} {kind}" for kind, count in kinds),
            "inputs": self.inputs,
            "traced by": ": ".join(filter(None, (self.method, self.reason))),
            "fingerprint": self.fingerprint,
            "design": self.design,
        }
        title = f"{len(self.ops):,} ops, {len(self.edges):,} edges"
        return html_table(title, (), [fact for fact in facts.items() if fact[1]])

    def sources(self) -> list[list[int]]:
        """For each operation, the places of the operations that it reads, in order."""
        sources: list[list[int]] = [[] for _ in self.ops]
        for start, end in zip(*self.edges.T.tolist(), strict=True):
            sources[end].append(start)
        return sources

    @cached_property
    def fingerprint(self) -> str:
        """The versioned hash of the graph with all attributes: equal designs, equal text."""
        from nar_plugin.tracing.fingerprint import fingerprint

        return fingerprint(self)

    @cached_property
    def design(self) -> str:
        """As `fingerprint`, without the sizes of the classifier and of the vocabulary."""
        from nar_plugin.tracing.fingerprint import design

        return design(self)

    def draw(self, title: str = "") -> Picture:
        """A picture of the design, folded to its blocks.

        Example:
            ```python
            nar_plugin.trace(model).draw().save("model.svg")  # or .html, .mmd, .dot
            ```
        """
        from nar_plugin.drawing import Picture
        from nar_plugin.mining import mine

        return Picture(mine(self), title)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and dicts, as `nar trace --json` prints them."""
        return {
            "fingerprint": self.fingerprint,
            "design": self.design,
            "params": self.params,
            "flops": self.flops,
            "method": self.method,
            "reason": self.reason,
            "inputs": self.inputs,
            "ops": [
                {"kind": op.kind, "attributes": dict(op.attributes), "path": path}
                for op, path in zip(self.ops, self.paths, strict=True)
            ],
            "edges": self.edges.tolist(),
        }
