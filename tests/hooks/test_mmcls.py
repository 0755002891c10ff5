"""What mmcls' plugin lists and builds."""

import pytest
from nar_plugin.hooks import mmcls as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("mmcls")


def test_lists_what_the_library_publishes():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 270
    assert listed["mmcls:hrnet-w30_4xb32_in1k"].family == "hrnet"


@pytest.mark.parametrize(
    ("name", "millions"),  # of the tables in the library's documentation
    [("resnet50_8xb32_in1k", 25.56), ("conformer-tiny-p16_8xb128_in1k", 23.52)],
)
def test_published_parameter_counts(name: str, millions: float):
    graph = trace(resolve(f"mmcls:{name}"))
    assert graph.method == "meta"
    assert graph.params / 1e6 == pytest.approx(millions, abs=6e-3)
