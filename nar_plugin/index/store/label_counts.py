"""The labels of an index's rows, by which designs are compared, and how often each occurs."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from nar_plugin.errors import IndexIncompatible
from nar_plugin.likeness import LabelTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

Number = TypeVar("Number", bound=np.generic)
LISTS = ("labels", "counts", "views")


@lru_cache(maxsize=1)
def schema() -> pa.Schema:
    """The columns: see docs/index-format.md."""
    import pyarrow as pa

    kinds = {"labels": pa.uint64(), "counts": pa.uint32(), "views": pa.uint8()}
    lists = [
        pa.field(name, pa.list_(pa.field("element", kinds[name])), nullable=False) for name in LISTS
    ]
    return pa.schema([pa.field("fingerprint", pa.string(), nullable=False), *lists])


def to_table(fingerprints: Sequence[str], labels: LabelTable) -> pa.Table:
    """The table of the labels that are compared.

    Args:
        fingerprints: Of the n graphs.
        labels: Of the same graphs.
    """
    import pyarrow as pa

    kept = labels.compared()
    starts = pa.array(kept.starts.astype(np.int32))
    columns = [kept.labels, kept.counts.astype(np.uint32), kept.views]
    lists = [pa.ListArray.from_arrays(starts, pa.array(column)) for column in columns]
    fields = [schema().field(name).type for name in LISTS]
    cast = [column.cast(kind) for column, kind in zip(lists, fields, strict=True)]
    return pa.table([pa.array(fingerprints, pa.string()), *cast], schema=schema())


def from_table(table: pa.Table) -> LabelTable:
    """The labels of a table's rows.

    Raises:
        IndexIncompatible: A graph has not as many labels as counts and views, or a count is 0.
    """
    columns = [table[name].combine_chunks() for name in LISTS]
    starts = [starts_of(column) for column in columns]
    labels = numbers_of(values_of(columns[0]), np.uint64)
    counts = numbers_of(values_of(columns[1]), np.uint32)
    views = numbers_of(values_of(columns[2]), np.uint8)
    if any(not np.array_equal(starts[0], other) for other in starts[1:]) or not counts.all():
        raise IndexIncompatible(
            "The labels of an index do not come with a count each. `nar index update` fetches a "
            "sound index."
        )
    return LabelTable(starts[0], labels, counts.astype(np.int64), views).compared()


def starts_of(column: pa.ListArray) -> NDArray[np.int64]:
    """int64[n + 1]: where each list begins among the values of all."""
    offsets = numbers_of(column.offsets, np.int32).astype(np.int64)
    starts: NDArray[np.int64] = offsets - offsets[0] if len(offsets) else np.zeros(1, np.int64)
    return starts


def values_of(column: pa.ListArray) -> pa.Array:
    """What the lists hold, one after the other. `flatten` would import all of Arrow's functions."""
    first = column.offsets[0].as_py() if len(column.offsets) else 0
    last = column.offsets[-1].as_py() if len(column.offsets) else 0
    return column.values[first:last]


def numbers_of(array: pa.Array, kind: type[Number]) -> NDArray[Number]:
    """The numbers of an array without nulls. Arrow's own conversion would import pandas."""
    found = np.frombuffer(array.buffers()[1] or b"", dtype=kind)
    return found[array.offset : array.offset + len(array)]
