"""Figure: what is drawn of a design, before anybody has said where and how."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

MOST_BOXES = 200  # of a picture
JOINS = {"add": "+", "mul": "\N{MULTIPLICATION SIGN}", "cat": "\N{PARALLEL TO}"}  # drawn as circles


@dataclass(frozen=True)
class Box:
    """One box of a picture: a layer, some operations, or blocks that are alike.

    Attributes:
        title: Such as `Bottleneck` or `conv 3x3`.
        note: A second line, such as the other operations in it; may be empty.
        path: The module, such as `layer1.0`; of several the first. Empty where none is known.
        place: The path as it is shown, such as `layer1.1-2`.
        count: How many blocks it stands for.
        ops: How many operations, in all of them.
        weights: Numbers in the matrices and kernels of their layers, in all of them.
        work: Part of the design's FLOPs, from 0 to 1.
        estimated: Whether that is an estimate, as for a row of the index; else a trace counted.
        kind: Number of the kind of block, from 0; None of what is no block.
        variant: Whether it is a block that differs a little from others of its kind.
        mark: Of a join its sign; of where values come in or go out `in` and `out`; else empty.
        places: The operations of the first block that it stands for.
        inside: What a frame holds; None of a plain box.
    """

    title: str
    note: str = ""
    path: str = ""
    place: str = ""
    count: int = 1
    ops: int = 0
    weights: int = 0
    work: float = 0.0
    estimated: bool = False
    kind: int | None = None
    mark: str = ""
    variant: bool = False
    places: tuple[int, ...] = ()
    inside: Level | None = None


@dataclass(frozen=True)
class Edge:
    """Values that go from one box to another.

    Attributes:
        source: Number of the box that makes them.
        target: Number of the box that reads them, greater than `source`.
        shape: Their width and resolution where these change here, such as `256 · 1/4`.
    """

    source: int
    target: int
    shape: str = ""


@dataclass(frozen=True)
class Level:
    """Boxes in the order of the forward, and what connects them."""

    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]

    def all_boxes(self) -> Iterator[Box]:
        """Those of the frames too."""
        for box in self.boxes:
            yield box
            if box.inside is not None:
                yield from box.inside.all_boxes()


@dataclass(frozen=True)
class Kind:
    """A kind of block, and one of its blocks from the inside.

    Attributes:
        title: Class of the block, or its operations.
        path: The module of the block that is shown.
        count: How many blocks of it the design has.
        level: Its operations.
    """

    title: str
    path: str
    count: int
    level: Level


@dataclass(frozen=True)
class Figure:
    """A design as it is drawn.

    Attributes:
        title: Its name.
        facts: Its sizes in words.
        spine: The whole of it, folded.
        kinds: Its kinds of block; a box's `kind` is a number of one.
    """

    title: str
    facts: str
    spine: Level
    kinds: tuple[Kind, ...]

    @property
    def boxes(self) -> int:
        """How many boxes are shown."""
        shown = len(list(self.spine.all_boxes()))
        return shown + sum(len(list(kind.level.all_boxes())) for kind in self.kinds)
