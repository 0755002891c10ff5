import numpy as np
import pytest
from safetensors.numpy import save

from nar_plugin.errors import IndexIncompatible
from nar_plugin.index.store.manifest import FileEntry
from nar_plugin.index.store.vectors import from_safetensors, to_safetensors, unit


def read(content, rows=2, dim=2):
    path = "shards/00000.vectors.safetensors"
    return from_safetensors(content, FileEntry.of(content, path, "vectors", rows), dim)


def test_unit_divides_by_the_length():
    np.testing.assert_allclose(unit(np.array([[3, 4], [0, 2]])), [[0.6, 0.8], [0, 1]])
    assert unit(np.array([[3, 4]])).dtype == np.float32


def test_half_precision_rows_are_half_the_size():
    vectors = unit(np.random.default_rng(0).standard_normal((100, 512)))
    content = to_safetensors(vectors, half=True)
    assert len(content) < 100 * 512 * 2 + 200
    loaded = read(content, 100, 512)
    assert loaded.dtype == np.float16
    np.testing.assert_allclose(np.linalg.norm(loaded.astype(float), axis=1), 1, atol=5e-4)
    assert ((unit(loaded) * vectors).sum(axis=1) > 0.999999).all()


def test_single_precision_is_exact():
    vectors = unit(np.random.default_rng(0).standard_normal((100, 512)))
    np.testing.assert_array_equal(read(to_safetensors(vectors, half=False), 100, 512), vectors)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "expected one tensor"),
        (b"\xff" * 64, "expected one tensor"),
        (save({"vectors": np.eye(2)}), "float64"),
        (save({"vectors": np.ones(2, np.float32)}), r"float32\[2\]"),
        (
            save({"vectors": np.eye(2, dtype=np.float32)}).replace(b"[2,2]", b"[-2,2]"),
            "expected one",
        ),
        (
            save({"vectors": np.eye(2, dtype=np.float32)}).replace(b"[2,2]", b"[9,2]"),
            "expected one",
        ),
        (save({"vectors": np.ones((2, 2), np.float32)}), "length 1"),
        (save({"vectors": np.full((2, 2), np.nan, np.float32)}), "length 1"),
        (save({"vectors": np.eye(3, 2, dtype=np.float32)}), r"float32\[3, 2\]"),
        (save({"a": np.eye(2), "vectors": np.eye(2)}), "'a', 'vectors'"),
    ],
)
def test_what_is_no_vectors_file(content, text):
    with pytest.raises(IndexIncompatible, match=f"(?s)00000.vectors.safetensors.*{text}"):
        read(content)
