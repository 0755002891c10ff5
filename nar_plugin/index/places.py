"""Where designs stand on the map of an index; one that it does not hold is placed by its nearest.

The coordinates were computed when the index was written (docs/map.md). Nothing here fits a map.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nar_plugin.errors import NarError
from nar_plugin.index.ranking import POOL, Subject, ranked_rows
from nar_plugin.index.store.vectors import FloatArray, unit
from nar_plugin.index.subjects import subject_of_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nar_plugin.index.index import ArchitectureIndex
    from nar_plugin.index.store.contents import Contents

# Chosen on validation rows by `python docs/benchmarks/map.py`.
NEAREST = 5
SHARPNESS = 0.02  # a likeness that is lower by this much weighs 1/e as much
_FARTHEST = 1e6  # no map is as wide: a coordinate beyond it was never one


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
        found[lacking] = placed(index, own_subjects(index, index, lacking.tolist()))
    return found


def own_subjects(
    index: ArchitectureIndex, holder: ArchitectureIndex, rows: Iterable[int]
) -> list[Subject]:
    """Rows of an index, or of its overlay, as questions to it."""
    contents = holder.contents
    numbers = list(rows)
    vectors = unit(contents.vectors[numbers])
    pairs = zip(map(contents.row, numbers), vectors, strict=True)
    return [subject_of_row(index, row, vector) for row, vector in pairs]


def placed(index: ArchitectureIndex, subjects: Sequence[Subject]) -> FloatArray:
    """Places of designs: the mean of the places of their hits, nearer ones first.

    Of the five rows of the highest likeness l, each weighs exp((l - max l) / 0.02).

    Args:
        index: The index that has a map.
        subjects: The m designs.

    Raises:
        NarError: The index came without a map.

    Shapes:
        float32[m, 2].
    """
    places = stored_places(index.contents)
    if np.isnan(places[:, 0]).all():
        raise NarError(
            f"The index {index.source} has no map: it was written before there were maps, or its "
            "vectors were made anew. `nar index update` fetches one that has; `nar dev index "
            "write` makes one from a corpus."
        )
    found = [np.empty((0, 2), np.float32)]
    for subject in subjects:
        matches = ranked_rows(index, subject, POOL, None)
        numbers = [index.contents.positions.get(match.row.fingerprint) for match in matches]
        near = [
            (match.score, places[number])
            for match, number in zip(matches, numbers, strict=True)
            if number is not None and not np.isnan(places[number, 0])
        ]
        scores = np.array([[score for score, _ in near]], np.float32)
        found.append(mean_of_nearest(scores, np.array([place for _, place in near])))
    return np.concatenate(found)


def mean_of_nearest(
    scores: FloatArray, places: FloatArray, k: int = NEAREST, sharpness: float = SHARPNESS
) -> FloatArray:
    """The weighted mean of the places of the k rows of highest likeness: see `placed`.

    Shapes:
        float32[m, n] and float32[n, 2] to float32[m, 2].
    """
    nearest = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    best = np.take_along_axis(scores, nearest, axis=1)
    weights = np.exp((best - best[:, :1]) / sharpness)
    weights /= weights.sum(axis=1, keepdims=True)
    found: FloatArray = np.einsum("mk,mkd->md", weights, places[nearest]).astype(np.float32)
    return found
