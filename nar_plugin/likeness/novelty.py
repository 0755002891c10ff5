"""How novel a design is among held-out ones: what the number of `novelty` is worth."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

CALIBRATION = "novelty.toml"


@cache
def calibration() -> dict[str, Any]:
    """What `nar dev calibrate` wrote: the encoder, the AUC, and quantiles of novelty.

    `unseen_families` are designs of families that were held out from the encoder and the index,
    `new_sizes` designs of known families, whose backbone was held out.
    """
    return tomllib.loads(files("nar_plugin.likeness").joinpath(CALIBRATION).read_text("utf-8"))


def percentile(novelty: float, among: str) -> float:
    """The part of held-out designs that are less novel than this, from 0 to 1.

    Args:
        novelty: 1 minus the likeness of the best hit.
        among: `unseen_families` or `new_sizes`.
    """
    quantiles = np.array(calibration()[among])
    return float(np.interp(novelty, quantiles, np.linspace(0, 1, len(quantiles))))
