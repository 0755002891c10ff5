"""What pytorch_toolbelt's plugin builds."""

import pytest
from nar_plugin.hooks import pytorch_toolbelt as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("pytorch_toolbelt")


def test_lists_what_the_library_publishes():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 75
    found = listed["pytorch_toolbelt:Resnet50Encoder"]
    assert (found.family, found.task) == ("resnet", "image-feature-extraction")


@pytest.mark.parametrize(
    ("name", "millions"),  # torchvision's documentation, less the head of 2.05
    [("Resnet50Encoder", 23.51), ("DenseNet121Encoder", 6.95)],
)
def test_published_parameter_counts(name: str, millions: float):
    graph = trace(resolve(f"pytorch_toolbelt:{name}"))
    assert graph.method == "meta"
    assert graph.params / 1e6 == pytest.approx(millions, abs=0.01)
