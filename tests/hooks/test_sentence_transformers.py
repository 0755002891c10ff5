"""What the plugin of sentence_transformers reads from its models, and how it builds them."""

import pytest
import torch
from nar_plugin.hooks import sentence_transformers as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace


@pytest.fixture(autouse=True)
def library(installed):
    return installed("sentence_transformers")


def test_the_owner_may_be_named():
    short, full = "all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"
    models = [resolve(f"sentence_transformers:{name}") for name in (short, full)]
    assert len({trace(model).fingerprint for model in models}) == 1


def test_a_pooling_of_its_own_is_another_design():
    mean, cls = (f"multi-qa-MiniLM-L6-{kind}-v1" for kind in ("cos", "dot"))
    models = [resolve(f"sentence_transformers:{name}") for name in (mean, cls)]
    assert len({trace(model).fingerprint for model in models}) == 2


def test_a_model_of_another_encoder_is_traced(library):
    from sentence_transformers.base.modules import Dense
    from sentence_transformers.sentence_transformer.modules import CNN, Pooling

    model = resolve("sentence_transformers:paraphrase-MiniLM-L3-v2")
    with torch.device("meta"):
        modules = [model[0], CNN(384, 16), Pooling(48, "max"), Dense(48, 8)]
        mine = library.SentenceTransformer(modules=modules, device="meta")
    assert trace(mine).method == "meta"
    assert len(trace(mine)) > len(trace(model))


def test_provenance_is_where_the_encoder_came_from():
    model = resolve("sentence_transformers:all-MiniLM-L6-v2")
    model[0].auto_model.config._name_or_path = "sentence-transformers/all-MiniLM-L6-v2"
    provenance = plugin.nar_provenance(model)
    assert provenance.name == "sentence_transformers:all-MiniLM-L6-v2"
    assert provenance.hub_id == "sentence-transformers/all-MiniLM-L6-v2"
