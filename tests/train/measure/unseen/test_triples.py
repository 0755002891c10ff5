"""Triples are read by half, and asked by their likeness."""

from types import SimpleNamespace

import numpy as np
import pytest

from nar_plugin.errors import NarError
from nar_plugin.train.measure.unseen.scoring import ByCosine
from nar_plugin.train.measure.unseen.triples import read_triples, triple_quality

TEXT = """
[[triple]]
id = "one"
a = "lib:a"
b = "lib:b"
c = "lib:c"
task = "image-classification"
reason = "a and b share their blocks"
half = "dev"

[[triple]]
id = "two"
a = "lib:a"
b = "lib:c"
c = "lib:b"
task = "text-generation"
reason = "for the other half"
half = "dev"

[[triple]]
id = "three"
a = "lib:c"
b = "lib:b"
c = "lib:a"
task = "text-generation"
reason = "tests"
half = "test"

[[pair]]
a = "lib:a"
b = "lib:b"
near = true

[[pair]]
a = "lib:a"
b = "lib:c"
near = false
"""


def items():
    return [SimpleNamespace(names=({"name": f"lib:{word}"},)) for word in "abc"]


def test_the_nearer_one_has_the_greater_likeness():
    angles = np.array([0.0, 0.1, 1.0])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    triples = read_triples(items(), validation=True, text=TEXT)
    assert triples.graphs.tolist() == [[0, 1, 2], [0, 2, 1]]
    found = triple_quality(ByCosine(vectors), triples)
    assert (found.right, found.wrong) == (0.5, ["two"])
    assert found.by_task == {"image-classification": 1.0, "text-generation": 0.0}
    assert found.near == pytest.approx(np.cos(0.1), abs=1e-5)
    assert found.far == pytest.approx(np.cos(1.0), abs=1e-5)
    assert read_triples(items(), text=TEXT).ids == ("three",)


def test_a_tie_is_wrong():
    vectors = np.ones((3, 1), dtype=np.float32)
    assert triple_quality(ByCosine(vectors), read_triples(items(), text=TEXT)).right == 0


def test_a_name_that_is_not_in_the_corpus_is_named():
    with pytest.raises(NarError, match="lib:c"):
        read_triples(items()[:2], text=TEXT)
