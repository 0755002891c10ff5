import numpy as np
import pytest
from safetensors.numpy import save

from nar_plugin.errors import IndexIncompatible
from nar_plugin.index.vectors import from_safetensors, to_safetensors, unit


def test_unit_divides_by_the_length():
    np.testing.assert_allclose(unit(np.array([[3, 4], [0, 2]])), [[0.6, 0.8], [0, 1]])
    assert unit(np.array([[3, 4]])).dtype == np.float32


def test_half_precision_rows_are_unit_again():
    vectors = unit(np.random.default_rng(0).standard_normal((100, 512)))
    content = to_safetensors(vectors, half=True)
    assert len(content) < 100 * 512 * 2 + 200
    loaded = from_safetensors(content)
    np.testing.assert_allclose(np.linalg.norm(loaded, axis=1), 1, atol=1e-6)
    assert ((loaded * vectors).sum(axis=1) > 0.999999).all()


def test_single_precision_is_exact():
    vectors = unit(np.random.default_rng(0).standard_normal((100, 512)))
    np.testing.assert_array_equal(from_safetensors(to_safetensors(vectors, half=False)), vectors)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "expected one tensor"),
        (b"\xff" * 64, "expected one tensor"),
        (save({"vectors": np.eye(2)}), "float64"),
        (save({"vectors": np.ones(2, np.float32)}), r"float32\[2\]"),
        (save({"vectors": np.ones((2, 2), np.float32)}), "length 1"),
        (save({"vectors": np.full((2, 2), np.nan, np.float32)}), "length 1"),
        (save({"a": np.eye(2), "vectors": np.eye(2)}), "'a', 'vectors'"),
    ],
)
def test_what_is_no_vectors_file(content, text):
    with pytest.raises(IndexIncompatible, match=f"(?s)vectors.safetensors.*{text}"):
        from_safetensors(content)
