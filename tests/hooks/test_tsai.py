"""What the plugin of tsai lists, and a model of it, built and traced."""

import pytest
from nar_plugin.hooks import tsai as plugin

from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

pytest.importorskip("tsai")


def test_the_names_of_the_library() -> None:
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 80
    assert listed["tsai:FCN"].family == "fcn"


def test_a_model_is_built_and_traced_without_weights() -> None:
    graph = trace(built(lambda: plugin.nar_build("tsai:FCN")))
    assert graph.method == "meta"
    # Wang et al. 2017 (arXiv:1611.06455), 3 channels, 10 classes
    assert (
        graph.params == (3 * 7 * 128 + 256) + (128 * 5 * 256 + 512) + (256 * 3 * 128 + 256) + 1290
    )
