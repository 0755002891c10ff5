"""Networks that hold every cell of a space: of DARTS, and of NAS-Bench-201."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from nar_plugin.hooks.nas_cells import darts, nasbench201
from nar_plugin.hooks.nas_cells.operations import image_stem
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
        self.stem = image_stem(3 * width)
        places = list(darts.places(width, cells))
        self.cells = nn.ModuleList(map(_DartsCell, places))
        self.classifier = nn.Linear(4 * places[-1].width, classes)

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

    def __init__(self, place: darts.Place) -> None:
        super().__init__()
        self.older, self.newer = place.inputs(affine=False)
        make = partial(darts.operation, width=place.width, affine=False)
        self.edges = nn.ModuleList(
            MixedOperation(
                DARTS.operations, partial(make, stride=place.stride(source)), place.width
            )
            for source, _ in DARTS.edges
        )
        self.reduces = place.reduces

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
        self.stem = image_stem(width)
        self.stages = nn.ModuleList(nasbench201.stages(width, cells, _Nas201Cell))
        self.classifier = nn.Linear(4 * width, classes)

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
        make = partial(nasbench201.operation, width=width, affine=False)
        self.edges = nn.ModuleList(
            MixedOperation(NAS201.operations, make, width) for _ in NAS201.edges
        )

    def forward(self, images: Tensor, chances: Tensor) -> Tensor:
        nodes = {0: images}
        for (source, target), edge, row in zip(NAS201.edges, self.edges, chances, strict=True):
            arriving = edge(nodes[source], row)
            nodes[target] = nodes[target] + arriving if target in nodes else arriving
        return nodes[NAS201.nodes - 1]
