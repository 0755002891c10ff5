"""What compressai's plugin builds."""

import pytest
from nar_plugin.hooks import compressai as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("compressai")


def test_lists_what_the_library_publishes():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 50
    found = listed["compressai:bmshj2018-hyperprior/1"]
    assert (found.family, found.task) == ("bmshj2018_hyperprior", "image-to-image")


# By hand: 12 layers of 5 x 5 or GDN, N = 128, M = 192, 58 + 3 numbers a channel for the bottleneck.
@pytest.mark.parametrize(
    ("name", "millions"),
    [("bmshj2018-factorized/1", 2.998147)],
)
def test_published_parameter_counts(name: str, millions: float):
    graph = trace(resolve(f"compressai:{name}"))
    assert graph.method == "meta"
    assert graph.params / 1e6 == pytest.approx(millions, abs=1e-6)
