"""Taking own models out of the overlay again: what is found, and what stays on the disk."""

import json

import pytest
from huggingface_hub import constants
from typer.testing import CliRunner

import nar_plugin
from nar_plugin.cli import app
from nar_plugin.errors import NarError
from nar_plugin.index import ArchitectureIndex, embedding, overlay

OWN = """
from torch import nn
def small():
    return nn.Sequential(nn.Conv2d(3, 7, 3), nn.ReLU(), nn.Conv2d(7, 9, 3), nn.ReLU())
def twin():
    return small()
def secret_design():
    return nn.Sequential(nn.Conv2d(3, 11, 5), nn.GELU(), nn.Conv2d(11, 4, 3), nn.GELU())
"""


@pytest.fixture(autouse=True)
def own(tmp_path, monkeypatch):
    """Three own models of two graphs, in an overlay."""
    monkeypatch.setattr(constants, "HF_HOME", str(tmp_path / "hf"))
    (tmp_path / "private.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    nar_plugin.clear_cache()
    base = nar_plugin.load_index()
    names = ["private:small", "private:secret_design", "private:twin"]
    overlay.add_models(names, base, lambda macros: embedding.embed(base, macros))
    yield tmp_path / "hf" / "nar" / "overlay"
    nar_plugin.clear_cache()


def run(*words):
    return CliRunner().invoke(app, ["index", "remove", *words])


def test_a_removed_model_is_found_no_more_and_leaves_nothing(own):
    assert nar_plugin.find_similar("private:secret_design", k=1)[0].exact
    done = run("private:secret_design", "--json")
    assert json.loads(done.stdout)["graphs"] == 1
    found = nar_plugin.find_similar("private:secret_design", k=3)
    assert not any(hit.exact for hit in found)
    kept = ArchitectureIndex.load(own)
    assert [row.names for row in kept.rows()] == [("private:small", "private:twin")]
    assert kept.has_graphs and len(kept.graphs()) == 1
    content = b"".join(path.read_bytes() for path in own.rglob("*") if path.is_file())
    assert b"secret_design" not in content and b"private:twin" in content
    (hit,) = nar_plugin.find_similar("private:small", k=1)
    assert (hit.exact, hit.overlay) == (True, True)


def test_a_shared_graph_keeps_its_other_name(own):
    assert "2 own architectures left" in run("private:small").stdout
    (hit,) = nar_plugin.find_similar("private:small", k=1)
    assert (hit.name, hit.exact, hit.overlay) == ("private:twin", True, True)


def test_when_all_are_removed_there_is_no_overlay(own):
    assert run("private:small", "private:twin", "private:secret_design").exit_code == 0
    assert not own.exists()
    assert nar_plugin.load_index().overlay is None
    with pytest.raises(NarError, match="which are: none"):
        overlay.remove_models(["private:small"])


def test_all_or_none(own):
    before = (own / "manifest.json").read_bytes()
    with pytest.raises(NarError, match=r"private:smal is none of your.*private:twin"):
        overlay.remove_models(["private:small", "private:smal"])
    assert (own / "manifest.json").read_bytes() == before
