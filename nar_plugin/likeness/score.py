"""The likeness of designs: what they have in common, and what the encoder has learned of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]

LEARNED = 0.4  # of a likeness comes from the encoder; chosen on validation (docs/decisions)


def likeness(overlap: FloatArray, cosine: FloatArray) -> FloatArray:
    """The likeness of pairs, from 0 to 1.

    Args:
        overlap: What each pair has in common, from 0 to 1.
        cosine: Of the encoder's vectors.

    Shapes:
        overlap [m], cosine [m], result float32[m].
    """
    learned = np.clip(cosine, 0.0, 1.0)
    found: FloatArray = ((1 - LEARNED) * overlap + LEARNED * learned).astype(np.float32)
    return found.clip(0.0, 1.0)
