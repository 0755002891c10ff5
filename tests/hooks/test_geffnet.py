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


@pytest.mark.parametrize(
    ("name", "giga"),  # multiply-adds: EfficientNet's Table 2, and its B7's 37 at 600 pixels
    [("efficientnet_b0", 0.39), ("tf_efficientnet_b4_ns", 4.2), ("tf_efficientnet_b7_ap", 37.0)],
)
def test_flops_are_of_the_published_size(name: str, giga: float):
    assert trace(resolve(f"geffnet:{name}")).flops / 2e9 == pytest.approx(giga, rel=0.1)
