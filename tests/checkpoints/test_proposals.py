"""Which rows are looked at closely."""

from collections import Counter

import numpy as np

from nar_plugin.checkpoints.proposals import Asked, propose
from nar_plugin.checkpoints.weight_table import WeightTable


def test_a_row_that_only_its_size_tells_is_proposed_with_other_words():
    """200 rows differ in their words, and by numbers that no operation shows; the file has 5,000.

    Row 150 holds 16 * (1,150 - 5,000) numbers fewer than the file, as its table is smaller.
    """
    count = 200
    words = tuple((16, 1000 + row) for row in range(count))
    ones = np.ones(2 * count, dtype=np.int64)
    table = WeightTable(
        shapes=((16, 16), *words),
        rows=np.repeat(np.arange(count), 2),
        keys=np.stack([np.zeros(count, dtype=np.int64), np.arange(1, count + 1)], 1).ravel(),
        least=ones,
        most=ones,
        buffers=0 * ones,
        packed=np.zeros(count + 1, dtype=np.int64),
        classes=("",) * count,
        count=count,
    )
    hidden = 100 * np.arange(count)
    params = 256 + 16 * (1000 + np.arange(count)) + hidden
    have = Counter({(16, 16): 1, (16, 5000): 1})
    asked = Asked(have, Counter(), 256 + 16 * 5000 + 100 * 150)
    assert [150] in propose(table, params, asked, 4)


def test_a_file_that_shares_no_shape_with_any_row():
    one = np.ones(1, dtype=np.int64)
    table = WeightTable(((16, 100),), 0 * one, 0 * one, one, one, 0 * one, 0 * one, ("",), 1)
    asked = Asked(Counter({(16, 90): 1}), Counter(), 16 * 90)
    assert propose(table, 1600 * one, asked, 4) == [[0]]
