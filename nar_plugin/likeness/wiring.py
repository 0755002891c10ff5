"""The operations of a block with what they read and what reads them, and their names for people."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from nar_plugin.encoder.words import ACTIVATIONS, NORMS
from nar_plugin.tracing.graph import ArchitectureGraph, Op

_NOUNS = {
    "conv": "convolution",
    "linear": "linear layer",
    "attention": "attention",
    "add": "sum",
    "embedding": "embedding",
    "max_pool": "pooling",
    "avg_pool": "pooling",
    "mean": "mean",
    "mul": "product",
    "cat": "concatenation",
}
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_BACKBONES = ("conv", "linear", "attention", "add", "embedding", "cat", "max_pool", "avg_pool")


class Wiring:
    """What the operations of a graph read, and what reads them.

    Attributes:
        ops: The operations.
        sources: Of each operation the places that it reads.
        readers: Of each operation the places that read it.
    """

    def __init__(self, graph: ArchitectureGraph) -> None:
        self.ops = graph.ops
        self.sources = graph.sources()
        self.readers: list[list[int]] = [[] for _ in graph.ops]
        for place, sources in enumerate(self.sources):
            for source in sources:
                self.readers[source].append(place)

    def kind(self, place: int) -> str:
        """The operator at a place."""
        return self.ops[place].kind


@dataclass(frozen=True)
class Wired:
    """A block inside its graph.

    Attributes:
        wiring: Of the graph.
        places: The operations of the block, ascending.
    """

    wiring: Wiring
    places: tuple[int, ...]

    @cached_property
    def inside(self) -> frozenset[int]:
        """The operations as a set."""
        return frozenset(self.places)

    def op(self, place: int) -> Op:
        """The operation at a place of the graph."""
        return self.wiring.ops[place]

    def noun(self, place: int, among: frozenset[int] | None = None) -> str:
        """Such as `the third convolution`, or `the attention` where there is one of the kind.

        Args:
            place: The operation.
            among: Those that are counted; all of the block without it.
        """
        noun = self._noun(place)
        same = [
            other
            for other in self.places
            if self._noun(other) == noun and (among is None or other in among)
        ]
        if len(same) < 2 or place not in same or same.index(place) >= len(_ORDINALS):
            return f"the {noun}"
        return f"the {_ORDINALS[same.index(place)]} {noun}"

    def _noun(self, place: int) -> str:
        kind = self.op(place).kind
        projection = self._projection(place) if kind == "linear" else ""
        return projection or _NOUNS.get(kind, kind)

    def _projection(self, place: int) -> str:
        """What a linear layer beside an attention is called; empty for others."""
        wiring = self.wiring
        if any(wiring.kind(source) == "attention" for source in wiring.sources[place]):
            return "output projection"
        reached = set(wiring.readers[place])
        reached |= {
            further
            for reader in reached
            if wiring.kind(reader) in NORMS | {"rotary", "l2_norm"}
            for further in wiring.readers[reader]
        }
        if any(wiring.kind(reader) == "attention" for reader in reached):
            return "query-key-value projection"
        return ""

    def after(self, place: int, kept: frozenset[int]) -> str:
        """Where what reads a place stands: `after the third convolution`, or empty.

        Norms and activations are passed by on the way back.
        """
        while place in self.inside and self.op(place).kind not in _BACKBONES:
            sources = self.wiring.sources[place]
            if not sources:
                break
            place = sources[0]
        if place not in self.inside:
            return ""
        return f"after {self.noun(place, kept)}"

    def norm_style(self) -> str:
        """Where the norms stand relative to layers and sums; empty where there are none."""
        styles = [self._style(place) for place in self.places if self.op(place).kind in NORMS]
        for style in ("before-act", "before", "after-sum"):
            if style in styles:
                return style
        return next((style for style in styles if style), "")

    def _style(self, place: int) -> str:
        wiring = self.wiring
        sources, readers = wiring.sources[place], wiring.readers[place]
        if not sources:
            return ""
        acts = any(wiring.kind(reader) in ACTIVATIONS for reader in readers)
        if acts and place == self.places[0]:
            return "before-act"
        beside = [wiring.kind(other) for other in wiring.readers[sources[0]] if other != place]
        if "add" in beside:
            return "before-act" if acts else "before"
        source = wiring.kind(sources[0])
        if source == "add":
            return "after-sum" if any(wiring.kind(reader) == "add" for reader in readers) else ""
        if readers and all(wiring.kind(reader) == "add" for reader in readers) and source != "conv":
            return "after-branch"
        return "after-conv" if source == "conv" else ""
