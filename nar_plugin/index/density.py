"""How crowded the neighbourhood of a row is, by which scores are corrected.

Some rows are near to everything: hubs, which come up for questions that they have little to do with
(Radovanović, Nanopoulos & Ivanović, JMLR 2010). So a row's score is its cosine, less a share of
what its neighbourhood is denser than the question's (cross-domain similarity local scaling:
Conneau et al., ICLR 2018, Eq. 2, with a share in place of 1; docs/experiments.md).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nar_plugin.index.vectors import FloatArray, Rows, as_float32, unit

NEIGHBOURS = 30  # whose mean cosine is the density
SHARE = 0.2
MOST = 16_384  # rows that a density is taken among; of a larger index, a sample
DECIMALS = 4  # so that equal rows have equal densities, in whatever order BLAS sums
_BLOCK = 512  # rows whose cosines are held at once


def densities(rows: Rows, among: Rows, own: NDArray[np.int64] | None = None) -> FloatArray:
    """The mean cosine of each row to its nearest neighbours.

    Args:
        rows: Unit vectors.
        among: Unit vectors that may be neighbours.
        own: The place of each row in `among`, which is no neighbour of its; -1, or None for all,
            where it has none.

    Returns:
        Zeros where there are no others.

    Shapes:
        rows [n, dim], among [m, dim], own [n]; result [n].
    """
    step = -(-len(among) // MOST) or 1
    sample = unit(among[::step])
    count = max(1, round(NEIGHBOURS / step))
    found = np.zeros(len(rows), dtype=np.float32)
    for start in range(0, len(rows) if len(sample) else 0, _BLOCK):
        part = slice(start, start + _BLOCK)
        cosines = as_float32(rows[part]) @ sample.T  # [b, sample]
        if own is not None:
            at = np.flatnonzero((own[part] >= 0) & (own[part] % step == 0))
            cosines[at, own[part][at] // step] = -np.inf
        found[part] = mean_of_nearest(cosines, count)
    return found.round(DECIMALS)


def mean_of_nearest(cosines: FloatArray, count: int = NEIGHBOURS) -> FloatArray:
    """The mean of the largest finite cosines of each row, 0 where there are none.

    Shapes:
        cosines [b, m]; result [b].
    """
    count = min(count, cosines.shape[1])
    nearest = np.partition(cosines, cosines.shape[1] - count, axis=1)[:, -count:]
    known = np.isfinite(nearest)
    total = np.where(known, nearest, 0).sum(axis=1)
    means: FloatArray = (total / np.maximum(known.sum(axis=1), 1)).astype(np.float32)
    return means
