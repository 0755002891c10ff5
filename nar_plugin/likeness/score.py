"""The likeness of designs: what they have in common, and what the encoder has learned of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]

# Chosen on the halves for development (docs/decisions/likeness-by-blocks.md).
LEARNED = 0.5  # the weight of the encoder in the mean
SURE = 0.98  # of a cosine counts, so that sizes of one family differ in what they have in common
SCALE = 1.6  # ratio of odds: the middle of the scale is where experts begin to say "alike"
DIFFERENT = 0.999  # at most, of two designs that are not the same


def likeness(overlap: FloatArray, cosine: FloatArray) -> FloatArray:
    """The likeness of pairs of different designs, from 0 to `DIFFERENT`.

    How far apart two are is the geometric mean of two distances, 1 - overlap and 1 - cosine: near
    in either sense is near, and far is what is far in both. One minus that is put on a scale on
    which its odds are `SCALE` times as high, which changes no order.

    Args:
        overlap: What each pair has in common, from 0 to 1.
        cosine: Of the encoder's vectors; below 0 counts as 0.

    Shapes:
        overlap [m], cosine [m], result float32[m].
    """
    learned = 1 - SURE * np.clip(cosine, 0, 1)
    apart = (1 - np.clip(overlap, 0, 1)) ** (1 - LEARNED) * learned**LEARNED
    near = SCALE * (1 - apart) / (SCALE - (SCALE - 1) * apart)
    found: FloatArray = np.minimum(near, DIFFERENT).astype(np.float32)
    return found
