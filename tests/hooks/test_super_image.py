"""What super_image's plugin lists and builds."""

import pytest
from nar_plugin.hooks import super_image as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("super_image")


def test_lists_what_the_library_publishes():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 60
    assert listed["super_image:edsr-base_x2"].hub_id == "eugenesiow/edsr-base"


@pytest.mark.parametrize(
    ("name", "millions"),  # EDSR's paper, table 1, and CARN's, table 1; in torch's own rounding
    [("edsr_x4", 43.1), ("edsr-base_x4", 1.52), ("carn_x4", 1.59), ("rcan_x4", 15.6)],
)
def test_published_parameter_counts(name: str, millions: float):
    graph = trace(resolve(f"super_image:{name}"))
    assert graph.method == "meta"
    assert graph.params / 1e6 == pytest.approx(millions, rel=5e-3)
