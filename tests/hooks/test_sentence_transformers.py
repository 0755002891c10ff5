"""What the plugin of sentence_transformers reads from its models, and how it builds them."""

import sys

import pytest
import torch
from nar_plugin.hooks import sentence_transformers as plugin

from nar_plugin.errors import PluginError
from nar_plugin.hookspecs import NamedArchitecture
from nar_plugin.references import resolve
from nar_plugin.tracing import trace

library = pytest.importorskip("sentence_transformers")


@pytest.fixture(scope="module")
def listed() -> dict[str, NamedArchitecture]:
    return {item.name: item for item in plugin.nar_architectures()}


@pytest.mark.parametrize(
    ("name", "family", "task"),
    [
        ("all-MiniLM-L6-v2", "bert", "sentence-similarity"),
        ("all-mpnet-base-v2", "mpnet", "sentence-similarity"),
        ("BAAI/bge-m3", "xlm_roberta", "sentence-similarity"),
        ("cross-encoder/ms-marco-MiniLM-L6-v2", "bert", "text-ranking"),
        ("naver/splade-v3-distilbert", "distilbert", "feature-extraction"),
    ],
)
def test_family_and_task(
    listed: dict[str, NamedArchitecture], name: str, family: str, task: str
) -> None:
    found = listed[f"sentence_transformers:{name}"]
    assert (found.family, found.task, found.licence) == (family, task, "Apache-2.0")


# In millions, as generally reported for these models.
@pytest.mark.parametrize(
    ("name", "millions"),
    [
        ("all-MiniLM-L6-v2", 23),
        ("all-mpnet-base-v2", 109),
        ("LaBSE", 471),
        ("distiluse-base-multilingual-cased-v2", 135),
        ("gtr-t5-base", 110),
        ("BAAI/bge-m3", 568),
        ("Qwen/Qwen3-Embedding-0.6B", 596),
        ("google/embeddinggemma-300m", 308),
        ("cross-encoder/nli-deberta-v3-base", 184),
        ("naver/splade-v3-distilbert", 67),
    ],
)
def test_a_model_has_its_published_size_and_is_traced(name: str, millions: int) -> None:
    model = resolve(f"sentence_transformers:{name}")
    assert all(parameter.is_meta for parameter in model.parameters())
    count = sum(parameter.numel() for parameter in model.parameters())
    assert count / 1e6 == pytest.approx(millions, abs=0.6)
    assert trace(model).method == "meta"


def test_the_owner_may_be_named() -> None:
    short, full = "all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"
    models = [resolve(f"sentence_transformers:{name}") for name in (short, full)]
    assert len({trace(model).fingerprint for model in models}) == 1


def test_a_pooling_of_its_own_is_another_design() -> None:
    mean, cls = (f"multi-qa-MiniLM-L6-{kind}-v1" for kind in ("cos", "dot"))
    models = [resolve(f"sentence_transformers:{name}") for name in (mean, cls)]
    assert len({trace(model).fingerprint for model in models}) == 2


def test_a_model_of_another_encoder_is_traced() -> None:
    from sentence_transformers.base.modules import Dense
    from sentence_transformers.sentence_transformer.modules import CNN, Pooling

    model = resolve("sentence_transformers:paraphrase-MiniLM-L3-v2")
    with torch.device("meta"):
        modules = [model[0], CNN(384, 16), Pooling(48, "max"), Dense(48, 8)]
        mine = library.SentenceTransformer(modules=modules, device="meta")
    assert trace(mine).method == "meta"
    assert len(trace(mine)) > len(trace(model))


def test_provenance_is_the_class_of_a_model_that_was_never_loaded() -> None:
    provenance = plugin.nar_provenance(resolve("sentence_transformers:all-MiniLM-L6-v2"))
    assert provenance is not None
    assert (provenance.name, provenance.hub_id) == (
        "sentence_transformers:SentenceTransformer",
        None,
    )


def test_provenance_is_where_the_encoder_came_from() -> None:
    model = resolve("sentence_transformers:all-MiniLM-L6-v2")
    model[0].auto_model.config._name_or_path = "sentence-transformers/all-MiniLM-L6-v2"
    provenance = plugin.nar_provenance(model)
    assert provenance is not None
    assert provenance.name == "sentence_transformers:all-MiniLM-L6-v2"
    assert provenance.hub_id == "sentence-transformers/all-MiniLM-L6-v2"


def test_other_models_are_left_to_other_plugins() -> None:
    plain = torch.nn.Conv2d(3, 8, 3)
    assert plugin.nar_provenance(plain) is None
    assert plugin.nar_example_inputs(plain) is None
    assert plugin.nar_build("timm:resnet18") is None


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(PluginError, match="sentence_transformers:all-MiniLM-L6-v2"):
        plugin.nar_build("sentence_transformers:all-MiniLM-L6")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    assert list(plugin.nar_architectures()) == []
    with pytest.raises(PluginError, match="pip install sentence-transformers"):
        plugin.nar_build("sentence_transformers:LaBSE")


@pytest.mark.slow
def test_a_sample_is_traced(listed: dict[str, NamedArchitecture]) -> None:
    names = list(listed)[::4]  # all of them: `nar dev bench coverage`
    assert [name for name in names if trace(resolve(name)).method != "meta"] == []
