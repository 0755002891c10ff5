"""What the READMEs of lucidrains' packages make."""

import pytest
from nar_plugin.hooks import lucidrains as plugin

from nar_plugin.errors import PluginError
from nar_plugin.references import resolve
from nar_plugin.tracing import trace


def test_listed_are_the_installed():
    pytest.importorskip("linformer")
    listed = {item.name: item for item in plugin.nar_architectures()}
    found = listed["lucidrains:linformer/Linformer"]
    assert (found.library, found.family, found.licence) == ("linformer", "linformer", "MIT")


def test_a_language_model_around_a_new_attention_is_one(monkeypatch):
    monkeypatch.setattr(plugin, "find_spec", lambda package: True)
    tasks = {item.name: item.task for item in plugin.nar_architectures()}
    wrapped = "declarative_attention/DeclarativeAttentionWrapper"
    layer = "taylor_series_linear_attention/TaylorSeriesLinearAttn"
    assert tasks[f"lucidrains:{wrapped}"] == "text-generation"
    assert tasks[f"lucidrains:{layer}"] == "feature-extraction"


def test_linformer():
    pytest.importorskip("linformer")
    graph = trace(resolve("lucidrains:linformer/Linformer"))
    assert (graph.method, graph.params) == ("meta", 44_494_848)


def test_mlp_mixer():
    pytest.importorskip("mlp_mixer_pytorch")
    assert trace(resolve("lucidrains:mlp_mixer_pytorch/MLPMixer")).method == "meta"


def test_unknown_names_are_refused():
    with pytest.raises(PluginError, match="Did you mean lucidrains:linformer/Linformer"):
        plugin.nar_build("lucidrains:linformer/Linfomer")


def test_only_what_the_catalogue_says_is_evaluated(tmp_path):
    marker = tmp_path / "pwned"
    text = f"lucidrains:linformer/Linformer if open({str(marker)!r}, 'w') else None"
    with pytest.raises(PluginError):
        plugin.nar_build(text)
    assert not marker.exists()
