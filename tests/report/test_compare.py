import json
from dataclasses import replace

import pytest

from nar_plugin.report import Comparison


@pytest.fixture
def comparison(query, similar):
    other = replace(query, name="timm:resnet101", params=44_549_160)
    return Comparison(0.98765, False, False, similar[2].shared_motifs, query, other)


def test_json(comparison):
    printed = json.loads(json.dumps(comparison.to_dict()))
    assert list(printed) == [
        "likeness", "identical", "same_design", "shared_motifs", "a", "b", "explanation",
    ]  # fmt: skip
    assert printed["explanation"] is None  # without graphs
    assert printed["a"]["name"] == "timm:resnet50"
    assert printed["shared_motifs"][1]["count_hit"] == 29


@pytest.mark.parametrize("width", [80, 140])
def test_the_table_shows_both_models(comparison, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    text = repr(comparison)
    assert max(map(len, text.splitlines())) <= width
    for fact in ("0.988", "timm:resnet50", "timm:resnet101", "44.5M", "Bottleneck"):
        assert fact in text


def test_the_verdict(comparison):
    assert "their graphs are not here" in repr(comparison)
    assert "same design" in repr(replace(comparison, same_design=True, likeness=1.0))
    equal = replace(comparison, same_design=True, identical=True)
    assert "the same architecture" in repr(equal)
    assert "no motifs in common" in repr(replace(comparison, shared_motifs=()))


def test_a_model_that_was_not_followed_whole_is_told(comparison):
    assert "were not reached" not in str(comparison)
    b = replace(comparison.b, name="toy:b", unread=comparison.b.params)
    assert "toy:b: 100% of its parameters were not reached" in str(replace(comparison, b=b))
