"""NAS-Bench-201's cells without `none`, with what each was measured to reach."""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nar_plugin.hooks.nas_cells.nasbench201 import written
from nar_plugin.train.data_files import data_file
from nar_plugin.train.nge.cell_space import NAS201

PAGE = "docs/neural-graph-embedding.md"
AFTER_200 = "nas_bench_201_200_epochs.csv.gz"
AFTER_12 = "nas_bench_201_12_epochs.npz"
_CIFAR10_TEST = "CIFAR10TestAccuracy200Epochs"
_VALIDATION_12 = 1  # row of the .npz: CIFAR-10, validation

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Nas201Table:
    """Accuracies on CIFAR-10 in percent, indexed by the operations of the six edges.

    Attributes:
        test: After 200 epochs, on the test images: the truth.
        validation: After 12 epochs, on the validation images: what a search may see.

    Shapes:
        both: float64[4, 4, 4, 4, 4, 4], axes in the order of `NAS201.edges`.
    """

    test: Floats
    validation: Floats


def read_table(folder: Path) -> Nas201Table:
    """Read both accuracies of the 4,096 cells.

    Args:
        folder: Holds `nas_bench_201_200_epochs.csv.gz` and `nas_bench_201_12_epochs.npz`.

    Raises:
        NarError: A file is missing.
    """
    test = {row["ArchitectureString"]: float(row[_CIFAR10_TEST]) for row in read_rows(folder)}
    with np.load(data_file(folder, AFTER_12, PAGE)) as saved:
        names, accuracies = saved["arch"].tolist(), saved["acc"][_VALIDATION_12].tolist()
    validation = dict(zip(names, accuracies, strict=True))
    shape = (len(NAS201.operations),) * len(NAS201.edges)
    strings = [cell_string(choice) for choice in np.ndindex(shape)]
    return Nas201Table(
        np.array([test[text] for text in strings]).reshape(shape),
        np.array([validation[text] for text in strings]).reshape(shape),
    )


def read_rows(folder: Path) -> list[dict[str, str]]:
    """The 15,625 rows of the table after 200 epochs: accuracies and strings.

    Raises:
        NarError: The file is missing.
    """
    with gzip.open(data_file(folder, AFTER_200, PAGE), "rt", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def cell_string(choice: tuple[int, ...]) -> str:
    """How NAS-Bench-201 writes a cell.

    Example:
        ```python
        cell_string((1, 0, 0, 0, 0, 3))
        # '|nor_conv_1x1~0|+|skip_connect~0|skip_connect~1|+|skip_connect~0|...|avg_pool_3x3~2|'
        ```

    Args:
        choice: For each edge of `NAS201.edges` the number of its operation.
    """
    text: str = written([NAS201.operations[operation] for operation in choice])
    return text
