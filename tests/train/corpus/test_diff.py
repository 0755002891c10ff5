"""`nar dev corpus diff` and `failures`: what happened to each name."""

import json

import pytest
from typer.testing import CliRunner

pytest.importorskip("tqdm")

from nar_plugin.cli import app
from nar_plugin.train.corpus.corpus import write_corpus
from nar_plugin.train.corpus.diff import diff

ROW = {"fingerprint": "a", "family": "resnet", "task": "image-classification", "composed": False}


@pytest.fixture
def corpora(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    lost = {"fingerprint": None, "failure": "TraceError: no\nmore"}
    write_corpus(old, [{**ROW, "name": name} for name in "abcde"], [])
    rows = [
        {**ROW, "name": "a"},
        {**ROW, "name": "b", "fingerprint": "b"},
        {**ROW, "name": "c", **lost},
        {**ROW, "name": "d", "family": "vgg"},
        {**ROW, "name": "f"},
    ]
    write_corpus(new, rows, [])
    return old, new


def test_each_name_is_told_once(corpora):
    found = diff(*corpora)
    assert (found.added, found.removed) == (("f",), ("e",))
    assert found.changed == {"b": "a -> b"}
    assert found.lost == {"c": "TraceError: no"}
    assert found.relabelled == {"d": "family: resnet -> vgg"}


def test_the_command(corpora):
    old, new = map(str, corpora)
    shown = CliRunner().invoke(app, ["dev", "corpus", "diff", old, new])
    assert "changed: 1\n  b: a -> b\n" in shown.stdout
    as_json = CliRunner().invoke(app, ["dev", "corpus", "diff", old, new, "--json"])
    assert json.loads(as_json.stdout)["added"] == ["f"]


def test_failures_are_listed_with_their_causes(corpora):
    new = str(corpora[1])
    shown = CliRunner().invoke(app, ["dev", "corpus", "failures", "--corpus", new])
    assert shown.stdout == "c: TraceError: no\n"
    as_json = CliRunner().invoke(app, ["dev", "corpus", "failures", new, "--json"])
    assert json.loads(as_json.stdout) == {"c": "TraceError: no\nmore"}
