"""The likeness of designs: what they have in common, and what the encoder has learned of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]

# Chosen on validation sides (docs/decisions/likeness-by-blocks.md).
PULL = 2.0  # of the encoder: at a cosine of 1 it divides the distance by e^2, about 7
SCALE = 1.7  # ratio of odds: the middle of the scale is where experts begin to say "alike"
DIFFERENT = 0.999  # at most, of two designs that are not the same


def likeness(overlap: FloatArray, cosine: FloatArray) -> FloatArray:
    """The likeness of pairs of different designs, from 0 to `DIFFERENT`.

    How far apart two are is sqrt(1 - overlap) exp(-PULL cosine^2). The square lets the encoder
    count as much as it is certain: a cosine of .1 or .2, as strangers have, changes little. The
    exponential has no pole at a cosine of 1, so that inside a family, where all cosines are
    high, the overlap decides. One minus the distance is put on a scale on which its odds are
    `SCALE` times as high, which changes no order.

    Args:
        overlap: What each pair has in common, from 0 to 1.
        cosine: Of the encoder's vectors; below 0 counts as 0.

    Shapes:
        overlap [m], cosine [m], result float32[m].
    """
    pulled = np.exp(-PULL * np.clip(cosine, 0, 1) ** 2)
    apart = np.sqrt(1 - np.clip(overlap, 0, 1)) * pulled
    near = SCALE * (1 - apart) / (SCALE - (SCALE - 1) * apart)
    found: FloatArray = np.minimum(near, DIFFERENT).astype(np.float32)
    return found
