"""Rows that are made of a model's blocks, on shares worked out by hand."""

import numpy as np
import pytest

from nar_plugin.index.same_blocks import shares_of_blocks
from nar_plugin.mining.macro import MotifCount


def block(shape, count, ops):
    return MotifCount(shape=shape, label=shape, count=count, ops=ops)


# 3 x 10 + 5 + 2: 37 operations
MODEL = (block("layer", 3, 10), block("stem", 1, 5), block("head", 1, 2))


@pytest.fixture
def blocks(row, build):
    rows = [
        row("a:deep", family="deep", motifs=(block("layer", 24, 10), block("other", 2, 30))),
        row("a:twin", family="twin", motifs=MODEL),
        row("b:twin", family="twin", motifs=(*MODEL, block("more", 1, 1))),
        row("a:part", family="part", motifs=(block("layer", 3, 10), block("other", 7, 10))),
        row("a:head", family="head", motifs=(block("head", 1, 2),)),
        row("a:none", family="none"),
    ]
    return build(rows, [[1, 0], [0, 1], [1, 1], [1, 0], [1, 0], [1, 0]])


def test_the_less_of_the_two_shares(blocks):
    shares = shares_of_blocks(blocks.contents.table, MODEL)
    # the head of two operations counts for nobody
    expected = [min(30 / 37, 240 / 300), 35 / 37, min(35 / 37, 35 / 38), min(30 / 37, 0.3), 0, 0]
    np.testing.assert_allclose(shares, expected)


def test_one_of_each_family_the_largest_share_first(blocks):
    found = blocks.of_same_blocks(MODEL, np.array([1.0, 0.0]))
    assert [(row.name, share) for row, share in found] == [("a:twin", 0.95), ("a:deep", 0.8)]


def test_of_equal_shares_the_nearest_comes_first(row, build):
    rows = [row(f"a:{name}", family=name, motifs=MODEL) for name in ("far", "near")]
    index = build(rows, [[0, 1], [1, 0]])
    (first, _), _ = index.of_same_blocks(MODEL, np.array([1.0, 0.0]))
    assert first.name == "a:near"


def test_a_filter(blocks):
    found = blocks.of_same_blocks(MODEL, np.array([1.0, 0.0]), where={"family": "deep"})
    assert [row.name for row, _ in found] == ["a:deep"]


@pytest.mark.parametrize("motifs", [(), (block("head", 1, 2),), (block("unknown", 2, 9),)])
def test_nothing_in_common(blocks, motifs):
    assert blocks.of_same_blocks(motifs, np.array([1.0, 0.0])) == []


def test_an_index_without_rows(blocks):
    assert blocks.empty(revision="none").of_same_blocks(MODEL, np.array([1.0, 0.0])) == []
