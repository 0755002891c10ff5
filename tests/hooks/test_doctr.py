"""What doctr's plugin builds."""

import pytest
from nar_plugin.hooks import doctr as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("doctr")


def test_lists_what_the_library_publishes():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 40
    found = listed["doctr:db_resnet50"]
    assert (found.family, found.task) == ("differentiable_binarization", "object-detection")


@pytest.mark.parametrize(
    ("name", "millions"),  # https://mindee.github.io/doctr/latest/using_doctr/using_models.html
    [("db_resnet50", 25.4), ("crnn_vgg16_bn", 15.8)],
)
def test_published_parameter_counts(name: str, millions: float):
    graph = trace(resolve(f"doctr:{name}"))
    assert graph.method == "meta"
    assert graph.params / 1e6 == pytest.approx(millions, abs=0.1)
