"""What the plugin of PyPOTS lists, and a model of it, built and traced."""

import pytest
from nar_plugin.hooks import pypots as plugin

from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

pytest.importorskip("pypots")


def test_the_names_of_the_library() -> None:
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 85
    assert listed["pypots:imputation.SAITS"].family == "saits"


def test_a_model_is_built_and_traced_without_weights() -> None:
    graph = trace(built(lambda: plugin.nar_build("pypots:imputation.SAITS")))
    assert graph.method == "meta"
    # Du et al. 2023: two embeddings, four attention layers, heads, and the combination of both
    assert (
        graph.params
        == 2 * 1344 + 4 * (4 * 64 * 64 + 128 + 8320 + 8256 + 128) + 650 + 650 + 110 + 1070
    )
