from itertools import combinations

import numpy as np
import pytest

from nar_plugin.likeness.matching import in_order


def best(worth):
    """The most that pairs in order are worth, by trying all of them."""
    rows, columns = worth.shape
    found = 0.0
    for count in range(1, min(rows, columns) + 1):
        for chosen in combinations(range(rows), count):
            for others in combinations(range(columns), count):
                values = [worth[pair] for pair in zip(chosen, others, strict=True)]
                if min(values) > 0:
                    found = max(found, sum(values))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_no_other_pairs_in_order_are_worth_more(seed):
    random = np.random.default_rng(seed)
    worth = random.integers(0, 4, (random.integers(1, 6), random.integers(1, 6))).astype(float)
    pairs = in_order(worth)
    assert sum(worth[pair] for pair in pairs) == best(worth)
    assert pairs == sorted(pairs)
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)


def test_the_first_of_equals_have_the_partners():
    assert in_order(np.ones((2, 5))) == [(0, 0), (1, 1)]


def test_what_is_worth_nothing_is_not_matched():
    assert in_order(np.zeros((3, 3))) == []
    assert in_order(np.zeros((0, 3))) == []
