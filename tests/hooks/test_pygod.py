"""What the plugin of PyGOD lists, and a model of it, built and traced."""

import pytest
from nar_plugin.hooks import pygod as plugin

from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

pytest.importorskip("pygod")


def test_the_names_of_the_library() -> None:
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 10
    assert listed["pygod:GAEBase"].family == "gae"


def test_a_model_is_built_and_traced_without_weights() -> None:
    graph = trace(built(lambda: plugin.nar_build("pygod:GAEBase")))
    assert graph.method == "meta"
    # four graph convolutions of 64 channels (Kipf and Welling 2016)
    assert graph.params == 4 * (64 * 64 + 64)
