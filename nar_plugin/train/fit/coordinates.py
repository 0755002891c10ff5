"""Where each design stands on the map: UMAP of the encoder's vectors (docs/map.md)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
# What other values give: `python docs/benchmarks/map.py --settings`, and docs/map.md.
NEIGHBOURS = 50  # more than a usual family has: with 15 of them each family is an island
APART = 0.5  # the least distance of two points: dots and names need room
SEED = 0
FEWEST = 10  # vectors of which a map says something


def coordinates(
    vectors: FloatArray, neighbours: int = NEIGHBOURS, apart: float = APART
) -> FloatArray:
    """Two coordinates of each vector, so that vectors of high cosine lie close together.

    The same vectors give the same coordinates on one machine: with a seed UMAP runs in one thread.

    Args:
        vectors: Of the encoder.
        neighbours: Vectors around each whose distances count.
        apart: The least distance of two points on the map.

    Source:
        McInnes, Healy & Melville, UMAP: Uniform Manifold Approximation and Projection for
        Dimension Reduction, 2018, arXiv:1802.03426.

    Shapes:
        float32[n, dim] to float32[n, 2], n at least FEWEST.
    """
    from umap import UMAP  # compiles for some seconds

    reducer = UMAP(
        n_neighbors=min(neighbours, len(vectors) - 1),
        min_dist=apart,
        init="pca",  # keeps the large parts where the vectors have them, whatever the seed
        metric="cosine",
        random_state=SEED,
        n_jobs=1,
    )
    found: FloatArray = np.asarray(reducer.fit_transform(vectors), dtype=np.float32)
    return found
