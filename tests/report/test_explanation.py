import json
from dataclasses import replace

import pytest
import torch
from models import BottleneckNet, NanoGPT

import nar_plugin
from nar_plugin.errors import NarError
from nar_plugin.likeness.verdict import Verdict
from nar_plugin.mining import mine
from nar_plugin.report.compare import comparison_of
from nar_plugin.report.explanation import explain
from nar_plugin.tracing.work import flops_of_operations


@pytest.fixture(scope="module")
def macros():
    return tuple(
        mine(nar_plugin.trace(model)) for model in (BottleneckNet(), BottleneckNet(6, gate=True))
    )


@pytest.fixture
def explanation(macros):
    return explain(*macros, likeness=0.7123, names=("my:net", "my:gated"), families=3)


@pytest.mark.parametrize("width", [80, 140])
def test_the_text(explanation, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    text = repr(explanation)
    assert max(map(len, text.splitlines())) <= width
    flat = " ".join(text.split())
    for fact in (
        "likeness 0.712: The same design with a squeeze-and-excitation gate",
        "my:gated",
        "in all 3 blocks",
        "an equal design proves no copying; 3 known families share it.",
    ):
        assert fact in flat


def test_json_has_the_same_parts(explanation):
    told = json.loads(json.dumps(explanation.to_dict()))
    assert told["verdict"]["kind"] == "with an insertion"
    (stack,) = [row for row in told["rows"] if row["a"]["stacked"]]
    assert stack["a"]["paths"] == ["layers.0", "layers.1", "layers.2"]
    assert (stack["a"]["count"], stack["b"]["count"], stack["matched"]) == (3, 6, 3)
    assert stack["differences"] == [
        {
            "sort": "inserted",
            "text": "with a squeeze-and-excitation gate after the third convolution",
            "count": 3,
            "of": 3,
        }
    ]
    assert sum(row["a"]["share"] for row in told["rows"]) == pytest.approx(1)


def test_weights_of_a_part(explanation):
    (stack,) = [row for row in explanation.rows if row.a.stacked]
    assert stack.a.weights == 3 * (32 * 16 + 16 * 16 * 9 + 16 * 32)
    assert stack.b.weights == 2 * stack.a.weights + 6 * (32 * 4 * 2)


def test_flops_of_a_part_are_those_that_its_modules_compute():
    image = torch.empty(1, 3, 8, 8)  # 4 x 4 behind the stem
    traced = mine(nar_plugin.trace(BottleneckNet(), example_inputs=image))
    stored = mine(replace(traced.graph, work_of_modules={}))  # as a row of an index
    explained = explain(traced, stored, likeness=1.0, names=("mine", "known"))
    stem, stack, head = (row.a.flops for row in explained.rows)
    assert stem == 2 * 16 * 32 * 3 * 9
    assert stack == 3 * 2 * 16 * (32 * 16 + 16 * 16 * 9 + 16 * 32)
    assert head == 2 * 32 * 10
    assert all(row.b.flops is None for row in explained.rows)
    for told in (repr(explained), explained._repr_html_()):
        assert "FLOPs, first" in told and "27.6K" in told
    both = explain(traced, traced, likeness=1.0, names=("mine", "mine"))
    assert "FLOPs, first" not in repr(both) and "27.6K" in repr(both)
    neither = explain(stored, stored, likeness=1.0, names=("known", "known"))
    assert "FLOPs" not in repr(neither)


def test_work_of_a_module_without_operations_is_that_of_the_one_around_it():
    graph = nar_plugin.trace(BottleneckNet(layers=2), example_inputs=torch.empty(1, 3, 8, 8))
    moved = replace(graph, work_of_modules={"layers.1.nothing.inside": 7, "gone": 5})
    work = flops_of_operations(moved)
    inside = [n for n, path in enumerate(graph.paths) if path.startswith("layers.1.")]
    assert sum(work[n] for n in inside) == pytest.approx(
        7 + 5 * sum(graph.ops[n].kind in ("conv", "linear") for n in inside) / 8
    )
    assert sum(work) == pytest.approx(7 + 5)


def test_html_runs_nothing(explanation):
    evil = replace(explanation, a="<script>alert(1)</script>", verdict=Verdict("x", "<b>bold</b>"))
    html = evil._repr_html_()
    assert "<script" not in html
    assert "&lt;b&gt;" in html
    assert html.count("<tr>") == 1 + len(explanation.rows)


def test_what_only_one_has(macros):
    other = mine(nar_plugin.trace(NanoGPT(layers=2)))
    text = repr(explain(macros[0], other, likeness=0.1, names=("a", "b")))
    assert "Nothing near" in text
    assert "3 BottleneckBlock: conv 1x1, batch_norm, relu, conv 3x3" in text
    assert "2 GPTBlock: layer_norm, linear, attention" in text


def test_a_comparison_explains_itself(query, macros):
    found = comparison_of(query, query, 0.5, macros)
    assert 0 < found.explanation.overlap < found.likeness * 1.7
    assert "squeeze-and-excitation" in repr(found)
    assert "squeeze-and-excitation" in found._repr_html_()
    assert found.to_dict()["explanation"]["verdict"]["kind"] == "with an insertion"


def test_rows_alone_explain_nothing(query, macros):
    found = comparison_of(query, query, 0.5, (macros[0], None))
    assert found.explanation is None
    assert found.likeness == 0.5
    assert "likeness 0.500" in repr(found)


def test_a_hit_is_built_by_its_name(similar, make_hit, macros):
    pytest.importorskip("timm")
    hit = make_hit(name="nowhere:net", names=("nowhere:net", "timm:resnet18"), score=0.9)
    told = replace(similar, hits=(hit,), macro=macros[0]).explain(0)
    assert told.likeness == 0.9
    assert any(row.b and row.b.label == "BasicBlock" for row in told.rows)


def test_a_hit_that_cannot_be_built_is_told(similar, make_hit, macros):
    hit = make_hit(name="nowhere:net", names=("nowhere:net",))
    with pytest.raises(NarError, match="nowhere:net cannot be built here"):
        replace(similar, hits=(hit,), macro=macros[0]).explain(0)
