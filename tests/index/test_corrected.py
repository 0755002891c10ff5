"""Search by corrected scores: a hub steps back, and the answer is exact whatever searches."""

import numpy as np
import pytest

from nar_plugin.errors import IndexIncompatible
from nar_plugin.index import ArchitectureIndex, corrected
from nar_plugin.index.parquet import to_parquet
from nar_plugin.index.rows import with_densities
from nar_plugin.index.vectors import unit
from tests.index.conftest import build, row
from tests.index.test_folder import ROWS, replace_file

QUERY = np.array([3, 2]) / 13**0.5  # cosines .83205 to the crowd and .76549 to the lone row


def crowded(copies=3):
    """A crowd in one place, `lib:crowd0` and so on, and `lib:lone` at a distance."""
    rows = [*(row(f"lib:crowd{i}") for i in range(copies)), row("lib:lone")]
    return build(rows, [*[[1, 0]] * copies, [0.28, 0.96]])


def pairs(matches):
    return [(match.row.name.removeprefix("lib:"), match.score) for match in matches]


def dense(index):
    return [row.density for row in index.rows()]


def test_a_hub_that_is_nearer_steps_back(every_backend):
    index = crowded()
    assert dense(index) == pytest.approx([0.76, 0.76, 0.76, 0.28])
    # The query's density is (3 * .83205 + .76549) / 4 = .81541.
    (first, best), (second, crowd), *_ = pairs(index.search(QUERY, 4))
    assert (first, second) == ("lone", "crowd0")
    assert best == pytest.approx(0.76549 - 0.2 * (0.28 - 0.81541), abs=1e-5)
    assert crowd == pytest.approx(0.83205 - 0.2 * (0.76 - 0.81541), abs=1e-5)


def test_filters_change_no_score(backend):
    index = crowded()
    index = index.add([row("lib:other", family="vgg")], np.array([[0, 1]]))
    everywhere = {match.row.name: match.score for match in index.search(QUERY, 5)}
    (found,) = index.search(QUERY, 5, {"family": "vgg"})
    assert found.score == everywhere["lib:other"]


def test_no_score_is_above_one(backend):
    rows = [row(f"lib:{i}") for i in range(3)]
    index = build(rows, [[1, 0], [-0.6, 0.8], [-0.6, -0.8]])
    assert dense(index)[0] == pytest.approx(-0.6)
    (best,) = index.search([1, 0.01], 1)
    assert best.score == 1


def test_an_answer_outside_the_first_pool(backend, monkeypatch):
    monkeypatch.setattr(corrected, "POOL", 2)
    index = crowded(40)  # the first three that a backend gives are of the crowd
    assert [name for name, _ in pairs(index.search(QUERY, 2))] == ["lone", "crowd0"]
    (match,) = index.search_batch(QUERY[None], 1)[0]
    assert match.row.name == "lib:lone"
    monkeypatch.setattr(corrected, "MOST_POOLED", 3)
    ((approximate, _),) = pairs(index.search(QUERY, 1))
    assert approximate.startswith("crowd")


@pytest.mark.parametrize("pool", [1, 20, 256])
def test_the_best_of_all_rows(backend, monkeypatch, pool):
    """By the definition, every row scored, at crowds of all sizes."""
    monkeypatch.setattr(corrected, "POOL", pool)
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((30, 16)).repeat(np.arange(30), axis=0)
    vectors = unit(centres + 0.4 * rng.standard_normal(centres.shape))
    rows = [row(f"lib:{i}", family="odd" if i % 2 else "even") for i in range(len(vectors))]
    index = build(rows, vectors)
    queries = unit(rng.standard_normal((20, 16)))
    by_hand = queries @ index.vectors.T - 0.2 * np.array(dense(index))
    odd = np.arange(len(vectors)) % 2 == 1
    for where, scores in (
        (None, by_hand),
        ({"family": "odd"}, np.where(odd, by_hand, -9)),
    ):
        matches = [index.search(query, 7, where) for query in queries]
        found = [[int(name) for name, _ in pairs(each)] for each in matches]
        assert found == np.argsort(-scores, axis=1)[:, :7].tolist()
        assert index.search_batch(queries, 7, where) == matches


def test_added_rows_are_measured_among_all():
    index = crowded()
    more = index.add([row("lib:new")], np.array([[0, 1]]))
    assert dense(more) == pytest.approx([0.76, 0.76, 0.76, 0.28, 0.24])  # .96 / 4
    again = row("lib:again", fingerprint="nar1:lib:lone", density=0.9)
    more = more.add([again], np.array([[0, 1]]))
    assert more.by_fingerprint("nar1:lib:lone").names == ("lib:lone", "lib:again")
    assert more.by_fingerprint("nar1:lib:lone").density == pytest.approx(0.28)


def test_merged_rows_are_measured_anew():
    other = build([row("lib:up"), row("lib:back")], [[0, 1], [-1, 0]])
    assert dense(other) == [0, 0]
    # .96 / 5, and (3 * -1 - .28) / 5.
    assert dense(crowded().merge(other))[4:] == pytest.approx([0.192, -0.656])


def test_own_models_are_measured_among_the_rows_of_the_index(backend):
    own = build(
        [row("own:up"), row("own:lone", fingerprint="nar1:lib:lone")], [[0, 1], [0.28, 0.96]]
    )
    assert dense(own) == pytest.approx([0.96, 0.96])
    index = crowded().with_overlay(own)
    assert dense(index.overlay) == pytest.approx([0.24, 0.28])  # itself is no neighbour
    assert dense(own) == pytest.approx([0.96, 0.96])
    found = {match.row.name: match for match in index.search(QUERY, 5)}
    up = 2 / 13**0.5 - 0.2 * (0.24 - 0.81541)
    assert found["own:up"].score == pytest.approx(up, abs=1e-5)
    alone = {match.row.name: match.score for match in crowded().search(QUERY, 5)}
    assert found["lib:lone"].overlay
    assert found["lib:lone"].score == pytest.approx(alone["lib:lone"])
    assert index.search_batch(QUERY[None], 5) == [index.search(QUERY, 5)]


def test_an_index_of_before_there_were_densities(tmp_path, backend):
    crowded().save(tmp_path)
    table = to_parquet(crowded().contents.table.drop_columns(["density"]))
    replace_file(tmp_path, ROWS, table)
    older = ArchitectureIndex.verify(tmp_path)
    assert dense(older) == [0] * 4
    first, *_, last = pairs(older.search(QUERY, 4))
    assert first == ("crowd0", pytest.approx(0.83205, abs=1e-5))
    assert last == ("lone", pytest.approx(0.76549, abs=1e-5))
    assert older.search_batch(QUERY[None], 4) == [older.search(QUERY, 4)]
    own = build([row("own:up"), row("own:down")], [[0, 1], [0, -1]])
    assert dense(older.with_overlay(own).overlay) == [0, 0]
    assert dense(older.merge(own)) == [0] * 6  # cosines still, of the new ones too
    assert dense(build(older.rows(), older.vectors)) == dense(crowded())


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 7, -2])
def test_a_density_that_is_no_mean_of_cosines_is_refused(tmp_path, value):
    crowded().save(tmp_path)
    table = with_densities(crowded().contents.table, np.full(4, value, np.float32))
    replace_file(tmp_path, ROWS, to_parquet(table))
    with pytest.raises(IndexIncompatible, match="density in it is not between -1 and 1"):
        ArchitectureIndex.load(tmp_path)
