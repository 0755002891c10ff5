"""One row of each design, the best, whatever it takes to find as many as are asked for."""

import pytest

from nar_plugin.index.designs import best_designs
from tests.index.conftest import build, row

NEAR, FAR = [1, 0], [0, 1]


def names(matches):
    return [match.row.name.removeprefix("lib:") for match in matches]


def heads(count, **fields):
    """Rows of one design at one place, then two others."""
    same = [row(f"lib:head{number}", design="d", **fields) for number in range(count)]
    others = [row("lib:near", design="e"), row("lib:far", design="f")]
    return build([*same, *others], [*[NEAR] * count, [0.96, 0.28], FAR])


@pytest.mark.parametrize("count", [1, 3, 60])
def test_the_best_of_each_design(count):
    found = best_designs(heads(count), NEAR, 3)
    assert sorted(names(found)) == ["far", "head0", "near"]
    assert [match.score for match in found] == sorted((m.score for m in found), reverse=True)


def test_rows_of_one_vector_are_one_design():
    rows = [
        row("lib:plain", design="d"),
        row("lib:softmax", design="e"),
        row("lib:far", design="f"),
    ]
    index = build(rows, [NEAR, NEAR, FAR])
    assert names(best_designs(index, NEAR, 3)) == ["plain", "far"]
    assert names(best_designs(index, NEAR, 3, identical="nar1:lib:softmax")) == ["softmax", "far"]


def test_the_identical_row_stands_for_its_design():
    found = best_designs(heads(5), NEAR, 3, identical="nar1:lib:head3")
    assert names(found)[0] == "head3"
    assert not {"head0", "head1"} & set(names(found))


def test_more_than_there_are_gives_all_designs():
    assert len(best_designs(heads(4), NEAR, 50)) == 3
    assert names(best_designs(heads(4), NEAR, 50, {"family": "vgg"})) == []


def test_rows_whose_design_is_not_known_stand_for_themselves():
    index = build([row(f"lib:{number}", design="") for number in range(3)], [NEAR] * 3)
    assert names(best_designs(index, NEAR, 3)) == ["0", "1", "2"]
