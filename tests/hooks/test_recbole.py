"""What the plugin of RecBole lists, and a model of it, built and traced."""

import pytest
from nar_plugin.hooks import recbole as plugin

from nar_plugin.references.construction import built
from nar_plugin.tracing import trace

pytest.importorskip("recbole")


@pytest.mark.parametrize("name", ["MultiVAE", "NAIS"])
def test_a_model_that_makes_histories_of_shuffled_data(name: str) -> None:
    first, second = (
        trace(built(lambda: plugin.nar_build(f"recbole:{name}"))).fingerprint for _ in range(2)
    )
    assert first == second
