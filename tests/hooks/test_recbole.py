"""What the plugin of RecBole lists, and a model of it, built and traced."""

import pytest
from nar_plugin.hooks import recbole as plugin

from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

pytest.importorskip("recbole")


def test_the_names_of_the_library() -> None:
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 80
    assert listed["recbole:BPR"].family == "bpr"


def test_a_model_is_built_and_traced_without_weights() -> None:
    graph = trace(built(lambda: plugin.nar_build("recbole:BPR")))
    assert graph.method == "meta"
    # Trainable parameters: 168128, as RecBole's quick start prints for ml-100k
    assert graph.params == 168_128


@pytest.mark.parametrize("name", ["MultiVAE", "NAIS"])
def test_a_model_that_makes_histories_of_shuffled_data(name: str) -> None:
    first, second = (
        trace(built(lambda: plugin.nar_build(f"recbole:{name}"))).fingerprint for _ in range(2)
    )
    assert first == second
