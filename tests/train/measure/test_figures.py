"""The figure of embeddings: what is kept of a cell, and how it is drawn."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("tqdm")
pytest.importorskip("sklearn")
pytest.importorskip("matplotlib")

from scipy import sparse

from nar_plugin.train.measure.figures import HTML, PNG, SAMPLE, draw, panel, save_sample


def items(count):
    coarse = ["cnn-block", "attention-block"]
    return [
        SimpleNamespace(
            names=({"name": f"lib:<{n}>", "coarse": coarse[n % 2], "family": f"family-{n % 3}"},)
        )
        for n in range(count)
    ]


def vectors(count):
    """Two clusters, by the parity of the row."""
    random = np.random.default_rng(0)
    centres = np.eye(8)[[n % 2 for n in range(count)]]
    return (centres + 0.01 * random.normal(size=(count, 8))).astype(np.float32)


def test_clusters_stay_clusters(tmp_path):
    save_sample(tmp_path, vectors(60), items(60), np.arange(0, 50), real=True)
    one = panel(tmp_path / SAMPLE, "paper", "unique")
    assert one.points.shape == (50, 2)
    assert set(one.labels) == {"cnn-block", "attention-block"}
    even, odd = one.points[::2], one.points[1::2]
    within = np.linalg.norm(even - even.mean(axis=0), axis=1).max()
    assert np.linalg.norm(odd - even.mean(axis=0), axis=1).min() > within


def test_the_page_escapes_names_and_the_picture_is_a_png(tmp_path):
    save_sample(tmp_path, vectors(30), items(30), np.arange(30), real=False)
    one = panel(tmp_path / SAMPLE, "gcn", "nas")
    assert sorted(set(one.labels)) == ["family-0", "family-1", "family-2"]
    folder = tmp_path / "a" / "new one"
    draw([one, one], folder)
    page = (folder / HTML).read_text()
    assert page.count("<circle") == 60
    assert "lib:&lt;7&gt;" in page
    assert (folder / PNG).read_bytes().startswith(b"\x89PNG")


def test_sparse_rows_are_not_kept(tmp_path):
    save_sample(tmp_path, sparse.csr_array(np.eye(4)), items(4), np.arange(4), real=True)
    assert not (tmp_path / SAMPLE).exists()
