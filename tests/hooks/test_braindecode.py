"""What the plugin of braindecode lists, and a model of it, built and traced."""

import pytest
from nar_plugin.hooks import braindecode as plugin

from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

pytest.importorskip("braindecode")


def test_the_names_of_the_library() -> None:
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 60
    assert listed["braindecode:EEGNet"].family == "eegnet"


def test_a_model_is_built_and_traced_without_weights() -> None:
    graph = trace(built(lambda: plugin.nar_build("braindecode:EEGNet")))
    assert graph.method == "meta"
    # Lawhern et al. 2018, table 2, with F1=8, D=2, F2=16, 3 channels, 1000 steps, 2 classes
    assert graph.params == 8 * 64 + 16 + 16 * 3 + 32 + 16 * 16 + 16 * 16 + 32 + (16 * 31 * 2 + 2)
