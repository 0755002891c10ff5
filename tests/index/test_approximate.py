"""The approximate index: what it finds, what it may not miss, and what is refused."""

import logging
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nar_plugin.errors import IndexIncompatible, IndexUnavailable
from nar_plugin.index import ArchitectureIndex
from nar_plugin.index.search import approximate
from nar_plugin.index.search.nearest import nearest
from nar_plugin.index.search.products import NumpyCandidates
from nar_plugin.index.store.manifest import FileEntry, Manifest
from nar_plugin.index.store.vectors import unit
from tests.index.conftest import build, row

faiss = pytest.importorskip("faiss", exc_type=ImportError)
DIM, ROWS = 64, 3000


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(approximate, "APPROXIMATE_FROM", 1000)
    monkeypatch.setattr(approximate, "FEW", 50)


@pytest.fixture(scope="module")
def vectors():
    """Vectors whose spectrum falls as those of architectures do: most of it in few directions."""
    rng = np.random.default_rng(0)
    return unit(rng.standard_normal((ROWS, DIM)) * 0.9 ** np.arange(DIM))


@pytest.fixture(scope="module")
def original(vectors, tmp_path_factory):
    rows = [row(f"lib:{i}", family="even" if i % 2 == 0 else "odd") for i in range(ROWS)]
    folder = tmp_path_factory.mktemp("large") / "large"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(approximate, "APPROXIMATE_FROM", 1000)
        build(rows, vectors).save(folder, half=True)
    return folder


@pytest.fixture
def large(original, tmp_path):
    return Path(shutil.copytree(original, tmp_path / "large"))


@pytest.fixture(scope="module")
def content(original):
    return (original / approximate.PATH).read_bytes()


def found(index, query, k=10, **how):
    return [int(match.row.name.split(":")[1]) for match in index.search(query, k, **how)]


def recall(index, vectors, queries, allowed=None, k=10):
    scores = queries @ vectors.T
    if allowed is not None:
        scores[:, ~allowed] = -2
    best = np.argsort(-scores, axis=1)[:, :k]
    where = None if allowed is None else {"family": "odd"}
    hits = [
        len(set(found(index, query, k, where=where)) & set(true))
        for query, true in zip(queries, best.tolist(), strict=True)
    ]
    return sum(hits) / best.size


def queries(vectors):
    noise = np.random.default_rng(1).standard_normal((50, DIM)) * 0.02
    return unit(vectors[::60] + noise)


def test_a_large_index_is_saved_with_one(large, vectors):
    index = ArchitectureIndex.load(large)
    (entry,) = index.manifest.of_kind("derived")
    assert (entry.path, entry.rows) == ("derived/ivf-pq.faiss", ROWS)
    assert isinstance(index.searcher.backend(), approximate.ApproximateCandidates)
    assert recall(index, vectors, queries(vectors)) >= 0.95
    assert ArchitectureIndex.verify(large).rows() == index.rows()


def test_it_answers_where_a_gpu_has_no_memory_left(large, full_gpu):
    assert isinstance(
        ArchitectureIndex.load(large).searcher.backend(), approximate.ApproximateCandidates
    )


def test_faiss_is_not_imported_on_macos(large, row, vectors, monkeypatch, tmp_path):
    """Beside torch it would end the process there: every row is searched, by torch."""
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setitem(sys.modules, "faiss", None)
    index = ArchitectureIndex.load(large)
    assert found(index, vectors[17], 1) == [17]
    assert isinstance(index.searcher.backend(), NumpyCandidates)
    assert len(ArchitectureIndex.verify(large)) == ROWS
    many = [row(f"lib:{i}") for i in range(1200)]
    build(many, vectors[:1200]).save(tmp_path / "new")
    assert not (tmp_path / "new" / "derived").exists()


def test_many_queries_at_once(large, vectors):
    index = ArchitectureIndex.load(large)
    asked = queries(vectors)
    together = index.search_batch(asked, 5, {"family": "odd"})
    assert together == [index.search(query, 5, {"family": "odd"}) for query in asked]


def test_scores_are_those_of_the_true_vectors(large, vectors):
    index = ArchitectureIndex.load(large)
    true = vectors @ vectors[17]
    for match in index.search(vectors[17], 5):
        number = int(match.row.name.split(":")[1])
        assert match.score == pytest.approx(true[number], abs=1e-3)


def test_filters(large, vectors):
    odd = np.arange(ROWS) % 2 == 1
    index = ArchitectureIndex.load(large)
    assert recall(index, vectors, queries(vectors), odd) >= 0.95
    assert all(number % 2 for number in found(index, vectors[0], 20, where={"family": "odd"}))


def test_few_allowed_rows_are_scored_exactly(large, vectors):
    index = ArchitectureIndex.load(large)
    few = np.arange(ROWS) % 100 == 0
    for query in queries(vectors):
        best = np.argsort(-(vectors[::100] @ query))[:10] * 100
        _, rows = nearest(index.searcher.backend(), vectors, query, 10, few)
        assert rows.tolist() == best.tolist()


@pytest.mark.parametrize("k", [1, 500, 2999, 3000, 5000])
def test_as_many_as_were_asked_for(large, vectors, k):
    assert len(set(found(ArchitectureIndex.load(large), vectors[0], k))) == min(k, ROWS)


def test_rows_added_and_removed_later(large, vectors, row):
    """The derived file stays: new rows are searched beside it, buried ones are not found."""
    before = (large / approximate.PATH).read_bytes()
    index = ArchitectureIndex.load(large)
    new = unit(-vectors[:3])
    names = [row(f"lib:{ROWS + i}") for i in range(3)]
    index.add(names, new).remove([f"nar1:lib:{i}" for i in range(0, 200, 2)]).save(large)
    assert (large / approximate.PATH).read_bytes() == before
    index = ArchitectureIndex.load(large)
    assert index.manifest.of_kind("derived")[0].rows == ROWS
    assert [found(index, vector, 1) for vector in new] == [[ROWS], [ROWS + 1], [ROWS + 2]]
    for number in range(0, 200, 2):
        assert number not in found(index, vectors[number], 20)
        assert found(index, vectors[number + 1], 1) == [number + 1]


