"""Networks that hold every cell of a space: of DARTS, and of NAS-Bench-201."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from nar_plugin.hooks.nas_cells import darts, nasbench201
from nar_plugin.hooks.nas_cells.operations import HalvedPositions, average_pool, conv_bn
from nar_plugin.train.nge.cell_space import DARTS, NAS201
from nar_plugin.train.nge.mixed_operation import MixedOperation


class DartsSupernet(nn.Module):
    """The proxy network of the search: cells at 1/3 and 2/3 reduce, the others are normal.

    Args:
        width: Channels of a node in the first cell; the paper has 16.
        cells: The paper has 8.
        classes: Of the classifier.

    Shapes:
        images: float32[n, 3, h, w]; chances: float32[2, 14, 7], normal and reduction;
        result: float32[n, classes].
    """

    space = DARTS

    def __init__(self, width: int = 16, cells: int = 8, classes: int = 10) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 3 * width, 3, padding=1, bias=False), nn.BatchNorm2d(3 * width)
        )
        self.cells = nn.ModuleList()
        before, reduced = (3 * width, 3 * width), False
        for number in range(cells):
            reduces = number in (cells // 3, 2 * cells // 3)
            width *= 2 if reduces else 1
            self.cells.append(_DartsCell(before, width, reduces=reduces, reduced=reduced))
            before, reduced = (before[1], 4 * width), reduces
        self.classifier = nn.Linear(before[1], classes)

    def forward(self, images: Tensor, chances: Tensor) -> Tensor:
        """The logits."""
        older = newer = self.stem(images)
        for cell in self.cells:
            kind = chances[1] if cell.reduces else chances[0]
            older, newer = newer, cell(older, newer, kind)
        logits: Tensor = self.classifier(newer.mean(dim=(2, 3)))
        return logits


class _DartsCell(nn.Module):
    """Two inputs, four nodes that sum over all nodes before them, concatenated."""

    def __init__(
        self, before: tuple[int, int], width: int, *, reduces: bool, reduced: bool
    ) -> None:
        super().__init__()
        older = HalvedPositions if reduced else partial(conv_bn, kernel=1)
        self.older = older(before[0], width, affine=False)
        self.newer = conv_bn(before[1], width, 1, affine=False)
        self.edges = nn.ModuleList(
            MixedOperation(
                DARTS.operations,
                partial(
                    darts.operation,
                    width=width,
                    stride=2 if reduces and source < 2 else 1,
                    affine=False,
                ),
                width,
            )
            for source, _ in DARTS.edges
        )
        self.reduces = reduces

    def forward(self, older: Tensor, newer: Tensor, chances: Tensor) -> Tensor:
        nodes = {0: self.older(older), 1: self.newer(newer)}
        for (source, target), edge, row in zip(DARTS.edges, self.edges, chances, strict=True):
            arriving = edge(nodes[source], row)
            nodes[target] = nodes[target] + arriving if target in nodes else arriving
        return torch.cat([nodes[number] for number in range(2, DARTS.nodes)], dim=1)


class Nas201Supernet(nn.Module):
    """NAS-Bench-201's network, small: three stages of cells with all operations on every edge.

    Args:
        width: Channels of the first stage.
        cells: Of each stage.
        classes: Of the classifier.

    Shapes:
        images: float32[n, 3, h, w]; chances: float32[1, 6, 4]; result: float32[n, classes].
    """

    space = NAS201

    def __init__(self, width: int = 8, cells: int = 1, classes: int = 10) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        )
        self.stages = nn.ModuleList()
        for stage in range(3):
            if stage:
                self.stages.append(nasbench201.Halving(width, 2 * width))
                width *= 2
            self.stages.extend(_Nas201Cell(width) for _ in range(cells))
        self.classifier = nn.Linear(width, classes)

    def forward(self, images: Tensor, chances: Tensor) -> Tensor:
        """The logits."""
        hidden = self.stem(images)
        for stage in self.stages:
            known = isinstance(stage, _Nas201Cell)
            hidden = stage(hidden, chances[0]) if known else stage(hidden)
        logits: Tensor = self.classifier(hidden.mean(dim=(2, 3)))
        return logits


class _Nas201Cell(nn.Module):
    """Each node sums over all nodes before it; the last is the result."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.edges = nn.ModuleList(
            MixedOperation(NAS201.operations, partial(_nas201_operation, width), width)
            for _ in NAS201.edges
        )

    def forward(self, images: Tensor, chances: Tensor) -> Tensor:
        nodes = {0: images}
        for (source, target), edge, row in zip(NAS201.edges, self.edges, chances, strict=True):
            arriving = edge(nodes[source], row)
            nodes[target] = nodes[target] + arriving if target in nodes else arriving
        return nodes[NAS201.nodes - 1]


def _nas201_operation(width: int, name: str) -> nn.Module:
    made: dict[str, nn.Module] = {
        "skip_connect": nn.Identity(),
        "nor_conv_1x1": conv_bn(width, width, 1, affine=False),
        "nor_conv_3x3": conv_bn(width, width, 3, affine=False),
        "avg_pool_3x3": average_pool(),
    }
    return made[name]
