import subprocess
import sys

import numpy as np
import pytest

from nar_plugin.errors import IndexIncompatible, NarError
from nar_plugin.index import EMBEDDED, ArchitectureIndex
from nar_plugin.index.search.backends import FaissGpuCandidates, TorchCandidates
from nar_plugin.index.search.integers import FaissCandidates
from nar_plugin.index.search.products import NumpyCandidates
from nar_plugin.index.store import folder as folder_module
from nar_plugin.index.store.vectors import unit


def names(matches):
    return [match.row.name for match in matches]


def test_repr_and_len(index):
    assert repr(index) == "ArchitectureIndex(4 graphs, 5 names, nar-base, memory@2026.11.21)"
    assert len(index) == 4


def test_search_ranks_by_score(index, backend):
    matches = index.search([1.6, 1.2], k=4)  # 37 degrees, length 2
    assert names(matches) == [
        "timm:vgg11",
        "timm:resnet50",
        "transformers:bert",
        "torchvision:squeezenet1_0",
    ]
    scores = [match.score for match in matches]
    assert scores == pytest.approx([0.96, 0.8, 0.6, -0.8], abs=1e-6)
    kinds = {
        "numpy": NumpyCandidates,
        "faiss": FaissCandidates,
        "torch": TorchCandidates,
        "faiss-gpu": FaissGpuCandidates,
    }
    expected = kinds[backend]
    if sys.platform != "darwin":
        assert isinstance(index.searcher.backend(), expected)