def test_a_missing_file_costs_time_only(large, vectors):
    (large / approximate.PATH).unlink()
    index = ArchitectureIndex.load(large)
    assert recall(index, vectors, queries(vectors)) == 1
    assert len(ArchitectureIndex.verify(large)) == ROWS


@pytest.mark.parametrize("place", [0, 0.5, -1])
def test_a_damaged_file_is_not_read(large, vectors, place, caplog, monkeypatch):
    content = bytearray((large / approximate.PATH).read_bytes())
    content[int(place * len(content)) if place >= 0 else -1] ^= 1
    (large / approximate.PATH).write_bytes(content)
    monkeypatch.setattr(faiss, "deserialize_index", lambda content: pytest.fail("was read"))
    index = ArchitectureIndex.load(large)
    with caplog.at_level(logging.WARNING, logger="nar_plugin"):
        assert found(index, vectors[5], 1) == [5]
    assert "ivf-pq.faiss is damaged" in caplog.text
    with pytest.raises(IndexUnavailable, match=r"ivf-pq\.faiss is damaged"):
        ArchitectureIndex.verify(large)


def test_a_file_that_the_manifest_does_not_list_is_not_read(saved, monkeypatch):
    (saved / "derived").mkdir()
    (saved / approximate.PATH).write_bytes(b"evil")
    monkeypatch.setattr(faiss, "deserialize_index", lambda content: pytest.fail("was read"))
    assert len(ArchitectureIndex.load(saved).search([1, 0], 2)) == 2


def vouched(folder, content):
    """Puts a derived file in the folder, and a manifest that vouches for it."""
    manifest = Manifest.from_json((folder / "manifest.json").read_bytes())
    entry = FileEntry.of(content, approximate.PATH, "derived", ROWS)
    files = [old for old in manifest.files if old.kind != "derived"]
    manifest = replace(manifest, files=(*files, entry))
    (folder / "manifest.json").write_bytes(manifest.to_json())
    (folder / approximate.PATH).write_bytes(content)


def crafted(name, vectors, content):
    if name == "nothing":
        return b""
    if name == "text":
        return b"<html>404</html>" * 10
    factory = {"another class": "Flat", "a graph": "HNSW8", "another dimension": "IVF4,PQ8x4fs"}
    if name in factory:
        block = vectors[:, :32].copy() if name == "another dimension" else vectors
        index = faiss.index_factory(block.shape[1], factory[name], faiss.METRIC_INNER_PRODUCT)
        index.train(block)
        index.add(block)
    elif name == "another metric":
        index = faiss.index_factory(DIM, "IVF4,PQ8x4fs", faiss.METRIC_L2)
        index.train(vectors)
    elif name == "too many vectors":
        index = faiss.index_factory(DIM, "IVF4,PQ8x4fs", faiss.METRIC_INNER_PRODUCT)
        index.train(vectors)
        index.add(np.concatenate([vectors, vectors]))
    elif name == "another setting":  # FAISS reads it, and fails in every search
        index = faiss.deserialize_index(np.frombuffer(content, np.uint8))
        index.qbs2 = 2_751_463_424
    else:  # a length of 2**60 where a small one stood
        content = bytearray(content)
        place = content.find((4 * DIM * 64).to_bytes(8, "little"))
        place = place if place > 0 else 100
        content[place : place + 8] = (1 << 60).to_bytes(8, "little")
        return bytes(content)
    return faiss.serialize_index(index).tobytes()


@pytest.mark.parametrize(
    "name",
    [
        "nothing",
        "text",
        "another class",
        "a graph",
        "another dimension",
        "another metric",
        "too many vectors",
        "another setting",
        "an endless vector",
    ],
)
def test_a_crafted_file_is_refused(large, vectors, content, name, caplog):
    vouched(large, crafted(name, vectors, content))
    index = ArchitectureIndex.load(large)
    with caplog.at_level(logging.WARNING, logger="nar_plugin"):
        assert found(index, vectors[5], 1) == [5]
    assert "ivf-pq.faiss is no index of 3,000 vectors" in caplog.text
    with pytest.raises(IndexIncompatible, match="remove it, and searches are exact"):
        ArchitectureIndex.verify(large)


def test_a_file_that_holds_one_row_often_gives_it_once(large, vectors):
    vouched(large, approximate.built(vectors, np.full(ROWS, 5)))
    rows = found(ArchitectureIndex.load(large), vectors[5], 10)
    assert rows[0] == 5 and len(set(rows)) == 10


def test_the_limits_of_faiss_are_put_back(large, vectors):
    before = faiss.get_deserialization_vector_byte_limit()
    ArchitectureIndex.load(large).search(vectors[0])
    assert faiss.get_deserialization_vector_byte_limit() == before


@pytest.mark.parametrize("place", range(20))
def test_flipped_and_vouched_for_it_ends_in_an_answer(large, vectors, content, place):
    """Whatever FAISS makes of it, it is refused or searched: no crash, and the scores are true."""
    content = bytearray(content)
    content[place * 13 + (place % 8)] ^= 255
    vouched(large, bytes(content))
    index = ArchitectureIndex.load(large)
    true = vectors @ vectors[5]
    matches = index.search(vectors[5], 3)
    assert len(matches) == 3
    for match in matches:
        number = int(match.row.name.split(":")[1])
        assert match.score == pytest.approx(true[number], abs=1e-3)
