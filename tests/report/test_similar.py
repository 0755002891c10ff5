import builtins
import io
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace

import pytest

from nar_plugin.errors import NarError
from nar_plugin.report import Hit, SharedMotif, SimilarArchitectures
from nar_plugin.report.wording import names_text

HIT_FIELDS = [
    "rank", "name", "names", "score", "family", "library", "task", "params", "flops",
    "fingerprint", "exact", "shared_motifs", "variants", "licence", "url",
    "year", "paper", "title", "weights_license", "build", "runtimes", "code_license",
]  # fmt: skip


def test_is_a_sequence_of_hits(similar):
    assert isinstance(similar, Sequence)
    assert len(similar) == 3
    assert [hit.rank for hit in similar] == [1, 2, 3]
    assert isinstance(similar[-1], Hit)
    assert similar[1] in similar


def test_a_slice_answers_the_same_query(similar):
    first = similar[:2]
    assert isinstance(first, SimilarArchitectures)
    assert [hit.rank for hit in first] == [1, 2]
    assert (first.query, first.index) == (similar.query, similar.index)


def test_json_has_the_fields_of_the_contract(similar):
    printed = json.loads(json.dumps(similar.to_dict()))
    assert list(printed) == ["query", "index", "hits", "notes"]
    assert list(printed["index"]) == ["source", "revision", "architectures", "graphs", "encoder"]
    assert list(printed["hits"][0]) == HIT_FIELDS
    assert list(printed["hits"][0]["shared_motifs"][0]) == [
        "label", "shape", "count_query", "count_hit", "ops",
    ]  # fmt: skip
    assert printed["query"]["family"] is None
    assert printed["query"]["motifs"][0]["label"] == "Bottleneck"
    assert printed["hits"][0]["names"][1] == "torchvision:resnet50"


def test_data_frame(similar):
    pytest.importorskip("pandas")
    frame = similar.to_pandas()
    assert set(frame.columns) == {*HIT_FIELDS, "overlay"}
    assert list(frame["name"]) == [hit.name for hit in similar]
    assert list(similar[:0].to_pandas().columns) == list(frame.columns)


def test_missing_pandas_names_the_extra(similar, monkeypatch):
    real_import = builtins.__import__

    def without_pandas(name, *args, **kwargs):
        if name == "pandas":
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(NarError, match=r"nar-plugin\[pandas\]"):
        similar.to_pandas()


@pytest.mark.parametrize("width", [80, 100, 140, 200])
def test_the_table_fits_the_terminal(similar, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    text = repr(similar)
    assert max(map(len, text.splitlines())) <= width
    facts = ("identical", "(+3 names)", "timm:resnet101", "resnet", "image-classification")
    numbers = ("25.6M", "15.6G", "1.000", "Bottleneck \N{MULTIPLICATION SIGN}12/29", "1,203 graphs")
    for fact in (*facts, *numbers):
        assert fact in text


@pytest.mark.parametrize("width", [24, 40, 60, 71])
def test_a_narrow_terminal_has_names_and_scores(similar, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    lines = repr(similar).splitlines()
    assert max(map(len, lines)) <= width
    first = next(line for line in lines if line.startswith("1 "))
    assert first.endswith("1.000")
    assert "resnet 25.6M" in repr(similar)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140, 200])
def test_a_long_name_is_folded_and_never_cut(similar, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    lines = repr(similar).splitlines()
    heading = next(line for line in lines if " name " in line)
    start, end = heading.index("name"), heading.index("score")
    column = "".join(line[start:end].strip() for line in lines[lines.index(heading) :])
    assert similar[2].name in column


def test_without_a_terminal_the_table_is_100_columns(similar, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(sys, "__stdout__", io.StringIO())
    assert max(map(len, str(similar).splitlines())) == 100


def test_a_graph_without_a_forward_is_said_to_be_one(similar):
    assert "No inputs were found" not in str(similar) + similar._repr_html_()
    reason = "no inputs could be found:\n  float32[1, 10]: ValueError: a banana.\n  none: Other: b"
    query = replace(similar.query, method="modules", reason=reason, inputs="none")
    guessed = replace(similar, query=query)
    for text in (" ".join(str(guessed).split()), guessed._repr_html_()):
        assert "No inputs were found that its forward takes (ValueError: a banana), so" in text
        assert "at none" not in text


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        (
            "{image: float32[1, 3], text: int64[1]}: KeyError: 'mask'",
            "takes (KeyError: 'mask'), so",
        ),
        ("float32[1, 3]: AssertionError", "takes (AssertionError), so"),
        (
            "float32[1]: AttributeError: 'Net' object has no attribute 'fcc'",
            "(AttributeError: 'Net' object has no attribute 'fcc'; that may be a mistake in it)",
        ),
        (
            "float32[1]: AttributeError: 'TensorProduct' object has no attribute 'w'",
            "'TensorProduct' object has no attribute 'w'; that may be a mistake in it)",
        ),
        (
            "none: AttributeError: 'NoneType' object has no attribute 'shape'",
            "takes (AttributeError: 'NoneType' object has no attribute 'shape'), so",
        ),
    ],
)
def test_what_the_forward_raised_is_said(similar, refused, said):
    reason = f"no inputs could be found:\n  {refused}"
    query = replace(similar.query, method="modules", reason=reason)
    text = " ".join(str(replace(similar, query=query)).split())
    assert said in text
    assert ("If it is none, example_inputs= in Python" in text) == ("mistake in it" in said)


