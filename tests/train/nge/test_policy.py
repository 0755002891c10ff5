"""Searches of a table whose best cell is known, and the comparison that goes on."""

from pathlib import Path

import numpy as np
import pytest

from nar_plugin.errors import NarError
from nar_plugin.train.nge import comparison
from nar_plugin.train.nge.alternatives import METHODS
from nar_plugin.train.nge.nas201_table import Nas201Table, cell_string, read_table
from nar_plugin.train.nge.policy import policy_searches, random_searches

DATA = Path(__file__).parents[4] / "shared" / "data"
CONVOLUTIONS = np.array([0, 1, 2, 0])  # what each operation of an edge is worth
TABLE = 10.0 * sum(np.ix_(*[CONVOLUTIONS] * 6))  # 120 where all edges are nor_conv_3x3


QUICK = ("baseline", "nge")


@pytest.mark.parametrize(
    "method",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in METHODS],
)
def test_a_search_finds_what_every_edge_is_worth(method):
    rate = 0.1 if method == "baseline" else 0.001
    found = policy_searches(method, TABLE, rate, 150, [0, 1])
    assert [TABLE[each.derived] for each in found] == pytest.approx([120, 120], abs=20)
    assert all(TABLE[each.best] >= 100 for each in found)


def test_the_searches_of_a_batch_do_not_see_each_other():
    together = policy_searches("nge", TABLE, 0.001, 20, [3, 4, 5])
    assert policy_searches("nge", TABLE, 0.001, 20, [4]) == together[1:2]


def test_random_search_derives_the_best_that_it_drew():
    found = random_searches(TABLE, 4096 * 5, [0])
    assert found[0].derived == (2,) * 6


def test_the_string_of_a_cell():
    assert cell_string((1, 0, 2, 3, 0, 1)) == (
        "|nor_conv_1x1~0|+|skip_connect~0|nor_conv_3x3~1|+"
        "|avg_pool_3x3~0|skip_connect~1|nor_conv_1x1~2|"
    )


def test_a_missing_table_is_named(tmp_path):
    with pytest.raises(NarError, match=r"nas_bench_201_200_epochs.csv.gz is missing: --data"):
        read_table(tmp_path)


@pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data")
def test_the_table_is_that_of_the_benchmark():
    table = read_table(DATA)
    assert table.test.max() == pytest.approx(94.37, abs=0.01)  # the benchmark's optimum
    best = np.unravel_index(table.test.argmax(), table.test.shape)
    assert table.validation[best] > np.median(table.validation)
    assert np.corrcoef(table.test.ravel(), table.validation.ravel())[0, 1] > 0.7


def test_a_comparison_chooses_rates_and_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(comparison, "_CHOOSING", range(1000, 1005))
    monkeypatch.setattr(comparison, "METHODS", {"baseline": METHODS["baseline"]})
    monkeypatch.setattr(comparison, "read_table", lambda _: Nas201Table(TABLE - 20, TABLE))
    rows = comparison.compare(tmp_path, tmp_path, "validation", seeds=2, queries=60)
    assert [(row["method"], row["aim"]) for row in rows] == [
        *(("baseline", "derived"), ("baseline", "best"), ("random", "best"))
    ]
    assert all(20 < row["accuracy"] <= 100 for row in rows)  # the truth, not what searches saw
    assert rows[0]["rate"] > 0.003  # the lowest moves a logit by 0.2 in 60 steps
    monkeypatch.setattr(comparison, "policy_searches", None)  # nothing is measured again
    assert comparison.compare(tmp_path, tmp_path, "validation", seeds=2, queries=60) == rows
    assert comparison.table_text(rows).count("\n") == 3
