"""What the plugin of neuraloperator lists, and a model of it, built and traced."""

import pytest
from nar_plugin.hooks import neuralop as plugin

from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

pytest.importorskip("neuralop")


def test_the_names_of_the_library() -> None:
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 3
    assert listed["neuralop:FNO"].family == "fno"


def test_a_model_is_built_and_traced_without_weights() -> None:
    graph = trace(built(lambda: plugin.nar_build("neuralop:FNO")))
    assert graph.method == "meta"
    # four layers of spectral weights (Li et al. 2021), skips, channel mixers; lifting, projection
    assert graph.params == 4 * (64 * 64 * 16 * 9 + 64 + 64 * 64 + 4192 + 64) + (512 + 8256) + (
        8320 + 129
    )