def test_the_best_of_all_rows(row, build, every_backend):
    """By the definition, every row scored; filters change which rows are found and no score."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((30, 16)).repeat(np.arange(30), axis=0)
    vectors = unit(centres + 0.4 * rng.standard_normal(centres.shape))
    rows = [row(f"lib:{i}", family="odd" if i % 2 else "even") for i in range(len(vectors))]
    index = build(rows, vectors)
    queries = unit(rng.standard_normal((20, 16)))
    cosines = queries @ vectors.T
    odd = np.arange(len(vectors)) % 2 == 1
    for where, scores in ((None, cosines), ({"family": "odd"}, np.where(odd, cosines, -9))):
        matches = [index.search(query, 7, where) for query in queries]
        best = np.argsort(-scores, axis=1)[:, :7]
        assert [names(each) for each in matches] == [[f"lib:{i}" for i in of] for of in best]
        found = [[match.score for match in each] for each in matches]
        np.testing.assert_allclose(found, np.take_along_axis(scores, best, axis=1), atol=1e-6)
        assert index.search_batch(queries, 7, where) == matches


def test_a_row_finds_itself_with_score_one(index, backend):
    (match,) = index.search(index.vectors[1], k=1)
    assert match.row.name == "timm:vgg11"
    assert match.score == pytest.approx(1, abs=1e-6)
    assert match.score <= 1


def test_the_identical_graph_comes_first_whatever_its_score(index, backend):
    last = "nar1:torchvision:squeezenet1_0"
    matches = index.search([1.6, 1.2], k=2, identical=last)
    assert names(matches) == ["torchvision:squeezenet1_0", "timm:vgg11"]
    assert [match.score for match in matches] == pytest.approx([-0.8, 0.96], abs=1e-6)
    assert names(index.search([1.6, 1.2], k=1, identical=last)) == ["torchvision:squeezenet1_0"]
    elsewhere = index.search([1.6, 1.2], k=1, where={"family": "vgg"}, identical=last)
    assert names(elsewhere) == ["timm:vgg11"]
    assert names(index.search([1.6, 1.2], k=1, identical="nar1:unknown")) == ["timm:vgg11"]


def test_many_vectors_at_once(index, backend):
    vectors = np.array([[1.6, 1.2], [-1, 0.1], [0, 3]])
    for where in (None, {"params": "<100M"}):
        together = index.search_batch(vectors, 2, where)
        assert together == [index.search(vector, 2, where) for vector in vectors]
    assert index.search_batch(vectors[:0]) == []
    with pytest.raises(NarError, match=r"shape \(3,\), expected \(2,\)"):
        index.search_batch(np.ones((1, 3)))


def test_equal_scores_come_in_row_order(row, build, backend):
    rows = [row(f"timm:m{number}") for number in range(50)]
    vectors = np.tile([0.6, 0.8], (50, 1))
    vectors[30] = [0, 1]
    matches = build(rows, vectors).search([0, 1], k=4)
    assert names(matches) == ["timm:m30", "timm:m0", "timm:m1", "timm:m2"]


@pytest.mark.parametrize(("k", "found"), [(1, 1), (3, 3), (4, 4), (5, 4), (10_000, 4)])
def test_k_beyond_the_rows_gives_all(index, backend, k, found):
    assert len(index.search([1, 0], k=k)) == found


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "3"])
def test_invalid_k(index, k):
    with pytest.raises(NarError, match="k="):
        index.search([1, 0], k=k)


def test_invalid_vectors(index):
    with pytest.raises(NarError, match=r"shape \(3,\), expected \(2,\)"):
        index.search([1, 0, 0])
    with pytest.raises(NarError, match="no direction"):
        index.search([0, 0])
    with pytest.raises(NarError, match="no direction"):
        index.search([np.nan, 0])


def test_search_where(index, backend):
    found = index.search([0.8, 0.6], where={"task": "image-classification", "params": "<50M"})
    assert names(found) == ["timm:resnet50", "torchvision:squeezenet1_0"]
    assert index.search([1, 0], where={"family": "mamba"}) == []


def test_an_empty_index_finds_nothing(build, backend):
    index = build([], np.empty((0, 2)))
    assert index.search([1, 0]) == []
    assert index.search([1, 0], where={"library": "timm"}) == []
    assert index.info()["libraries"] == {}


def test_equal_graphs_become_one_row(row, build, backend):
    rows = [
        row("timm:resnet50", fingerprint="nar1:a"),
        row("timm:vgg11", fingerprint="nar1:b"),
        row("torchvision:resnet50", fingerprint="nar1:a", library="torchvision"),
        row("timm:resnet50", ("timm:resnet50", "timm:resnet50.a1_in1k"), fingerprint="nar1:a"),
    ]
    index = build(rows, [[1, 0], [0, 1], [1, 0], [1, 0]])
    assert (index.manifest.graphs, index.manifest.names) == (2, 4)
    first, second = index.search([1, 0])
    assert first.row.names == ("timm:resnet50", "torchvision:resnet50", "timm:resnet50.a1_in1k")
    assert (first.row.name, first.row.library) == ("timm:resnet50", "timm")
    assert second.row.name == "timm:vgg11"
    assert second.score == pytest.approx(0, abs=1e-7)


def test_a_name_missing_from_its_names_is_put_first(row, build):
    index = build([row("timm:a", ("timm:b",))], [[1, 0]])
    assert index.rows()[0].names == ("timm:a", "timm:b")


def test_from_rows_refuses_vectors_that_do_not_fit(row, build):
    with pytest.raises(NarError, match=r"\(2, 2\), expected \(1, 2\)"):
        build([row("timm:a")], [[1, 0], [0, 1]])
    with pytest.raises(NarError, match="Vector 1 has no direction"):
        build([row("timm:a"), row("timm:b")], [[1, 0], [0, 0]])


def test_by_fingerprint(index):
    assert index.by_fingerprint("nar1:timm:vgg11").name == "timm:vgg11"
    assert index.by_fingerprint("nar1:unknown") is None


def test_check_encoder(index):
    index.check_encoder("the same, from another folder", "c0ffee" * 8)
    with pytest.raises(IndexIncompatible) as caught:
        index.check_encoder("nar-small", "deadbeef" * 8)
    text = str(caught.value)
    for part in ("nar-base", "c0ffeec0ffee", "nar-small", "deadbeefdead"):
        assert part in text
    assert "`nar index update`" in text
    assert "`nar dev index reencode FOLDER`" in text


def test_info(index):
    info = index.info()
    assert info.pop("bytes") > 0
    assert info.pop("age") == index.manifest.age
    assert info == {
        "source": "memory",
        "revision": "2026.11.21",
        "created": "2026-11-21",
        "names": 5,
        "graphs": 4,
        "composed": 0,
        "overlay": 0,
        "families": {"bert": 1, "resnet": 1, "squeezenet": 1, "vgg": 1},
        "libraries": {"timm": 3, "torchvision": 1, "transformers": 1},
        "tasks": {"image-classification": 3, "fill-mask": 1},
        "licences": {"Apache-2.0": 4, "BSD-3-Clause": 1},
        "encoder": "nar-base",
        "encoder_sha256": "c0ffee" * 8,
        "tracer": "1",
        "fingerprint": "nar1",
    }
    assert list(info["tasks"]) == ["image-classification", "fill-mask"]


def test_a_library_goes_by_its_distribution_and_by_its_prefix(row, build):
    rows = [
        row("mmseg:a", fingerprint="nar1:a", library="mmsegmentation"),
        row("timm:b", ("timm:b", "mmseg:b"), fingerprint="nar1:b"),
        row("lucid:c", fingerprint="nar1:c", library="one"),
        row("lucid:d", fingerprint="nar1:d", library="two"),
    ]
    index = build(rows, [[1, 0], [0, 1], [1, 1], [1, 2]])
    assert index.info()["libraries"] == {"mmsegmentation": 2, "one": 1, "timm": 1, "two": 1}
    for word, names in (
        ("mmseg", {"mmseg:a", "mmseg:b"}),
        ("mmsegmentation", {"mmseg:a", "mmseg:b"}),
        ("timm", {"timm:b"}),
        ("one", {"lucid:c"}),
        ("lucid", {"lucid:c", "lucid:d"}),
    ):
        found = index.search([1, 0], where={"library": word})
        assert {match.row.name for match in found} == names


@pytest.mark.parametrize(("key", "counted"), [("library", "libraries"), ("licence", "licences")])
def test_counts_are_what_the_filter_finds(index, key, counted):
    for value, count in index.info()[counted].items():
        assert len(index.search([1, 0], where={key: value})) == count


@pytest.mark.parametrize(
    ("where", "name", "library", "licence"),
    [
        ({}, "torchvision:squeezenet1_0", "torchvision", "BSD-3-Clause"),
        ({"library": "torchvision"}, "torchvision:squeezenet1_0", "torchvision", "BSD-3-Clause"),
        ({"library": "timm"}, "timm:squeezenet", "timm", "Apache-2.0"),
        ({"licence": "Apache-2.0"}, "timm:squeezenet", "timm", "Apache-2.0"),
        (
            {"library": ["timm", "torchvision"], "licence": "Apache-2.0"},
            "timm:squeezenet",
            "timm",
            "Apache-2.0",
        ),
    ],
)
@pytest.mark.parametrize("batched", [False, True])
def test_a_row_has_the_name_that_a_filter_asks_for(index, where, name, library, licence, batched):
    query = np.array([-1, 0], np.float32)
    found = (
        index.search_batch(query[None], 1, where)[0] if batched else index.search(query, 1, where)
    )
    row = found[0].row
    assert (row.name, row.library, row.licence) == (name, library, licence)
    assert row.names[0] == name
    assert set(row.names) == {"torchvision:squeezenet1_0", "timm:squeezenet"}


def test_one_name_meets_all_conditions(index):
    where = {"library": "torchvision", "licence": "Apache-2.0"}
    assert index.search([-1, 0], where=where) == []


@pytest.mark.parametrize("half", [False, True])
def test_round_trip(index, tmp_path, half, backend):
    folder = tmp_path / "new" / "index"
    index.save(folder, half=half)
    loaded = ArchitectureIndex.load(folder)
    assert loaded.rows() == index.rows()
    np.testing.assert_allclose(loaded.vectors, index.vectors, atol=5e-4 if half else 0)
    np.testing.assert_allclose(np.linalg.norm(loaded.vectors, axis=1), 1, atol=1e-6)
    assert loaded.vectors.dtype == np.float32
    assert names(loaded.search([0.8, 0.6])) == names(index.search([0.8, 0.6]))
    assert loaded.source == str(folder)
    assert loaded.info()["bytes"] == sum(
        (folder / name).stat().st_size
        for name in ("shards/00000.vectors.safetensors", "shards/00000.rows.parquet")
    )


def test_a_loaded_index_saves_to_the_same_bytes(saved, tmp_path):
    ArchitectureIndex.load(saved).save(tmp_path / "again")
    for path in saved.rglob("*.*"):
        again = tmp_path / "again" / path.relative_to(saved)
        assert again.read_bytes() == path.read_bytes()


def test_the_embedded_source_has_a_name(index, tmp_path, monkeypatch):
    assert EMBEDDED.parts[-2:] == ("nar_plugin", "data")
    monkeypatch.setattr(folder_module, "EMBEDDED", tmp_path)
    index.save(tmp_path)
    assert ArchitectureIndex.load(str(tmp_path)).source == "embedded"


def test_vectors_are_read_only(index):
    with pytest.raises(ValueError, match="read-only"):
        index.vectors[0, 0] = 2


def test_importing_the_index_is_light():
    code = (
        "import sys, nar_plugin.index; "
        "print({'torch', 'faiss', 'pyarrow', 'safetensors', 'pandas'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "set()", result.stderr


def test_info_needs_neither_torch_nor_faiss(saved):
    code = (
        "import sys; from nar_plugin.index import ArchitectureIndex; "
        f"ArchitectureIndex.load({str(saved)!r}).info(); "
        "print({'torch', 'faiss', 'pandas'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "set()", result.stderr


def test_filters_leave_pandas_alone(saved):
    code = (
        "import sys; from nar_plugin.index import ArchitectureIndex; "
        f"index = ArchitectureIndex.load({str(saved)!r}); "
        "index.search([1.0, 0.0], where={'library': 'timm', 'params': '<1G', 'task': 'x'}); "
        "print('pandas' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "False", result.stderr


def test_search_leaves_pandas_and_datasets_alone(saved):
    code = (
        "import sys; from nar_plugin.index import ArchitectureIndex; "
        f"ArchitectureIndex.load({str(saved)!r}).search([1.0, 0.0]); "
        "print({'pandas', 'pyarrow.dataset', 'pyarrow.compute'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "set()", result.stderr
