"""The known blocks that are most like one, and the designs that have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nar_plugin.errors import IndexUnavailable
from nar_plugin.index.embedding import embed_labels
from nar_plugin.index.search.where import allowed_rows, conditions, name_filter
from nar_plugin.index.store.rows import taken
from nar_plugin.likeness import LabelTable, likeness
from nar_plugin.likeness.parts import shape

if TYPE_CHECKING:
    from nar_plugin.index.index import ArchitectureIndex
    from nar_plugin.index.store.blocks import Blocks
    from nar_plugin.index.store.contents import Contents
    from nar_plugin.tracing.graph import ArchitectureGraph

POOL = 300  # blocks that are proposed by their labels


@dataclass(frozen=True)
class Occurrence:
    """A known design that has a block.

    Attributes:
        name: Of the design.
        family: Of the design.
        times: How often it has the block.
        path: The first module that is it.
        traced: The name whose module that is, where it is not `name`, else empty.
        others: How many designs of its backbone have the block too.
    """

    name: str
    family: str
    times: int
    path: str
    traced: str = ""
    others: int = 0


@dataclass(frozen=True)
class FoundBlock:
    """A known block that is like the one asked about.

    Attributes:
        label: The class that most designs have for it, such as `Bottleneck`.
        score: The likeness, from 0 to 1; 1 for the same block at any width.
        ops: How many operations it has.
        designs: How many designs have it.
        occurrences: Where, one for each backbone, the best known first.
    """

    label: str
    score: float
    ops: int
    designs: int
    occurrences: tuple[Occurrence, ...]


def most_alike_blocks(
    index: ArchitectureIndex,
    graph: ArchitectureGraph,
    k: int,
    where: Mapping[str, Any] | None = None,
) -> list[FoundBlock]:
    """The k known blocks that are most like one, each at any width; best first.

    They are compared as designs are (`nar_plugin.likeness`), by the views that tell no width. Of
    blocks that are as alike, the one of most designs comes first.

    Args:
        index: What is searched. The user's own models are not.
        graph: The block.
        k: At least 1.
        where: Conditions on the designs: see `nar_plugin.index.search.where.allowed_rows`.

    Raises:
        IndexUnavailable: The index came without blocks.
    """
    contents = index.contents
    blocks = contents.blocks
    if blocks is None:
        raise IndexUnavailable(
            f"The index {index.source} came without a table of blocks, so it cannot say which "
            "designs contain this one. `nar index update` fetches an index with blocks; without "
            "`at` the question is which whole designs are like the model."
        )
    where = conditions(where)
    allowed = allowed_rows(contents.table, where) if where else np.ones(len(contents), dtype=bool)
    counts = np.bincount(blocks.owners[allowed[blocks.rows]], minlength=len(blocks))
    labels = LabelTable.of([graph]).widthless()
    common = np.where(counts > 0, blocks.postings.overlaps(labels, 0), -1.0)
    pool = np.argsort(-common, kind="stable")[: max(POOL, k)]
    pool = pool[common[pool] > 0]
    vectors = embed_labels(index, LabelTable.joined([labels, blocks.labels.taken(pool)]))
    # An index has the labels of its blocks, not their graphs: labels rank where those are read.
    cosines = np.zeros(len(pool)) if vectors is None else vectors[1:] @ vectors[0]
    scores = likeness(common[pool].astype(np.float32), cosines.astype(np.float32))
    asked = shape(graph)
    scores[[blocks.shapes[block] == asked for block in pool.tolist()]] = 1.0
    order = np.lexsort((-counts[pool], -scores.round(3)))[:k]
    shown = _Designs(contents, blocks, where, allowed)
    return [
        FoundBlock(
            blocks.texts[block],
            score,
            int(blocks.ops[block]),
            int(counts[block]),
            shown.occurrences(block),
        )
        for block, score in zip(pool[order].tolist(), scores[order].tolist(), strict=True)
    ]


@dataclass(frozen=True)
class _Designs:
    """Tells which designs have a block.

    Attributes:
        contents: Of the index.
        blocks: Of the index.
        where: Conditions on the designs.
        allowed: bool[rows], which rows meet them.
    """

    contents: Contents
    blocks: Blocks
    where: Mapping[str, Any] | None
    allowed: NDArray[np.bool_]

    def occurrences(self, block: int) -> tuple[Occurrence, ...]:
        """The designs of a block: rows of one backbone are one occurrence, the best known."""
        here = self.blocks.occurrences(block)
        rows, times = self.blocks.rows[here], self.blocks.times[here]
        paths = self.blocks.paths[here].to_pylist()
        traced = self.blocks.traced[here].to_pylist()
        kept = np.flatnonzero(self.allowed[rows]).tolist()
        facts = self._facts(rows)
        groups: dict[str, list[int]] = {}
        for place in kept:
            backbone = facts["backbone"][place] or str(rows[place])
            groups.setdefault(backbone, []).append(place)
        return tuple(
            Occurrence(
                name := self._name(int(rows[first]), facts["name"][first]),
                facts["family"][first],
                int(times[first]),
                paths[first],
                traced[first] if traced[first] != name else "",
                len(others),
            )
            for first, *others in groups.values()
        )

    def _facts(self, rows: NDArray[np.int64]) -> dict[str, list[str]]:
        table = self.contents.table.select(["name", "family", "backbone"])
        facts: dict[str, list[str]] = taken(table, rows).to_pydict()
        return facts

    def _name(self, row: int, name: str) -> str:
        """The name of a design, one that meets the conditions on names where there are any."""
        if not self.where:
            return name
        names = name_filter(self.contents.table, self.where)
        return names.shown(self.contents.row(row)).name
