import sys
from functools import partial

import numpy as np
import pytest

from nar_plugin.index.search import approximate
from nar_plugin.index.search.backends import (
    FaissGpuCandidates,
    TorchCandidates,
    open_on_cpu,
    open_on_gpu,
    torch_on_gpu,
)
from nar_plugin.index.search.candidates import BatchCandidates
from nar_plugin.index.search.integers import FaissCandidates
from nar_plugin.index.search.nearest import nearest, nearest_of_each
from nar_plugin.index.search.products import NumpyCandidates
from nar_plugin.index.store.manifest import FileEntry
from nar_plugin.index.store.vectors import unit

TorchOnCpu = partial(TorchCandidates, device="cpu")
BACKENDS = {
    "numpy": NumpyCandidates,
    "faiss": FaissCandidates,
    "torch": TorchOnCpu,
    "faiss-gpu": FaissGpuCandidates,
}


def expected(vectors, query, k, allowed=None):
    """The definition: float64 scores, sorted by score and then by row."""
    scores = (vectors.astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    rows = np.arange(len(vectors)) if allowed is None else np.flatnonzero(allowed)
    return rows[np.argsort(-scores[rows], kind="stable")][:k]


def random_unit(seed, rows, dim=64):
    return unit(np.random.default_rng(seed).standard_normal((rows, dim)))


@pytest.mark.parametrize("k", [1, 10, 999, 1000, 5000])
def test_random_vectors(backend, k):
    vectors = random_unit(0, 1000)
    searcher = BACKENDS[backend](vectors)
    for query in random_unit(1, 5):
        scores, rows = nearest(searcher, vectors, query, k)
        np.testing.assert_array_equal(rows, expected(vectors, query, k))
        np.testing.assert_allclose(scores, vectors[rows] @ query, atol=1e-6)


def ivf_pq(vectors):
    numbers = np.arange(len(vectors))
    content = approximate.built(vectors, numbers)
    entry = FileEntry.of(content, approximate.PATH, "derived", len(vectors))
    index = approximate.opened(content, entry, vectors.shape[1])
    return approximate.ApproximateCandidates(index, len(vectors), vectors, numbers)


@pytest.mark.parametrize("share", [None, 0.5])
def test_every_backend_gives_the_same_within_its_recall(every_backend, share, monkeypatch):
    monkeypatch.setattr(approximate, "FEW", 50)
    rng = np.random.default_rng(0)
    vectors = unit(rng.standard_normal((4000, 64)) * 0.9 ** np.arange(64))
    allowed = None if share is None else rng.random(4000) < share
    searcher = (BACKENDS | {"ivf-pq": ivf_pq})[every_backend](vectors)
    hits = 0
    for query in unit(vectors[::100] + rng.standard_normal((40, 64)) * 0.02):
        scores, rows = nearest(searcher, vectors, query, 10, allowed)
        hits += len(set(rows) & set(expected(vectors, query, 10, allowed)))
        np.testing.assert_allclose(scores, vectors[rows] @ query, atol=1e-6)
        assert allowed is None or allowed[rows].all()
    assert hits / 400 >= (0.95 if every_backend == "ivf-pq" else 1)


SIZES = np.where(np.arange(64) < 3, 1, 0.01)  # of columns
AXES = np.eye(64, dtype=np.float32)  # which no integers round
UNEVEN = unit(np.random.default_rng(23).standard_normal((1000, 64)) * SIZES)
ASKEW = unit(np.random.default_rng(24).standard_normal((20, 64)) * SIZES[::-1] + AXES[:20])


@pytest.mark.parametrize(
    ("vectors", "queries"),
    [(random_unit(25, 1000), AXES[:20]), (AXES, random_unit(26, 20)), (UNEVEN, ASKEW)],
    ids=["rows are rounded", "queries are rounded", "columns are uneven"],
)
def test_a_backend_says_how_far_its_scores_are_off(backend, vectors, queries):
    searcher = BACKENDS[backend](vectors)
    found = [(query, searcher.best(query, len(vectors), None)) for query in queries]
    if isinstance(searcher, BatchCandidates):
        found += zip(queries, searcher.best_of_each(queries, len(vectors)), strict=True)
    for query, proposed in found:
        off = np.abs(proposed.scores - vectors[proposed.rows].astype(np.float64) @ query)
        assert off.max() <= proposed.error < 0.1
    for query in queries:
        _, rows = nearest(searcher, vectors, query, 10)
        np.testing.assert_array_equal(rows, expected(vectors, query, 10))


def test_ties_beyond_the_first_candidates(backend):
    vectors = random_unit(2, 2000)
    vectors[100:1900:2] = vectors[100]  # 900 equal rows, far more than the margin of candidates
    searcher = BACKENDS[backend](vectors)
    _, rows = nearest(searcher, vectors, vectors[100], 7)
    assert rows.tolist() == [100, 102, 104, 106, 108, 110, 112]


def test_scores_one_rounding_apart(backend):
    """Rows that float32 sums cannot tell apart are ordered by their exact scores."""
    vectors = np.tile(random_unit(3, 1), (500, 1))
    vectors[:, 0] += np.random.default_rng(3).permutation(500).astype(np.float32) * 1e-7
    query = random_unit(4, 1)[0]
    _, rows = nearest(BACKENDS[backend](vectors), vectors, query, 20)
    np.testing.assert_array_equal(rows, expected(vectors, query, 20))


@pytest.mark.parametrize("k", [1, 10, 1000, 5000])
def test_many_queries_at_once(backend, k):
    vectors = random_unit(18, 1000)
    vectors[100:900] = vectors[100]  # more than the margin: such a query is asked by itself
    queries = np.concatenate([random_unit(19, 30), vectors[100:101]])
    found = nearest_of_each(BACKENDS[backend](vectors), vectors, queries, k)
    assert len(found) == 31
    for query, (scores, rows) in zip(queries, found, strict=True):
        np.testing.assert_array_equal(rows, expected(vectors, query, k))
        np.testing.assert_allclose(scores, vectors[rows] @ query, atol=1e-6)


def test_many_queries_of_allowed_rows(backend):
    vectors, queries = random_unit(20, 500), random_unit(21, 5)
    allowed = np.arange(500) % 7 == 0
    found = nearest_of_each(BACKENDS[backend](vectors), vectors, queries, 10, allowed)
    for query, (_, rows) in zip(queries, found, strict=True):
        np.testing.assert_array_equal(rows, expected(vectors, query, 10, allowed))
    assert nearest_of_each(BACKENDS[backend](vectors), vectors, queries[:0], 10) == []


@pytest.mark.parametrize("share", [0, 0.003, 0.5, 1])
def test_only_allowed_rows(backend, share):
    vectors = random_unit(5, 1000)
    allowed = np.random.default_rng(6).random(1000) < share
    query = random_unit(7, 1)[0]
    _, rows = nearest(BACKENDS[backend](vectors), vectors, query, 10, allowed)
    np.testing.assert_array_equal(rows, expected(vectors, query, 10, allowed))


def test_backends_agree_to_the_last_bit():
    pytest.importorskip("faiss", exc_type=ImportError)
    vectors = random_unit(8, 3000, dim=512)
    vectors[2000:] = vectors[np.random.default_rng(9).integers(0, 50, 1000)]  # many ties
    allowed = np.arange(3000) % 3 > 0
    first, *others = (kind(vectors) for kind in (FaissCandidates, TorchOnCpu, NumpyCandidates))
    for query in [*random_unit(10, 10, dim=512), *vectors[:10]]:
        for mask in (None, allowed):
            mine = nearest(first, vectors, query, 37, mask)
            for other in others:
                for one, another in zip(
                    mine, nearest(other, vectors, query, 37, mask), strict=True
                ):
                    np.testing.assert_array_equal(one, another)


def test_the_torch_backend_scores_in_blocks(monkeypatch):
    vectors = random_unit(11, 1000)
    monkeypatch.setattr("nar_plugin.index.search.backends.GPU_ROWS", 64)
    _, rows = nearest(TorchOnCpu(vectors), vectors, vectors[999], 5)
    np.testing.assert_array_equal(rows, expected(vectors, vectors[999], 5))


def test_a_users_torch_settings_change_no_answer(backend):
    import torch

    vectors = random_unit(12, 1000, dim=512)
    query = random_unit(13, 1, dim=512)[0]
    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        with torch.autocast("cpu", dtype=torch.bfloat16), torch.device("meta"):
            _, rows = nearest(BACKENDS[backend](vectors), vectors, query, 20)
    finally:
        torch.set_float32_matmul_precision(precision)
    np.testing.assert_array_equal(rows, expected(vectors, query, 20))


@pytest.fixture
def large(monkeypatch):
    """The vectors of an index that counts as large."""
    monkeypatch.setattr("nar_plugin.index.search.backends.LARGE", 2)
    return random_unit(14, 3)


def test_numpy_searches_a_small_index():
    assert isinstance(open_on_cpu(random_unit(14, 3)), NumpyCandidates)


@pytest.mark.skipif(sys.platform == "darwin", reason="always numpy")
def test_faiss_searches_a_large_index_where_it_can_be_imported(large):
    pytest.importorskip("faiss", exc_type=ImportError)
    assert isinstance(open_on_cpu(large), FaissCandidates)


def test_numpy_where_faiss_is_missing(large, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    assert isinstance(open_on_cpu(large), NumpyCandidates)


def test_numpy_where_the_gpu_wheel_lacks_its_libraries(large, tmp_path, monkeypatch):
    (tmp_path / "faiss.py").write_text("raise RuntimeError('libcublas.so.12 is missing')")
    monkeypatch.delitem(sys.modules, "faiss", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    assert isinstance(open_on_cpu(large), NumpyCandidates)


def test_numpy_on_macos(large, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert isinstance(open_on_cpu(large), NumpyCandidates)


def test_torch_where_faiss_knows_no_gpu(monkeypatch):
    """The CPU wheel on a machine with a GPU; without torch's CUDA the CPU answers."""
    faiss = pytest.importorskip("faiss", exc_type=ImportError)
    monkeypatch.setattr("nar_plugin.index.search.backends.on_gpu", lambda rows: True)
    monkeypatch.delattr(faiss, "StandardGpuResources", raising=False)
    monkeypatch.setattr("nar_plugin.index.search.backends.torch_on_gpu", TorchOnCpu)
    assert isinstance(open_on_gpu(random_unit(14, 3)), TorchCandidates)


def test_no_gpu_where_it_has_no_memory_left(full_gpu):
    assert open_on_gpu(random_unit(14, 3)) is None


@pytest.mark.gpu
@pytest.mark.parametrize("kind", [FaissGpuCandidates, torch_on_gpu])
def test_a_gpu_gives_the_same_answers(kind):
    vectors = random_unit(15, 200_000, dim=512)
    try:
        searcher = kind(vectors)
    except ImportError as error:
        pytest.skip(str(error))
    for share in (None, 0.3, 0.001):
        mask = None if share is None else np.random.default_rng(17).random(len(vectors)) < share
        for query in random_unit(16, 5, dim=512):
            _, rows = nearest(searcher, vectors, query, 10, mask)
            np.testing.assert_array_equal(rows, expected(vectors, query, 10, mask))
    queries = random_unit(22, 1000, dim=512)
    found = nearest_of_each(searcher, vectors, queries, 10)
    for query, (_, rows) in list(zip(queries, found, strict=True))[::50]:
        np.testing.assert_array_equal(rows, expected(vectors, query, 10))


@pytest.mark.gpu
def test_a_large_index_is_searched_on_the_gpu():
    kinds = (FaissGpuCandidates, TorchCandidates)
    assert isinstance(open_on_gpu(random_unit(15, 200_000)), kinds)
