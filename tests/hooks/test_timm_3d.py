"""What timm_3d's plugin builds."""

import pytest
from nar_plugin.hooks import timm_3d as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("timm_3d")


def test_lists_what_the_library_publishes():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 270
    found = listed["timm_3d:resnet18"]
    assert (found.family, found.task) == ("resnet", "image-classification")


@pytest.mark.parametrize(
    (
        "name",
        "millions",
    ),  # torchvision's 11,689,512, with 3 x 10,985,472 and 7 x 9,408 in the wider kernels
    [("resnet18", 33.716904)],
)
def test_published_parameter_counts(name: str, millions: float):
    graph = trace(resolve(f"timm_3d:{name}"))
    assert graph.method == "meta"
    assert graph.params / 1e6 == pytest.approx(millions, abs=1e-6)
