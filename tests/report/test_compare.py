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
        "likeness", "similarity", "identical", "same_design", "same_blocks", "shared_motifs",
        "a", "b", "explanation",
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
    assert "different architectures" in repr(replace(comparison, shared_motifs=()))
    assert "does not tell apart" in repr(replace(comparison, similarity=0.9996))
    assert "same design" in repr(replace(comparison, same_design=True, similarity=1.0))
    equal = replace(comparison, same_design=True, identical=True)
    assert "the same architecture" in repr(equal)
    assert "no motifs in common" in repr(replace(comparison, shared_motifs=()))


@pytest.mark.parametrize(
    ("counts", "ops", "share", "told"),
    [
        ((12, 12), (120, 108), 0.9, "90% the same blocks, in other sizes"),
        ((10, 20), (100, 200), 0.9, "90% the same blocks, in other numbers"),
        ((10, 20), (90, 400), 0.45, "different architectures"),
    ],
)
def test_two_of_the_same_blocks(comparison, counts, ops, share, told):
    block = replace(comparison.shared_motifs[0], count_query=counts[0], count_hit=counts[1], ops=9)
    a, b = (replace(comparison.a, ops=number) for number in ops)
    two = replace(comparison, shared_motifs=(block,), a=a, b=b)
    assert two.same_blocks == pytest.approx(share)
    assert two.to_dict()["same_blocks"] == two.same_blocks
    assert told in repr(two)


def test_a_model_that_was_not_followed_whole_is_told(comparison):
    assert "were not reached" not in str(comparison)
    b = replace(comparison.b, name="toy:b", unread=comparison.b.params)
    assert "toy:b: 100% of its parameters were not reached" in str(replace(comparison, b=b))
