"""What torchsr's plugin lists and builds."""

import pytest
from nar_plugin.hooks import torchsr as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("torchsr")


def test_lists_the_scales_that_a_network_has():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 59
    assert "torchsr:carn_x4" in listed
    assert "torchsr:carn_x8" not in listed
    assert listed["torchsr:edsr_x2"].family == "edsr"


@pytest.mark.parametrize(
    ("name", "millions"),  # of the tables in the library's README
    [("carn_x2", 1.59), ("edsr_x2", 40.7), ("ninasr_b1_x2", 1.02), ("rdn_x2", 22.1)],
)
def test_published_parameter_counts(name: str, millions: float):
    graph = trace(resolve(f"torchsr:{name}"))
    assert graph.method == "meta"
    assert graph.params / 1e6 == pytest.approx(millions, rel=5e-3)
