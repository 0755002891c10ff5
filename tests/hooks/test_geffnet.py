"""What geffnet's plugin lists and builds."""

import pytest
from nar_plugin.hooks import geffnet as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("geffnet")


def test_lists_what_the_library_publishes():
    assert len(list(plugin.nar_architectures())) >= 90


@pytest.mark.parametrize(
    ("name", "millions"),  # of the table in the library's README
    [("efficientnet_b0", 5.29), ("mnasnet_a1", 3.89), ("mixnet_xl", 11.90)],
)
def test_published_parameter_counts(name: str, millions: float):
    graph = trace(resolve(f"geffnet:{name}"))
    assert graph.method == "meta"
    assert graph.params / 1e6 == pytest.approx(millions, abs=6e-3)