def test_a_model_that_has_no_forward_is_not_promised_that_inputs_help(similar):
    reason = "Agent has no forward of its own; ask about a part: model.actor, model.critic"
    agent = replace(similar, query=replace(similar.query, method="modules", reason=reason))
    for text in (" ".join(str(agent).split()), agent._repr_html_()):
        assert "Agent has no forward of its own, so its layers were compared" in text
        assert "Ask about a part: model.actor, model.critic." in text
        assert "example_inputs" not in text


def test_parameters_that_no_operation_read_are_told(similar):
    few = replace(similar, query=replace(similar.query, unread=2_555_703))  # 10% is 2,555,703.2
    assert "were not reached" not in str(few) + few._repr_html_()
    some = replace(similar, query=replace(similar.query, unread=3_100_000))
    assert "12% of its parameters were not reached" in str(some)
    assert "12% of its parameters were not reached" in some._repr_html_()


def test_a_model_without_a_reference_goes_by_its_class(similar):
    own = replace(similar, query=replace(similar.query, name=None, class_name="[red]Net[/red]"))
    assert "similar to this [red]Net[/red], 25.6M params" in str(own)
    assert "similar to <b>this [red]Net[/red], 25.6M" in own._repr_html_()
    assert "at float32[1, 3, 8, 8]" in str(
        replace(own, query=replace(own.query, inputs="float32[1, 3, 8, 8]"))
    )


@pytest.mark.parametrize(
    ("score", "warning"),
    [
        (0.69, "Distant relatives at best: every score is below 0.7."),
        (0.5, "Distant relatives at best: every score is below 0.7."),
        (0.49, "No close relative: every score is below 0.5. These are the least far."),
    ],
)
def test_hits_that_are_all_far_are_said_to_be(similar, make_hit, score, warning):
    few = (SharedMotif("Bottleneck", "shape-a", 12, 9, 9),)  # 81 of the query's 174 operations
    hits = make_hit(score=score, shared_motifs=few), make_hit(rank=2, score=0.1, shared_motifs=())
    far = replace(similar, hits=hits)
    assert far.notes == (warning,)
    assert far.to_dict()["notes"] == [warning]
    assert similar.notes == ()
    assert similar.to_dict()["notes"] == []
    assert warning in str(far)
    assert warning in far._repr_html_()
    assert "relative" not in str(far[1:])  # the rest of an answer


def test_every_name_of_a_hit_is_listed_on_demand(make_hit):
    names = ("a:b", "c:d\x1b[2J")
    hit = make_hit(name="a:b", names=names, variants=("e:f",), url="https://x.org/y")
    expected = ["1  a:b  https://x.org/y  code: Apache-2.0", "   = c:d", "   ~ e:f"]
    assert names_text([hit]).splitlines()[1:4] == expected
    assert "x:y" not in names_text([make_hit(url="javascript:x:y")])


def test_of_near_hits_nothing_is_said(similar, make_hit):
    for answer in (similar, replace(similar, hits=(make_hit(score=0.7, shared_motifs=()),))):
        assert "relative" not in str(answer) + answer._repr_html_()


def test_a_hit_of_the_same_blocks_is_a_relative_whatever_its_score(similar, make_hit):
    """108 of 174 operations are twelve Bottlenecks, which the second hit has as well."""
    hits = make_hit(score=0.69, shared_motifs=()), make_hit(rank=2, score=0.5)
    answer = replace(similar, hits=hits)
    assert "relative" not in str(answer) + answer._repr_html_()


def test_no_hits(similar):
    assert "no architecture in the index matches" in repr(similar[:0])


def test_names_are_not_interpreted(similar, make_hit, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    name = "hub:[red]evil[/red]/\x1b[2Jmodel[/]"
    hostile = replace(similar, hits=(make_hit(name=name, names=(name,), family="[bold]f"),))
    text = repr(hostile)
    assert "hub:[red]evil[/red]/model[/]" in text
    assert "[bold]f" in text
    assert "\x1b" not in text


def test_the_first_print_draws_no_random_number():
    """rich draws one where it is imported, so the print must be a process's first."""
    code = (
        "import random; from nar_plugin.report.terminal import plain_text; "
        "before = random.getstate(); plain_text('text'); assert random.getstate() == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_rich_prints_colours(similar):
    from rich.console import Console

    console = Console(force_terminal=True, width=100, color_system="standard")
    with console.capture() as capture:
        console.print(similar)
    assert "\x1b[1;32midentical" in capture.get()
