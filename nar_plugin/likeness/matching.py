"""Match two sequences in order: the pairs of most worth that do not cross."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Worth = NDArray[np.float64]


def in_order(worth: Worth) -> list[tuple[int, int]]:
    """The pairs (row, column), ascending in both, whose worths sum to most.

    Dynamic programming from the end (Needleman & Wunsch, J. Mol. Biol. 1970, with free gaps).
    Equal choices match as early as they can, so that the first of many equal layers have partners
    and the later ones are left over.

    Args:
        worth: Of each pair; what is not positive is never matched.

    Shapes:
        worth [n, m].
    """
    rows, columns = worth.shape
    best = np.zeros((rows + 1, columns + 1))
    for row in range(rows - 1, -1, -1):
        matched = np.where(worth[row] > 0, worth[row] + best[row + 1, 1:], 0.0)
        line = np.maximum(matched, best[row + 1, :-1])
        best[row, :-1] = np.maximum.accumulate(line[::-1])[::-1]
    pairs = []
    row = column = 0
    while row < rows and column < columns:
        here = best[row, column]
        if worth[row, column] > 0 and worth[row, column] + best[row + 1, column + 1] >= here:
            pairs.append((row, column))
            row, column = row + 1, column + 1
        elif best[row + 1, column] >= here:
            row += 1
        else:
            column += 1
    return pairs
