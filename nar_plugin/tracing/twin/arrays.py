"""Arrays that a model holds and that are no tensors: its twin writes into copies of them."""

from __future__ import annotations

import copy
from array import array
from contextlib import suppress
from mmap import mmap
from typing import Any

import numpy as np


def private_array(value: Any) -> Any:
    """A copy that shares no memory; the array itself where it is read-only; None for all else.

    What an array of objects holds is shared, and a whole file that is mapped into memory is mapped
    once more, so that only what is written to is copied.
    """
    if isinstance(value, np.ndarray):
        if not value.flags.writeable:
            return value
        if isinstance(value, np.memmap) and isinstance(value.base, mmap) and value.mode != "c":
            with suppress(OSError, TypeError, ValueError):  # no file by that name any more
                order = "C" if value.flags.c_contiguous else "F"
                place = (value.filename, value.dtype, "c", value.offset)
                return np.memmap(*place, shape=value.shape, order=order)
        return value.copy(order="K")
    if isinstance(value, bytearray | array):
        return copy.copy(value)
    return None
