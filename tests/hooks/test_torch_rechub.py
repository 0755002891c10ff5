"""What the plugin of Torch-RecHub lists, and a model of it, built and traced."""

import pytest
from nar_plugin.hooks import torch_rechub as plugin

from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

pytest.importorskip("torch_rechub")


def test_the_names_of_the_library() -> None:
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 25
    assert listed["torch_rechub:DeepFM"].family == "deepfm"


def test_a_model_is_built_and_traced_without_weights() -> None:
    graph = trace(built(lambda: plugin.nar_build("torch_rechub:DeepFM")))
    assert graph.method == "meta"
    # three tables, a perceptron with norms, and the linear part
    assert graph.params == 4800 + (48 * 256 + 256 + 512) + (256 * 128 + 128 + 256) + 129 + 49
