"""What the plugin of pytorch-widedeep lists, and a model of it, built and traced."""

import pytest
from nar_plugin.hooks import pytorch_widedeep as plugin

from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

pytest.importorskip("pytorch_widedeep")


def test_the_names_of_the_library() -> None:
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 13  # 1.7 has no Transformer of its own any more
    assert listed["pytorch_widedeep:TabMlp"].family == "tab_mlp"


def test_a_model_is_built_and_traced_without_weights() -> None:
    graph = trace(built(lambda: plugin.nar_build("pytorch_widedeep:TabMlp")))
    assert graph.method == "meta"
    # four tables of 5 rows of 8 (one row is for padding), and layers of 200 and 100
    assert graph.params == 4 * 5 * 8 + (33 * 200 + 200) + (200 * 100 + 100)
