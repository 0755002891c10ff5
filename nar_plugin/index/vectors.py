"""The vectors of an index: unit rows, stored as safetensors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nar_plugin.errors import IndexIncompatible, NarError

FloatArray = NDArray[np.float32]
KEY = "vectors"


def unit(vectors: NDArray[np.floating]) -> FloatArray:
    """The rows divided by their lengths.

    Raises:
        NarError: A row is zero, or holds a value that is not finite.

    Shapes:
        [n, dim] to float32[n, dim].
    """
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    bad = np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)))
    if bad.size:
        raise NarError(
            f"Vector {bad[0]} has no direction (length {lengths[bad[0]]}): expected finite values, "
            "not all zero. Embed that model again."
        )
    scaled: FloatArray = rows / lengths[:, None]
    return scaled


def to_safetensors(vectors: FloatArray, *, half: bool) -> bytes:
    """The content of `vectors.safetensors`, as float16 or float32.

    Shapes:
        vectors [n, dim].
    """
    from safetensors.numpy import save

    content: bytes = save({KEY: vectors.astype(np.float16 if half else np.float32)})
    return content


def from_safetensors(content: bytes) -> FloatArray:
    """The unit vectors in the content of a `vectors.safetensors`.

    Rounding to float16 shortens or lengthens a row by up to 0.0005; such rows are made unit again.

    Raises:
        IndexIncompatible: It is no safetensors file of unit vectors under the key `vectors`.

    Shapes:
        float32[n, dim].
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        tensors = load(content)
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        raise unreadable(str(error)) from error
    if set(tensors) != {KEY}:
        raise unreadable(f"it holds the tensors {sorted(tensors)}")
    vectors = tensors[KEY]
    if vectors.ndim != 2 or vectors.dtype not in (np.float16, np.float32):
        raise unreadable(f"it holds {vectors.dtype}{list(vectors.shape)}")
    rows: FloatArray = vectors.astype(np.float32, copy=False)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    if not np.all(np.abs(lengths - 1) < 0.005):
        raise unreadable("its rows are not of length 1")
    if vectors.dtype == np.float16:
        rows /= lengths[:, None]
    return rows


def unreadable(reason: str) -> IndexIncompatible:
    """The error for a file that is whole but of another format."""
    return IndexIncompatible(
        f"vectors.safetensors is not of this version's format: {reason}; expected one tensor "
        f"{KEY!r} of float16 or float32 unit rows [n, dim]. Run `nar index update`."
    )
