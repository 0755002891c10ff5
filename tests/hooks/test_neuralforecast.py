"""What the plugin of neuralforecast lists, and a model of it, built and traced."""

import pytest

from nar_plugin.tracing import trace

pytest.importorskip("neuralforecast")


def test_the_window_is_the_models_own() -> None:
    from neuralforecast.models import PatchTST

    model = PatchTST(h=12, input_size=24, hidden_size=32, patch_len=8, stride=4)
    graph = trace(model)
    assert graph.method == "meta"
    assert "insample_y: float32[2, 24, 1]" in graph.inputs
