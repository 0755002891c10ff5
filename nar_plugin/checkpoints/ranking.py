"""The known designs that explain the tensors of a file best.

Stage one weighs the shapes of all rows at once. Stage two explains the file by the best of them,
tensor by tensor (`matching.py`). Rows that no shape tells apart are one answer.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from nar_plugin.checkpoints.account import Match, Need
from nar_plugin.checkpoints.loaders import loaders
from nar_plugin.checkpoints.matching import match
from nar_plugin.checkpoints.parameters import Shape
from nar_plugin.checkpoints.proposals import Asked, propose
from nar_plugin.checkpoints.tensors import Checkpoint
from nar_plugin.checkpoints.weight_table import WeightTable, weight_table
from nar_plugin.errors import IndexUnavailable
from nar_plugin.index.search.where import allowed_rows, conditions, name_filter

if TYPE_CHECKING:
    from nar_plugin.index.index import ArchitectureIndex
    from nar_plugin.index.store.contents import Contents
    from nar_plugin.index.store.rows import ArchitectureRow

POOL = 80  # rows of different needs that stage two looks at
ENOUGH = 50  # of them, once one of them is all that the file is
MOST_LOADERS = 8
SAME = 1e-6  # scores that differ by less are equal

_tables: WeakKeyDictionary[Contents, WeightTable] = WeakKeyDictionary()
_lock = threading.Lock()


@dataclass(frozen=True)
class Explained:
    """Rows that explain a file equally well.

    Attributes:
        row: The best known of them.
        match: What it explains.
        others: The other rows, which the shapes do not tell from it.
        loads: Lines of Python or classes that load such a file, one for each library.
        overlay: Whether it is one of the user's own models.
    """

    row: ArchitectureRow
    match: Match
    others: tuple[ArchitectureRow, ...] = ()
    loads: tuple[str, ...] = ()
    overlay: bool = False


def most_alike_weights(
    index: ArchitectureIndex, checkpoint: Checkpoint, k: int, where: Mapping[str, Any] | None = None
) -> list[Explained]:
    """The k known designs whose weights have the shapes of a file's, best first.

    Args:
        index: What is searched, with the user's own models.
        checkpoint: Without packing (`packing.unpacked`).
        k: At least 1.
        where: Conditions on the designs: see `nar_plugin.index.search.where.allowed_rows`.

    Raises:
        IndexUnavailable: The index came without graphs, which tell the shapes.
    """
    asked = Asked.of(checkpoint)
    found = [
        each
        for part in (index, index.overlay)
        if part is not None and len(part.contents)
        for each in _found(part, asked, k, conditions(where), part is not index)
    ]
    found.sort(key=lambda each: each.order)
    groups: list[list[_Found]] = []
    for each in found:
        if groups and groups[-1][0].score - each.score < SAME:
            groups[-1].append(each)
        else:
            groups.append([each])
    return [_explained(group) for group in groups[:k]]


@dataclass(frozen=True)
class _Found:
    """One row, and how well it explains the file."""

    score: float
    place: int
    row: ArchitectureRow
    match: Match
    root: str
    overlay: bool

    @property
    def order(self) -> tuple[float, float, int]:
        """Best first: by score, then by what it could have and the file lacks, then by fame."""
        return -round(self.score, 6), self.match.slack, self.place


def _explained(group: list[_Found]) -> Explained:
    first, *others = group
    lines = (line for each in group for line in loaders(each.row, each.root))
    loads = tuple(islice(dict.fromkeys(lines), MOST_LOADERS))
    return Explained(first.row, first.match, tuple(e.row for e in others), loads, first.overlay)


def _found(
    index: ArchitectureIndex,
    asked: Asked,
    k: int,
    where: Mapping[str, Any] | None,
    overlay: bool,
) -> list[_Found]:
    contents = index.contents
    table = table_of(index)
    params = np.asarray(contents.table["params"].to_numpy(), dtype=np.int64)
    allowed = allowed_rows(contents.table, where) if where else None
    pool = propose(table, params, asked, max(POOL, 2 * k), allowed)
    weigh = cache(table.weigh)
    names = name_filter(contents.table, where) if where else None
    found: list[_Found] = []
    whole = False
    for looked_at, rows in enumerate(pool):
        if whole and looked_at >= max(ENOUGH, 2 * k):
            break
        needs, size = needs_of(table, rows[0]), int(params[rows[0]])
        explanation = match(asked.have, asked.tied, needs, size, weigh, asked.adapter)
        whole = whole or explanation.score >= 1 - SAME
        if explanation.score > 0:
            found.extend(
                _Found(
                    explanation.score,
                    place,
                    names.shown(contents.row(place)) if names else contents.row(place),
                    explanation,
                    table.classes[place],
                    overlay,
                )
                for place in rows
            )
    return found


def table_of(index: ArchitectureIndex) -> WeightTable:
    """The shapes that the rows of an index need; a process derives them once.

    Raises:
        IndexUnavailable: The index came without graphs.
    """
    contents = index.contents
    with _lock:
        if contents not in _tables:
            if not contents.has_graphs:
                raise IndexUnavailable(
                    f"The index {index.source} came without graphs, which say what shapes the "
                    "weights of a design have. The embedded index has them: ask without index=."
                )
            _tables[contents] = weight_table(contents.graphs())
        return _tables[contents]


def needs_of(table: WeightTable, row: int) -> dict[Shape, Need]:
    """What one row needs, by shape."""
    here = slice(int(table.starts[row]), int(table.starts[row + 1]))
    columns = (table.least, table.most, table.buffers)
    counts = zip(*(column[here].tolist() for column in columns), strict=True)
    return {
        table.shapes[key]: Need(least, most, buffers, int(table.packed[key]))
        for key, (least, most, buffers) in zip(table.keys[here].tolist(), counts, strict=True)
    }
