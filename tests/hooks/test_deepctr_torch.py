"""What the plugin of DeepCTR-Torch lists, and a model of it, built and traced."""

import pytest
from nar_plugin.hooks import deepctr_torch as plugin

from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

pytest.importorskip("deepctr_torch")


def test_the_names_of_the_library() -> None:
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 20
    assert listed["deepctr_torch:DeepFM"].family == "deepfm"


def test_a_model_is_built_and_traced_without_weights() -> None:
    graph = trace(built(lambda: plugin.nar_build("deepctr_torch:DeepFM")))
    assert graph.method == "meta"
    # linear part, embeddings of 26 columns of 1000 values, and a perceptron of 256 and 128 units
    assert graph.params == 26_000 + 13 + 104_000 + (117 * 256 + 256) + (256 * 128 + 128) + 128 + 1
