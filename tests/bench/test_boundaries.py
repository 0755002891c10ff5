"""The figures about motifs, on hand-made repeats and on models with known stacks."""

import pytest

from nar_plugin.bench.boundaries import best_shift, boundary_f1, measure, model_lists, summary
from nar_plugin.bench.stacks import Stack
from nar_plugin.mining import Repeat

STACK = Stack(
    "layers: Layer",
    (0, 10, 20, 30),
    40,
    tuple(tuple(range(start, start + 10)) for start in (0, 10, 20, 30)),
)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([0, 10, 20, 30], 1.0),
        ([2, 12, 18, 28], 1.0),  # within two operations
        ([3, 13, 23, 33], 0.0),
        ([0, 20], 2 * 2 / (4 + 2)),  # two layers in one block
        ([0, 5, 10, 15, 20, 25, 30, 35], 2 * 4 / (4 + 8)),  # half layers
        ([0, 1, 10, 20, 30], 2 * 4 / (4 + 5)),  # one beginning is met once
        ([], 0.0),
    ],
)
def test_f1_by_hand(found, expected):
    assert boundary_f1([0, 10, 20, 30], found) == pytest.approx(expected)


def test_a_period_may_be_cut_at_another_place():
    assert best_shift([STACK], [Repeat((6, 16, 26, 36), 46)]) in (-8, -7, -6, -5, -4)
    assert best_shift([STACK], [Repeat((0, 10, 20, 30), 40)]) == 0


def test_a_bert_agrees_with_its_configuration():
    pytest.importorskip("transformers")
    result = measure("transformers:bert")
    assert (result.f1, result.stated) == (1.0, 1.0)
    assert [(depth, met) for _, depth, met in result.depths] == [(12, True)]


def test_a_model_without_blocks():
    pytest.importorskip("torchvision")
    assert measure("torchvision:alexnet") is None


def test_no_held_out_model_was_developed_on():
    lists = model_lists()
    assert len(lists["held_out"]) >= 100
    assert len(lists["fresh"]) >= 100
    names = [name for models in lists.values() for name in models]
    assert len(set(names)) == len(names)


@pytest.mark.slow
def test_boundaries_and_macro_graphs_of_a_sample():
    pytest.importorskip("timm")
    pytest.importorskip("transformers")
    names = [
        name for name in model_lists()["held_out"] if name.startswith(("timm:", "transformers:"))
    ]
    results = [result for name in names[::3] if (result := measure(name))]
    whole = summary(results)
    assert len(results) >= 30
    assert whole.f1 >= 0.9
    assert whole.depths >= 0.7
    assert whole.macro_size is None or whole.macro_size <= 0.1
