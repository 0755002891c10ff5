"""Rows that are made of a model's blocks, whatever their vectors say.

The encoder learns to tell families apart, and puts a design that is of none of them anywhere. Its
blocks are found all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nar_plugin.index.columns import text_array, whole_numbers

if TYPE_CHECKING:
    import pyarrow as pa

    from nar_plugin.mining.macro import MotifCount

SMALLEST = 4  # operations; pooling with a linear layer behind it is in half of all designs


def shares_of_blocks(table: pa.Table, motifs: Sequence[MotifCount]) -> NDArray[np.float64]:
    """How far each row and a model are made of the same blocks: the less of two shares.

    One is the share of the model's operations in blocks that the row has, the other the share of
    the row's operations in blocks that the model has, widths aside and however often they occur.

    Args:
        table: Of the schema of `nar_plugin.index.rows`.
        motifs: The model's blocks, which together cover its operations.

    Shapes:
        [n], from 0 to 1.
    """
    import pyarrow.compute as pc

    large = [motif for motif in motifs if motif.ops >= SMALLEST]
    column = table["motifs"].combine_chunks()
    owners = whole_numbers(pc.list_parent_indices(column))
    blocks = pc.list_flatten(column)
    covered = whole_numbers(blocks.field("count")) * whole_numbers(blocks.field("ops"))
    shapes = text_array([motif.shape for motif in large])
    found = pc.index_in(blocks.field("shape"), shapes)  # null where the model has no such block
    same = whole_numbers(pc.indices_nonzero(pc.is_valid(found)))
    which = whole_numbers(found.drop_null())
    sizes = np.array([motif.count * motif.ops for motif in large], dtype=np.int64)

    def sums(places: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.bincount(places, values, len(table)).astype(np.float64)

    of_model = sums(owners[same], sizes[which])
    of_rows = sums(owners[same], covered[same])
    whole = sum(motif.count * motif.ops for motif in motifs)
    return np.minimum(of_model / max(whole, 1), of_rows / np.maximum(sums(owners, covered), 1))
