"""Guesses at the two kinds of columns of a table: numbers, and categories as ids."""

from __future__ import annotations

import re

from torch import Tensor, nn

from nar_plugin.tracing.twin.parts import modules

from ..._shared.layer_inputs import STEPS
from ..._shared.layers import floats, ids

_NUMBERS = re.compile(r"^x_(num|cont)|continuous|numerical|^dense_(x|inputs?|features?)$")
_CATEGORIES = re.compile(r"^x_cat|categorical|categories")


def columns(name: str, model: nn.Module) -> Tensor | None:
    """One row of the columns that an argument is named for, or None for another name.

    A column of categories has a table of its own, as long as it has categories.

    Shapes:
        float32[1, 16] for numbers, int64[1, tables] for categories.
    """
    if _NUMBERS.search(name):
        return floats(1, STEPS)
    if _CATEGORIES.search(name):
        tables = [layer for layer in modules(model) if isinstance(layer, nn.Embedding)]
        shortest = min((table.num_embeddings for table in tables), default=2)
        return ids(len(tables) if len(tables) > 1 else STEPS, shortest)
    return None
