"""Random generators that a model holds itself: its twin gets others, in a fixed state."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import torch


def in_fixed_state(generator: Any) -> Any:
    """A new generator of the same sort, seeded; None where the argument is none.

    A draw moves a generator, so the model's own must not serve, and what it drew before must not
    decide what a trace sees. `references.construction.random_numbers_kept` is for the global ones.
    """
    if isinstance(generator, random.Random):
        return random.Random(0)
    if isinstance(generator, np.random.Generator):
        return np.random.Generator(type(generator.bit_generator)(0))
    if isinstance(generator, np.random.RandomState):
        return np.random.RandomState(0)
    if isinstance(generator, torch.Generator):
        return torch.Generator().manual_seed(0)
    return None
