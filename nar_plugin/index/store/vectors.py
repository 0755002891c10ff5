"""The vectors of an index: unit rows, stored as safetensors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nar_plugin.errors import IndexIncompatible, NarError
from nar_plugin.index.store.manifest import FileEntry

FloatArray = NDArray[np.float32]
Rows = NDArray[np.float16] | NDArray[np.float32]
KEY = "vectors"
BLOCK = 1024  # rows that are float32 at a time


def as_float32(rows: Rows) -> FloatArray:
    """The values as float32; of float16 by a table, which is ten times as fast as `astype`."""
    if rows.dtype == np.float32:
        return np.ascontiguousarray(rows, dtype=np.float32)
    found: FloatArray = _values().take(np.ascontiguousarray(rows).view(np.uint16))
    return found


def blocks(rows: Rows, size: int = BLOCK) -> Iterator[FloatArray]:
    """The rows as float32, some at a time: by default as many as fit into the cache."""
    for start in range(0, len(rows), size):
        yield as_float32(rows[start : start + size])


@lru_cache(maxsize=1)
def _values() -> FloatArray:
    """Every float16 as float32, by its bits."""
    return np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)


def unit(vectors: NDArray[np.floating]) -> FloatArray:
    """The rows divided by their lengths.

    Raises:
        NarError: A row is zero, or holds a value that is not finite.

    Shapes:
        [n, dim] to float32[n, dim].
    """
    half = vectors.dtype == np.float16
    rows = as_float32(vectors) if half else np.ascontiguousarray(vectors, dtype=np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    bad = np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)))
    if bad.size:
        raise NarError(
            f"Vector {bad[0]} has no direction (length {lengths[bad[0]]}): expected finite values, "
            "not all zero. Embed that model again."
        )
    scaled: FloatArray = rows / lengths[:, None]
    return scaled


def to_safetensors(vectors: Rows, *, half: bool) -> bytes:
    """The content of a shard's vectors, as float16 or as they are.

    Shapes:
        vectors [n, dim].
    """
    from safetensors.numpy import save

    content: bytes = save({KEY: vectors.astype(np.float16) if half else vectors})
    return content


def from_safetensors(content: bytes, entry: FileEntry, dim: int) -> Rows:
    """The rows in the content of a shard's vectors, which share the content's memory.

    Rounding to float16 shortens or lengthens a row by up to 0.0005.

    Args:
        content: Of the file.
        entry: What the manifest says of it.
        dim: Length of a vector.

    Raises:
        IndexIncompatible: It is no safetensors file of so many unit vectors under that key.

    Shapes:
        float16 or float32[entry.rows, dim].
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        tensors = load(content)
    except (SafetensorError, KeyError, ValueError, TypeError, OverflowError) as error:
        raise unreadable(entry, dim, str(error)[:200]) from error
    if set(tensors) != {KEY}:
        raise unreadable(entry, dim, f"it holds the tensors {sorted(tensors)[:4]}")
    vectors: Rows = tensors[KEY]
    if vectors.shape != (entry.rows, dim) or vectors.dtype not in (np.float16, np.float32):
        raise unreadable(entry, dim, f"it holds {vectors.dtype}{list(vectors.shape)}")
    for rows in blocks(vectors):
        if not np.all(np.abs(np.einsum("ij,ij->i", rows, rows) - 1) < 0.01):
            raise unreadable(entry, dim, "its rows are not of length 1")
    return vectors


def unreadable(entry: FileEntry, dim: int, reason: str) -> IndexIncompatible:
    """The error for a file that is whole but of another format."""
    return IndexIncompatible(
        f"{entry.path} is not of this version's format: {reason}; expected one tensor {KEY!r} of "
        f"float16 or float32 unit rows [{entry.rows}, {dim}]. Run `nar index update`."
    )
