"""What efficientnet_pytorch's plugin lists and builds."""

import pytest
from nar_plugin.hooks import efficientnet_pytorch as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("efficientnet_pytorch")


def test_lists_what_the_library_publishes():
    assert len(list(plugin.nar_architectures())) >= 9


@pytest.mark.parametrize(
    ("name", "millions"),  # of the table in the library's README
    [("efficientnet-b0", 5.3), ("efficientnet-b4", 19), ("efficientnet-b7", 66)],
)
def test_published_parameter_counts(name: str, millions: float):
    graph = trace(resolve(f"efficientnet_pytorch:{name}"))
    assert graph.method == "meta"
    assert graph.params / 1e6 == pytest.approx(millions, rel=0.03)
