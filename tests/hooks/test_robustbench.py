"""What robustbench's plugin builds."""

import pytest
from nar_plugin.hooks import robustbench as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("robustbench")


def test_lists_what_the_library_publishes():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 200
    found = listed["robustbench:imagenet/corruptions/Hendrycks2020AugMix"]
    assert (found.family, found.task) == ("resnet", "image-classification")


@pytest.mark.parametrize(
    (
        "name",
        "millions",
    ),  # torchvision's documentation of ResNet-50; Wide ResNet: https://arxiv.org/abs/1605.07146
    [("imagenet/corruptions/Hendrycks2020AugMix", 25.56), ("cifar10/L2/Standard", 36.5)],
)
def test_published_parameter_counts(name: str, millions: float):
    graph = trace(resolve(f"robustbench:{name}"))
    assert graph.method == "meta"
    assert graph.params / 1e6 == pytest.approx(millions, abs=0.06)
