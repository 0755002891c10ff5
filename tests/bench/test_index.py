import json
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from nar_plugin.bench.index import Peak, own_megabytes, recall, synthetic, true_neighbours
from nar_plugin.cli import app
from nar_plugin.index.vectors import as_float32


def test_synthetic_vectors_have_the_spectrum_of_the_real_ones(tmp_path):
    import nar_plugin

    real = np.linalg.eigvalsh(np.cov(nar_plugin.load_index().vectors, rowvar=False))
    made = np.linalg.eigvalsh(np.cov(as_float32(synthetic(4000, 3, tmp_path)), rowvar=False))
    assert made[-50:].sum() / made.sum() == pytest.approx(real[-50:].sum() / real.sum(), abs=0.05)


def test_true_neighbours_by_hand():
    vectors = np.zeros((3000, 12), np.float32)
    vectors[:, 0] = 1
    vectors[2990:, 1] = 1 + np.arange(10)  # ever farther from the first axis
    asked = np.zeros((1, 12), np.float32)
    asked[0, 1] = 1
    assert true_neighbours(vectors, asked) == [set(range(2990, 3000))]
    assert recall([set(range(2995, 3005))], [set(range(2990, 3000))]) == 0.5


def test_the_command():
    result = CliRunner().invoke(app, ["bench", "index", "500", "--queries", "5", "--json"])
    (row,) = json.loads(result.stdout)
    assert (row["rows"], row["kind"], row["recall"]) == (500, "exact", 1.0)
    assert row["p50_ms"] > 0
    assert 50 < row["memory_mb"] < 4000


def test_the_peak_is_seen_after_it_has_passed():
    with Peak() as peak:
        before = own_megabytes()
        block = np.ones(40_000_000)
        time.sleep(0.1)
        del block
    assert 300 < peak.megabytes - before < 400
