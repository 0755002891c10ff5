"""What the plugin of deeptab lists, and a model of it, built and traced."""

import pytest
from nar_plugin.hooks import deeptab as plugin

from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

pytest.importorskip("deeptab")


def test_the_names_of_the_library() -> None:
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 17
    assert listed["deeptab:MLP"].family == "mlp"


def test_a_model_is_built_and_traced_without_weights() -> None:
    graph = trace(built(lambda: plugin.nar_build("deeptab:MLP")))
    assert graph.method == "meta"
    # ten columns, layers of 256, 128 and 32, and one output
    assert graph.params == (10 * 256 + 256) + (256 * 128 + 128) + (128 * 32 + 32) + 33
