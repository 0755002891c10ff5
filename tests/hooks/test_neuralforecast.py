"""What the plugin of neuralforecast lists, and a model of it, built and traced."""

import pytest
from nar_plugin.hooks import neuralforecast as plugin

from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

pytest.importorskip("neuralforecast")


def test_the_names_of_the_library() -> None:
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 34
    assert listed["neuralforecast:DLinear"].family == "dlinear"


def test_a_model_is_built_and_traced_without_weights() -> None:
    graph = trace(built(lambda: plugin.nar_build("neuralforecast:DLinear")))
    assert graph.method == "meta"
    # Zeng et al. 2023: one linear layer from 96 to 12 steps for the trend, one for the rest
    assert graph.params == 2 * (96 * 12 + 12)


def test_the_window_is_the_models_own() -> None:
    from neuralforecast.models import PatchTST

    model = PatchTST(h=12, input_size=24, hidden_size=32, patch_len=8, stride=4)
    graph = trace(model)
    assert graph.method == "meta"
    assert "insample_y: float32[2, 24, 1]" in graph.inputs
