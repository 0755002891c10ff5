"""DARTS (Liu, Simonyan & Yang, ICLR 2019): networks of a normal and a reduction cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from .._shared.expressions import evaluate
from .operations import HalvedPositions, average_pool, conv_bn, image_stem, separable

Choice = tuple[str, int]  # an operation, and the node that it starts at: 0 and 1 are inputs


@dataclass(frozen=True)
class Genotype:
    """Two cells, as DARTS prints them.

    Attributes:
        normal: Two choices for each inner node, in order.
        normal_concat: The nodes whose results are concatenated.
        reduce: The same of the reduction cell.
        reduce_concat: The same.
    """

    normal: Sequence[Choice]
    normal_concat: Sequence[int]
    reduce: Sequence[Choice]
    reduce_concat: Sequence[int]


def parsed(text: str) -> Genotype:
    """A printed genotype, read without running code.

    Raises:
        ValueError: It is none.
    """
    try:
        found = evaluate(text, {"Genotype": Genotype, "range": range})
    except (ValueError, SyntaxError, KeyError, TypeError) as error:
        problem = "" if isinstance(error, KeyError) else f": {error}"
        raise ValueError(
            f"expected a printed Genotype(normal=[...], ...), got {text[:60]!r}{problem}"
        ) from error
    if not isinstance(found, Genotype):
        raise ValueError(f"expected Genotype(normal=[...], ...), got {text[:60]!r}")
    for name, cell in (("normal", found.normal), ("reduce", found.reduce)):
        if not cell or len(cell) % 2:
            raise ValueError(f"{name} has {len(cell)} choices, where a node has two")
        for place, (operation, source) in enumerate(cell):
            if operation not in OPERATIONS or not 0 <= source < 2 + place // 2:
                raise ValueError(
                    f"{name} has {(operation, source)!r}: the operations are "
                    f"{', '.join(OPERATIONS)}, and a node starts at the nodes before it"
                )
    return found


def operation(name: str, width: int, stride: int, affine: bool = True) -> nn.Module:
    """One of `OPERATIONS` on images of a width.

    Raises:
        KeyError: There is none of this name.
    """
    if name == "skip_connect":
        return nn.Identity() if stride == 1 else HalvedPositions(width, width, affine)
    if name == "max_pool_3x3":
        return nn.MaxPool2d(3, stride, 1)
    if name == "avg_pool_3x3":
        return average_pool(stride)
    kernel = {"3x3": 3, "5x5": 5}[name[-3:]]
    if name.startswith("dil_conv"):
        return separable(width, kernel, stride, 2, affine)
    return nn.Sequential(  # "each separable convolution is always applied twice"
        separable(width, kernel, stride, 1, affine), separable(width, kernel, 1, 1, affine)
    )


OPERATIONS = (
    "skip_connect",
    "max_pool_3x3",
    "avg_pool_3x3",
    "sep_conv_3x3",
    "sep_conv_5x5",
    "dil_conv_3x3",
    "dil_conv_5x5",
)


class Place(NamedTuple):
    """Where a cell stands in a network.

    Attributes:
        before: Channels of the two inputs, the older one first.
        width: Channels of a node.
        reduces: Whether the positions are halved, by what starts at an input.
        reduced: Whether the cell before halved them, so that the older input has more.
    """

    before: tuple[int, int]
    width: int
    reduces: bool = False
    reduced: bool = False

    def stride(self, source: int) -> int:
        """Of an operation that starts at a node."""
        return 2 if self.reduces and source < 2 else 1

    def inputs(self, affine: bool = True) -> tuple[nn.Module, nn.Module]:
        """What brings the older and the newer input to the width."""
        (older, newer), width = self.before, self.width
        first: nn.Module
        if self.reduced:
            first = HalvedPositions(older, width, affine)
        else:
            first = conv_bn(older, width, 1, affine)
        return first, conv_bn(newer, width, 1, affine)


def places(width: int, cells: int, concat: tuple[int, int] = (4, 4)) -> Iterator[Place]:
    """The places of a network; the cells at 1/3 and 2/3 halve positions and double channels.

    Args:
        width: Channels of a node in the first cell; the stem has three times as many.
        cells: How many.
        concat: Nodes that a normal and a reduction cell concatenate.
    """
    before, reduced = (3 * width, 3 * width), False
    for number in range(cells):
        reduces = number in (cells // 3, 2 * cells // 3)
        width *= 2 if reduces else 1
        yield Place(before, width, reduces, reduced)
        before, reduced = (before[1], width * concat[reduces]), reduces


class Cell(nn.Module):
    """Two inputs, each brought to the width; nodes that add two operations; a concatenation.

    Args:
        choices: Two for each node.
        concat: The nodes that are concatenated.
        place: Where the cell stands.

    Shapes:
        older, newer: float32[n, before, h, w]; result: float32[n, width * concat, h', w'].
    """

    def __init__(self, choices: Sequence[Choice], concat: Sequence[int], place: Place) -> None:
        super().__init__()
        self.older, self.newer = place.inputs()
        self.operations = nn.ModuleList(
            operation(name, place.width, place.stride(source)) for name, source in choices
        )
        self.sources = tuple(source for _, source in choices)
        self.concat = tuple(concat)

    def forward(self, older: Tensor, newer: Tensor) -> Tensor:
        """The result of the cell."""
        nodes = [self.older(older), self.newer(newer)]
        for first in range(0, len(self.sources), 2):
            one, other = (
                self.operations[place](nodes[self.sources[place]]) for place in (first, first + 1)
            )
            nodes.append(one + other)
        return torch.cat([nodes[number] for number in self.concat], dim=1)


class DartsNetwork(nn.Module):
    """The network that DARTS evaluates on CIFAR-10, without its auxiliary head, which only trains.

    Args:
        text: A printed genotype.
        width: Channels of a node in the first cell.
        cells: How many; those at 1/3 and 2/3 halve the positions and double the channels.
        classes: Of the classifier.

    Shapes:
        images: float32[n, 3, h, w]; result: float32[n, classes].
    """

    def __init__(self, text: str, width: int = 36, cells: int = 20, classes: int = 10) -> None:
        super().__init__()
        genotype = parsed(text)
        self.cell_text = text
        self.stem = image_stem(3 * width)
        kinds = (
            (genotype.normal, genotype.normal_concat),
            (genotype.reduce, genotype.reduce_concat),
        )
        concat = len(genotype.normal_concat), len(genotype.reduce_concat)
        layout = list(places(width, cells, concat))
        self.cells = nn.ModuleList(Cell(*kinds[place.reduces], place) for place in layout)
        last = layout[-1]
        self.classifier = nn.Linear(last.width * concat[last.reduces], classes)

    def forward(self, images: Tensor) -> Tensor:
        """The logits."""
        older = newer = self.stem(images)
        for cell in self.cells:
            older, newer = newer, cell(older, newer)
        logits: Tensor = self.classifier(newer.mean(dim=(2, 3)))
        return logits


def network(text: str) -> DartsNetwork:
    """The network of a printed genotype, as DARTS evaluates it.

    Raises:
        ValueError: It is no genotype.
    """
    return DartsNetwork(text)
