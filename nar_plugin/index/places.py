"""Where designs stand on the map of an index; one that it does not hold is placed by its nearest.

The coordinates were computed when the index was written (docs/map.md). Nothing here fits a map.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nar_plugin.errors import NarError
from nar_plugin.index.store.vectors import FloatArray, as_float32, unit

if TYPE_CHECKING:
    from nar_plugin.index.index import ArchitectureIndex
    from nar_plugin.index.store.contents import Contents

# Chosen on validation rows by `python docs/benchmarks/map.py`.
NEAREST = 5
SHARPNESS = 0.05  # a cosine that is lower by this much weighs 1/e as much
_FARTHEST = 1e6  # no map is as wide: a coordinate beyond it was never one
_BATCH = 512  # vectors that are compared at once


def stored_places(contents: Contents) -> FloatArray:
    """The coordinates that came with the rows.

    Shapes:
        float32[n, 2], NaN where a row has none.
    """
    columns = [contents.table[key].to_pylist() for key in ("x", "y")]
    found = np.array(columns, dtype=np.float32).T.reshape(-1, 2)
    found[~(np.abs(found) < _FARTHEST).all(axis=1)] = np.nan  # which is not below it either
    return found


def all_places(index: ArchitectureIndex) -> FloatArray:
    """The coordinates of every row: the stored ones, and for rows without some a place near by.

    Raises:
        NarError: The index came without a map.

    Shapes:
        float32[n, 2].
    """
    found = stored_places(index.contents)
    lacking = np.flatnonzero(np.isnan(found[:, 0]))
    if len(lacking) or not len(found):
        found[lacking] = placed(index, as_float32(index.contents.vectors[lacking]))
    return found


def placed(index: ArchitectureIndex, vectors: FloatArray) -> FloatArray:
    """Places of designs by their vectors: the mean of the nearest rows' places, nearer ones first.

    Of the k rows of the highest cosine c, each weighs exp((c - max c) / 0.05).

    Args:
        index: The index that has a map.
        vectors: Of its encoder.

    Raises:
        NarError: The index came without a map.

    Shapes:
        float32[m, dim] to float32[m, 2].
    """
    places = stored_places(index.contents)
    known = np.flatnonzero(~np.isnan(places[:, 0]))
    if not len(known):
        raise NarError(
            f"The index {index.source} has no map: it was written before there were maps, or its "
            "vectors were made anew. `nar index update` fetches one that has; `nar dev index "
            "write` makes one from a corpus."
        )
    rows = unit(index.contents.vectors[known])
    parts = [np.empty((0, 2), np.float32)]
    for start in range(0, len(vectors), _BATCH):
        cosines = unit(vectors[start : start + _BATCH]) @ rows.T
        parts.append(mean_of_nearest(cosines, places[known]))
    return np.concatenate(parts)


def mean_of_nearest(
    cosines: FloatArray, places: FloatArray, k: int = NEAREST, sharpness: float = SHARPNESS
) -> FloatArray:
    """The weighted mean of the places of the k rows of highest cosine: see `placed`.

    Shapes:
        float32[m, n] and float32[n, 2] to float32[m, 2].
    """
    nearest = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
    best = np.take_along_axis(cosines, nearest, axis=1)
    weights = np.exp((best - best[:, :1]) / sharpness)
    weights /= weights.sum(axis=1, keepdims=True)
    found: FloatArray = np.einsum("mk,mkd->md", weights, places[nearest]).astype(np.float32)
    return found
