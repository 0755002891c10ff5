"""What keras_cv_attention_models's plugin builds."""

import pytest
from nar_plugin.hooks import keras_cv_attention_models as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("keras_cv_attention_models")


def test_lists_what_the_library_publishes():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 420
    found = listed["keras_cv_attention_models:ConvNeXtTiny"]
    assert (found.family, found.task) == ("convnext", "image-classification")


@pytest.mark.parametrize(
    ("name", "millions"),  # the tables of the library's README
    [("ConvNeXtTiny", 28.59), ("YOLOV8_S", 11.17), ("EfficientDetD0", 3.9)],
)
def test_published_parameter_counts(name: str, millions: float):
    graph = trace(resolve(f"keras_cv_attention_models:{name}"))
    assert graph.method == "meta"
    assert graph.params / 1e6 == pytest.approx(millions, abs=0.06)
