"""NAS-Bench-201 (Dong & Yang, ICLR 2020): a cell of four nodes, stacked three times.

Appendix A and Figure 1 of the paper: a stem of 16 channels, three stages of five cells with 16, 32
and 64 channels, a residual block that halves the positions between stages, and a pooled classifier.
An edge of `none` gives zero; it is left out, and so is every operation that only sees zero or whose
result nobody reads: the networks of two strings are equal when they compute the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial, reduce

import torch
from torch import Tensor, nn

from .operations import average_pool, conv_bn, image_stem

EDGES = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3))
OPERATIONS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
_PART = re.compile(r"([a-z0-9_]+)~(\d)")


def parsed(text: str) -> tuple[str, ...]:
    """The operations of the six edges of an architecture string.

    Example:
        ```python
        parsed("|nor_conv_3x3~0|+|none~0|none~1|+|skip_connect~0|none~1|none~2|")
        # ('nor_conv_3x3', 'none', 'none', 'skip_connect', 'none', 'none')
        ```

    Raises:
        ValueError: It is no architecture string.
    """
    found = []
    nodes = text.split("+")
    for target, node in enumerate(nodes, start=1):
        for source, part in enumerate(node.strip("|").split("|")):
            match = _PART.fullmatch(part)
            if not match or int(match[2]) != source or match[1] not in OPERATIONS:
                raise ValueError(
                    f"node {target} of {text!r} has {part!r}, where one of "
                    f"{', '.join(OPERATIONS)} is expected, with ~{source}"
                )
            found.append(match[1])
    if [node.count("~") for node in nodes] != [1, 2, 3]:
        raise ValueError(f"{text!r} has not the nodes |op~0|+|op~0|op~1|+|op~0|op~1|op~2|")
    return tuple(found)


def written(operations: Sequence[str]) -> str:
    """The architecture string of the operations of the six edges; the inverse of `parsed`."""
    nodes: dict[int, str] = {}
    for (source, target), name in zip(EDGES, operations, strict=True):
        nodes[target] = nodes.get(target, "|") + f"{name}~{source}|"
    return "+".join(nodes.values())


def operation(name: str, width: int, affine: bool = True) -> nn.Module:
    """One of `OPERATIONS` on images of a width; `none` is left out of a cell (`used_edges`).

    Raises:
        KeyError: There is none of this name.
    """
    if name == "skip_connect":
        return nn.Identity()
    if name == "avg_pool_3x3":
        return average_pool()
    kernel = {"nor_conv_1x1": 1, "nor_conv_3x3": 3}[name]
    return conv_bn(width, width, kernel, affine)


def used_edges(operations: Sequence[str]) -> list[int]:
    """The edges through which the input reaches the output, as numbers of `EDGES`."""
    live = [number for number, name in enumerate(operations) if name != "none"]
    for _ in EDGES:  # each pass takes off at least one layer of dead edges
        ends = {0, *(EDGES[number][1] for number in live)}
        starts = {3, *(EDGES[number][0] for number in live)}
        live = [n for n in live if EDGES[n][0] in ends and EDGES[n][1] in starts]
    return live


class Cell(nn.Module):
    """A node is the sum over its edges; the last node is the result, zero where nothing arrives.

    Shapes:
        images: float32[n, width, h, w]; result: the same.
    """

    def __init__(self, operations: Sequence[str], width: int) -> None:
        super().__init__()
        self.edges = nn.ModuleDict(
            {
                f"{EDGES[number][0]}{EDGES[number][1]}": operation(operations[number], width)
                for number in used_edges(operations)
            }
        )

    def forward(self, images: Tensor) -> Tensor:
        """The result of the cell."""
        nodes = {0: images}
        for target in (1, 2, 3):
            arriving = [
                self.edges[f"{source}{target}"](nodes[source])
                for source in range(target)
                if f"{source}{target}" in self.edges
            ]
            if arriving:
                nodes[target] = reduce(torch.add, arriving)
        return nodes[3] if 3 in nodes else torch.zeros_like(images)


def stages(width: int, cells: int, cell: Callable[[int], nn.Module]) -> list[nn.Module]:
    """Three stages of cells, and a `Halving` before the second and the third.

    Args:
        width: Channels of the first stage; the last one has four times as many.
        cells: Of each stage.
        cell: Makes a cell of a number of channels.
    """
    layers: list[nn.Module] = []
    for stage in range(3):
        if stage:
            layers.append(Halving(width, 2 * width))
            width *= 2
        layers += [cell(width) for _ in range(cells)]
    return layers


class Nasbench201Network(nn.Module):
    """The network of a cell.

    Args:
        text: An architecture string.
        width: Channels of the first stage.
        cells: Of each stage.
        classes: Of the classifier.

    Shapes:
        images: float32[n, 3, h, w], h and w multiples of 4; result: float32[n, classes].
    """

    def __init__(self, text: str, width: int = 16, cells: int = 5, classes: int = 10) -> None:
        super().__init__()
        operations = parsed(text)
        self.cell_text = text
        layers = [*image_stem(width), *stages(width, cells, partial(Cell, operations))]
        self.features = nn.Sequential(*layers, nn.BatchNorm2d(4 * width), nn.ReLU())
        self.classifier = nn.Linear(4 * width, classes)

    def forward(self, images: Tensor) -> Tensor:
        """The logits."""
        logits: Tensor = self.classifier(self.features(images).mean(dim=(2, 3)))
        return logits


class Halving(nn.Module):
    """A residual block of two 3x3 convolutions that halves the positions.

    Shapes:
        images: float32[n, wide_in, 2h, 2w]; result: float32[n, wide_out, h, w].
    """

    def __init__(self, wide_in: int, wide_out: int) -> None:
        super().__init__()
        first = nn.Conv2d(wide_in, wide_out, 3, stride=2, padding=1, bias=False)
        self.block = nn.Sequential(
            *(nn.ReLU(), first, nn.BatchNorm2d(wide_out)), conv_bn(wide_out, wide_out, 3)
        )
        self.shortcut = nn.Sequential(
            nn.AvgPool2d(2, 2), nn.Conv2d(wide_in, wide_out, 1, bias=False)
        )

    def forward(self, images: Tensor) -> Tensor:
        """The images at half the size."""
        result: Tensor = self.shortcut(images) + self.block(images)
        return result


def network(text: str) -> Nasbench201Network:
    """The network that NAS-Bench-201 trained, of an architecture string.

    Raises:
        ValueError: It is no architecture string.
    """
    return Nasbench201Network(text)
