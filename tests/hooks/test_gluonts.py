"""What the plugin of GluonTS lists, and a model of it, built and traced."""

import pytest
from nar_plugin.hooks import gluonts as plugin

from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

pytest.importorskip("gluonts")


def test_the_names_of_the_library() -> None:
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 8
    assert listed["gluonts:SimpleFeedForwardModel"].family == "simple_feedforward"


def test_a_model_is_built_and_traced_without_weights() -> None:
    graph = trace(built(lambda: plugin.nar_build("gluonts:SimpleFeedForwardModel")))
    assert graph.method == "meta"
    # 96 steps to 20 units, to 20 for each of 24 steps, to Student's three parameters
    assert graph.params == (96 * 20 + 20) + (20 * 480 + 480) + 3 * 21
