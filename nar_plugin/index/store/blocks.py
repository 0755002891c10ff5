"""The blocks of an index's designs: what their modules compute, where, and how often."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nar_plugin.errors import IndexIncompatible
from nar_plugin.index.store import label_counts
from nar_plugin.likeness import LabelTable, Postings

if TYPE_CHECKING:
    import pyarrow as pa

IntArray = NDArray[np.int64]
_PLACES = ("designs", "times", "paths", "traced")


@dataclass(frozen=True)
class StoredPlace:
    """Where a design has a block.

    Attributes:
        times: How often.
        path: The first module.
        traced: The name whose modules these are: another name of the design may call them
            otherwise.
    """

    times: int
    path: str
    traced: str


@dataclass(frozen=True)
class StoredBlock:
    """A block as it is written.

    Attributes:
        shape: Its hash, blind to widths (`nar_plugin.likeness.parts.shape`).
        label: The class that most designs have for it.
        ops: How many operations it has.
        designs: By fingerprint of a design where it has the block.
    """

    shape: str
    label: str
    ops: int
    designs: Mapping[str, StoredPlace]


@lru_cache(maxsize=1)
def schema() -> pa.Schema:
    """The columns: see docs/index-format.md."""
    import pyarrow as pa

    lists = {"designs": pa.string(), "times": pa.uint32()} | dict.fromkeys(
        ("paths", "traced"), pa.string()
    )
    columns = [
        *(pa.field(name, pa.string(), nullable=False) for name in ("shape", "label")),
        pa.field("ops", pa.uint32(), nullable=False),
        *(label_counts.schema().field(name) for name in label_counts.LISTS),
        *(
            pa.field(name, pa.list_(pa.field("element", kind)), nullable=False)
            for name, kind in lists.items()
        ),
    ]
    return pa.schema(columns)


def to_table(blocks: Iterable[StoredBlock], labels: LabelTable) -> pa.Table:
    """The table of blocks.

    Args:
        blocks: The n blocks.
        labels: Of the same blocks.
    """
    import pyarrow as pa

    blocks = list(blocks)
    shapes = [block.shape for block in blocks]
    counted = label_counts.to_table(shapes, labels.widthless())
    columns = {
        "shape": shapes,
        "label": [block.label for block in blocks],
        "ops": [block.ops for block in blocks],
        **{name: counted[name] for name in label_counts.LISTS},
        "designs": [list(block.designs) for block in blocks],
        "times": [[place.times for place in block.designs.values()] for block in blocks],
        "paths": [[place.path for place in block.designs.values()] for block in blocks],
        "traced": [[place.traced for place in block.designs.values()] for block in blocks],
    }
    arrays = [
        column
        if isinstance(column, pa.ChunkedArray)
        else pa.array(column, schema().field(name).type)
        for name, column in columns.items()
    ]
    return pa.table(arrays, schema=schema())


@dataclass(frozen=True, eq=False)
class Blocks:
    """The n blocks of an index, and in which of its rows they are.

    Attributes:
        shapes: The hash of each, blind to widths.
        texts: The label of each.
        ops: int64[n], how many operations each has.
        labels: By which they are compared.
        owners: int64[m], ascending: the block of each occurrence.
        rows: int64[m], the row of the index that has it, ascending inside a block.
        times: int64[m], how often.
        paths: The first module of each occurrence.
        traced: The name whose module that is.
    """

    shapes: list[str]
    texts: list[str]
    ops: IntArray
    labels: LabelTable
    owners: IntArray
    rows: IntArray
    times: IntArray
    paths: pa.Array
    traced: pa.Array

    @classmethod
    def of(cls, table: pa.Table, positions: Mapping[str, int]) -> Blocks:
        """The blocks of stored tables, those of one shape as one.

        Args:
            table: Of `schema()`; of several shards, one after the other.
            positions: The row of each fingerprint. What is in no row is left out.

        Raises:
            IndexIncompatible: The lists of a block are not of one length.
        """
        table = table.combine_chunks()
        names = table["shape"].to_pylist()
        numbers: dict[str, int] = {}
        block_of = np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)
        firsts = np.unique(block_of, return_index=True)[1]
        designs, times, paths, traced = (table[name].combine_chunks() for name in _PLACES)
        starts = label_counts.starts_of(designs)
        if any(
            not np.array_equal(starts, label_counts.starts_of(of)) for of in (times, paths, traced)
        ):
            raise IndexIncompatible(
                "The blocks of an index do not come with a count and a module for each design. "
                "`nar index update` fetches a sound index."
            )
        places = [positions.get(name, -1) for name in designs.flatten().to_pylist()]
        rows = np.array(places, dtype=np.int64)
        owners = np.repeat(block_of, np.diff(starts))
        order = np.lexsort((rows, owners))
        order = order[rows[order] >= 0]
        counts = label_counts.numbers_of(times.flatten(), np.uint32)
        texts = table["label"].to_pylist()
        ops = table["ops"].to_pylist()
        return cls(
            list(numbers),
            [texts[first] for first in firsts],
            np.array([ops[first] for first in firsts], dtype=np.int64),
            label_counts.from_table(table).taken(firsts),
            owners[order],
            rows[order],
            counts.astype(np.int64)[order],
            _taken(paths.flatten(), order),
            _taken(traced.flatten(), order),
        )

    def __len__(self) -> int:
        """The number of blocks."""
        return len(self.shapes)

    @cached_property
    def postings(self) -> Postings:
        """The blocks by label, so that all are compared at once."""
        return Postings(self.labels)

    def occurrences(self, block: int) -> slice:
        """Which of the occurrences are of one block."""
        start, stop = np.searchsorted(self.owners, [block, block + 1])
        return slice(int(start), int(stop))


def _taken(array: pa.Array, places: IntArray) -> pa.Array:
    """Some values of an array. Arrow's own conversion of the numbers would import pandas."""
    import pyarrow as pa

    numbers = np.ascontiguousarray(places, dtype=np.int64)
    return array.take(
        pa.Array.from_buffers(pa.int64(), len(numbers), [None, pa.py_buffer(numbers)])
    )
