"""What torchgeo's plugin builds."""

import pytest
from nar_plugin.hooks import torchgeo as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("torchgeo")


def test_lists_what_the_library_publishes():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 110
    found = listed["torchgeo:ResNet50_Weights.SENTINEL2_ALL_MOCO"]
    assert (found.family, found.task) == ("resnet", "image-feature-extraction")


@pytest.mark.parametrize(
    ("name", "millions"),  # torchvision's documentation; 13 bands add 0.03
    [
        ("resnet50", 25.56),
        ("ResNet50_Weights.SENTINEL2_ALL_MOCO", 25.59),
        ("ViTBase14_DINOv2_Weights.SENTINEL2_ALL_SOFTCON", 87.23),  # built for 224 pixels
    ],
)
def test_published_parameter_counts(name: str, millions: float):
    graph = trace(resolve(f"torchgeo:{name}"))
    assert graph.method == "meta"
    assert graph.params / 1e6 == pytest.approx(millions, abs=0.01)
