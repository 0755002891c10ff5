"""Columns of a table in numpy and back. Arrow's own ways would import pandas where it is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

BoolArray = NDArray[np.bool_]


def one_of(column: pa.ChunkedArray, values: list[str]) -> BoolArray:
    """Where the column holds one of the values."""
    import pyarrow.compute as pc

    matches = pc.is_in(column, value_set=text_array(values))
    found = np.zeros(len(column), dtype=np.bool_)
    found[whole_numbers(pc.indices_nonzero(matches))] = True
    return found


def whole_numbers(array: pa.Array) -> NDArray[Any]:
    """The array in numpy."""
    return np.from_dlpack(array)


def text_array(values: list[str]) -> pa.Array:
    """The texts in Arrow."""
    import pyarrow as pa

    encoded = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(
        len(values), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))
    )
