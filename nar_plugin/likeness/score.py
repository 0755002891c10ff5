"""The likeness of designs: what they have in common, and what the encoder has learned of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]

LEARNED = 0.5  # the weight of the encoder in the mean; chosen on validation (docs/decisions)
DIFFERENT = 0.999  # at most, of two designs that are not the same


def likeness(overlap: FloatArray, cosine: FloatArray) -> FloatArray:
    """The likeness of pairs of different designs, from 0 to `DIFFERENT`.

    It is one minus the geometric mean of two distances, 1 - overlap and 1 - cosine: near in either
    sense is near, and far is what is far in both.

    Args:
        overlap: What each pair has in common, from 0 to 1.
        cosine: Of the encoder's vectors; below 0 counts as 0.

    Shapes:
        overlap [m], cosine [m], result float32[m].
    """
    apart = (1 - np.clip(overlap, 0, 1)) ** (1 - LEARNED) * (1 - np.clip(cosine, 0, 1)) ** LEARNED
    found: FloatArray = np.minimum(1 - apart, DIFFERENT).astype(np.float32)
    return found
