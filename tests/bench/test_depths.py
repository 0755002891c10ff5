"""Depths of stacks, on hand-made repeats."""

import pytest

from nar_plugin.bench.depths import depths_found
from nar_plugin.bench.stacks import Stack
from nar_plugin.mining import Repeat


def stack(*starts, size=10):
    blocks = tuple(tuple(range(start, start + size)) for start in starts)
    return Stack("layers: Layer", starts, starts[-1] + size, blocks)


def found(stacks, *repeats):
    return depths_found(stacks, [Repeat(starts, stop) for starts, stop in repeats], 80)


@pytest.mark.parametrize(
    ("starts", "stop", "expected"),
    [
        ((0, 10, 20, 30), 40, True),
        ((0, 20), 40, True),  # 2 repeats of 2 blocks
        ((3, 13, 23, 33), 43, True),  # cut at another place of the period
        ((5, 15, 25, 35), 45, True),  # cut in the middle of each block
        ((0, 10, 20), 30, False),  # the last block was not found
        ((0, 10, 20), 40, False),  # the last holds two
        ((10, 20, 30), 40, False),  # the first was not found
        ((0, 5, 10, 15, 20, 25, 30, 35), 40, False),  # halves of blocks
    ],
)
def test_one_repeat(starts, stop, expected):
    assert found([stack(0, 10, 20, 30)], (starts, stop)) == [expected]


def test_one_repeat_may_hold_several_stacks():
    assert found([stack(0, 10), stack(20, 30)], ((0, 10, 20, 30), 40)) == [True, True]


def test_one_period_in_a_stack_must_fit_the_other_stacks():
    # stages of 2 and 4 blocks, a period each: they do not repeat one another
    stages = [stack(0, 10), stack(20, 30, 40, 50)]
    assert found(stages, ((0, 20), 60)) == [False, False]
    assert found([stack(0, 10), stack(20, 30)], ((0, 20), 40)) == [True, True]


def test_a_stack_in_two_repeats():
    assert found([stack(0, 10, 20, 30)], ((0, 10), 20), ((20, 30), 40)) == [False]


def test_operations_that_stand_far_from_their_block():
    # the first block's embedding is read by all layers, and was made before the stem
    blocks = ((0, *range(20, 30)), tuple(range(30, 40)), tuple(range(40, 50)))
    layers = Stack("layers: Layer", (0, 30, 40), 50, blocks)
    assert found([layers], ((20, 30, 40), 50)) == [True]
