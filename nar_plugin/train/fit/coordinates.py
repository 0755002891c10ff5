"""Where each design stands on the map: UMAP of the encoder's vectors (docs/map.md).

Large families are tight: the neighbours of a ResNet are ResNets, all fifty of them. So UMAP has
nothing that ties such a family to its kin, and leaves it where it began. It begins, therefore, on
a map of few vectors that differ, among which the neighbours of a family are other families.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int64]
# What other values give: `python docs/benchmarks/map.py --settings`, and docs/map.md.
NEIGHBOURS = 50
APART = 0.5  # the least distance of two points: dots and names need room
ALIKE = 0.95  # vectors of a higher cosine begin at one place
SEED = 0
FEWEST = 10  # vectors of which a map says something
_NEIGHBOURS_AT_FIRST = 15
_SPREAD = 0.05  # of the points that begin at one place


def coordinates(
    vectors: FloatArray, neighbours: int = NEIGHBOURS, apart: float = APART, alike: float = ALIKE
) -> FloatArray:
    """Two coordinates of each vector, so that vectors of high cosine lie close together.

    The same vectors give the same coordinates on one machine: with a seed UMAP runs in one thread.

    Args:
        vectors: Of length 1.
        neighbours: Vectors around each whose distances count.
        apart: The least distance of two points on the map.
        alike: Vectors of a higher cosine begin at one place.

    Source:
        McInnes, Healy & Melville, UMAP: Uniform Manifold Approximation and Projection for
        Dimension Reduction, 2018, arXiv:1802.03426.

    Shapes:
        float32[n, dim] to float32[n, 2], n at least FEWEST.
    """
    first, of = leaders(vectors, alike)
    if len(first) < FEWEST:
        return _umap(vectors, neighbours, apart, "pca")  # along the main directions
    coarse = _umap(vectors[first], _NEIGHBOURS_AT_FIRST, apart, "pca")
    noise = np.random.default_rng(SEED).normal(0, _SPREAD, (len(vectors), 2))
    return _umap(vectors, neighbours, apart, (coarse[of] + noise).astype(np.float32))


def leaders(vectors: FloatArray, alike: float) -> tuple[IntArray, IntArray]:
    """Vectors that differ: each that is not alike to one before it.

    Returns:
        Their numbers, and for each vector the place among them of the one that it is most alike.

    Shapes:
        vectors [n, dim]; int64[m], int64[n].
    """
    kept = np.empty_like(vectors)
    numbers: list[int] = []
    of = np.empty(len(vectors), np.int64)
    for number, vector in enumerate(vectors):
        cosines = kept[: len(numbers)] @ vector
        if not numbers or cosines.max() <= alike:
            kept[len(numbers)] = vector
            of[number] = len(numbers)
            numbers.append(number)
        else:
            of[number] = cosines.argmax()
    return np.array(numbers, np.int64), of


def _umap(
    vectors: FloatArray, neighbours: int, apart: float, start: str | FloatArray
) -> FloatArray:
    from umap import UMAP  # compiles for some seconds

    reducer = UMAP(
        n_neighbors=min(neighbours, len(vectors) - 1),
        min_dist=apart,
        init=start,
        metric="cosine",
        random_state=SEED,
        n_jobs=1,
    )
    found: FloatArray = np.asarray(reducer.fit_transform(vectors), dtype=np.float32)
    return found
