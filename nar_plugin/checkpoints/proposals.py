"""Stage one: the rows that have most of a file's shapes, all rows at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nar_plugin.checkpoints.account import RESIZED
from nar_plugin.checkpoints.compositions import (
    best_way,
    by_rest,
    compositions,
    one_expert,
    one_side_off,
)
from nar_plugin.checkpoints.matching import MOST_TIED
from nar_plugin.checkpoints.parameters import Shape, elements, sorted_shape
from nar_plugin.checkpoints.tensors import Checkpoint
from nar_plugin.checkpoints.weight_table import WeightTable

MOST_SHAPES = 1500  # different ones that are looked at, the most common; models have up to 500
CLOSE = 0.1  # what a row gains that has as many parameters; it falls with 5% more or less
NEAR = 20.0
SHARP = 500.0  # and in the second list, which is of rows of the same size
MOST_ROWS = 2000  # that are looked through for twins of those that are proposed


Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Asked:
    """The shapes of a file.

    Attributes:
        have: By shape, how many tensors.
        tied: By shape, how many of these share the numbers of another.
        elements: How many numbers there are, tied ones once.
        adapter: Whether these are the layers that an adapter changes, and not all of a model.
    """

    have: Mapping[Shape, int]
    tied: Mapping[Shape, int]
    elements: int
    adapter: bool = False

    @classmethod
    def of(cls, checkpoint: Checkpoint) -> Asked:
        """The shapes of a checkpoint that tell something."""
        have: Counter[Shape] = Counter()
        tied: Counter[Shape] = Counter()
        for tensor in checkpoint.tensors:
            shape = sorted_shape(tensor.shape)
            if 0 not in shape:
                have[shape] += 1
                tied[shape] += tensor.tied
        have = Counter(dict(have.most_common(MOST_SHAPES)))
        size = sum(elements(shape) * (count - tied[shape]) for shape, count in have.items())
        return cls(have, tied, size, checkpoint.adapter)


def propose(
    table: WeightTable,
    params: NDArray[np.int64],
    asked: Asked,
    count: int,
    allowed: NDArray[np.bool_] | None = None,
) -> list[list[int]]:
    """The rows to look at closely, the most promising first; rows that need the same together.

    Args:
        table: What the n rows need.
        params: How many parameters each has.
        asked: The file.
        count: How many such groups.
        allowed: Which rows may be among them; None for all.

    Shapes:
        params int64[n]; allowed [n].
    """
    have = _spelled_otherwise(table, asked.have)
    pairs = np.flatnonzero((have > 0)[table.keys])
    rows, keys = table.rows[pairs], table.keys[pairs]
    held, told = have[keys], table.weights[keys]
    shared = table.by_row(rows, told * np.minimum(held, table.most[pairs]))
    met = table.by_row(rows, told * np.minimum(held, table.least[pairs]))
    lacking = table.needed - met
    shared, lacking, params = _with_other_words(table, asked, have, shared, lacking, params)
    whole = sum(table.weigh(s) * n for s, n in asked.have.items() if s in table.numbers)
    shared = np.minimum(shared, whole)
    scores = 2 * shared / np.maximum(whole + shared + lacking, 1e-9)
    if asked.adapter:
        order = np.argsort(-shared / max(whole, 1e-9) - 1e-3 * scores, kind="stable")
        return _groups(table, params, [order], count, allowed)
    least, most = np.maximum(params, 1), np.maximum(params + table.buffered, 1)
    size = max(asked.elements, 1)
    far = np.maximum(np.maximum(size / most, least / size) - 1, 0)
    first = np.argsort(-(scores + CLOSE * np.exp(-NEAR * far)), kind="stable")
    second = np.argsort(-(scores + np.exp(-SHARP * far)), kind="stable")
    return _groups(table, params, [first, second], count, allowed)


def _with_other_words(
    table: WeightTable,
    asked: Asked,
    have: Floats,
    shared: Floats,
    lacking: Floats,
    params: NDArray[np.int64],
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """What rows share, lack and hold if the file's longest matrix has their words or classes.

    Many rows differ from a file with another vocabulary in this one matrix, and their size tells
    which of them it is once the matrix has the file's words.
    """
    few = [shape for shape, count in asked.have.items() if len(shape) == 2 and count <= MOST_TIED]
    if not few:
        return shared, lacking, params
    ours = max(few, key=lambda shape: shape[1])
    theirs = [
        number
        for shape in one_side_off(ours, table.by_rest)
        if not have[number := table.numbers[shape]]
    ]
    pairs = np.flatnonzero(np.isin(table.keys, theirs) & (table.least <= MOST_TIED))
    if not len(pairs):
        return shared, lacking, params
    pairs = pairs[np.unique(table.rows[pairs], return_index=True)[1]]
    rows, keys = table.rows[pairs], table.keys[pairs]
    copies = asked.have[ours] - asked.tied[ours]
    told = RESIZED * table.weights[keys]
    shared, lacking, params = shared.copy(), lacking.copy(), params.copy()
    shared[rows] += told
    lacking[rows] -= told * table.least[pairs]
    params[rows] += (copies * (elements(ours) - table.sizes[keys])).astype(np.int64)
    return shared, lacking, params


def _groups(
    table: WeightTable,
    params: NDArray[np.int64],
    orders: list[NDArray[np.int64]],
    count: int,
    allowed: NDArray[np.bool_] | None,
) -> list[list[int]]:
    """Take rows from each order in turn; those of equal needs and size are one group."""
    groups: dict[tuple[int, int], list[int]] = {}
    seen: set[int] = set()
    for row in np.stack(orders, axis=1).ravel().tolist():
        if row in seen or (allowed is not None and not allowed[row]):
            continue
        seen.add(row)
        key = int(table.twins[row]), int(params[row])
        if key in groups or len(groups) < count:
            groups.setdefault(key, []).append(row)
        elif len(seen) > MOST_ROWS:
            break
    return [sorted(rows) for rows in groups.values()]


def _spelled_otherwise(table: WeightTable, have: Mapping[Shape, int]) -> NDArray[np.float64]:
    """How many tensors of each shape of the index the file has, fused ones and packed ones too."""
    counts = np.zeros(len(table.shapes))
    for shape, count in have.items():
        if (number := table.numbers.get(shape)) is not None:
            counts[number] = count
    parts = by_rest(have)

    def had(piece: Shape) -> int:
        return have[piece]

    few = {shape for shape in have if len(shape) <= 2}
    fused = {
        (*rest, width) for rest, widths in by_rest(few).items() for width in _sums(list(widths))
    }
    for shape in map(sorted_shape, fused):
        number = table.numbers.get(shape)
        if number is not None and not counts[number]:
            found = best_way(compositions(shape, parts), had, 1 << 30)
            counts[number] = found[1] if found else 0
    for number in np.flatnonzero(table.packed).tolist():
        packed = int(table.packed[number])
        one = one_expert(table.shapes[number], packed)
        if one is None or counts[number]:
            continue
        if found := best_way([(one,), *compositions(one, parts)], had, 1 << 30, packed):
            counts[number] = found[1]
    return counts


def _sums(widths: list[int], most: int = 24) -> set[int]:
    """What two or three of some widths come to."""
    widths = sorted(widths)[-most:]
    two = {a + b for a in widths for b in widths}
    return two | {a + b for a in two for b in widths}
