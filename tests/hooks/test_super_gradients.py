"""What super_gradients's plugin builds."""

import pytest
from nar_plugin.hooks import super_gradients as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("super_gradients")


def test_lists_what_the_library_publishes():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 100
    found = listed["super_gradients:yolo_nas_s"]
    assert (found.family, found.task) == ("yolo_nas", "object-detection")


@pytest.mark.parametrize(
    ("name", "millions"),  # the library's model zoo; table 1 of https://arxiv.org/abs/2105.15203
    [("yolo_nas_s", 19.0), ("segformer_b0", 3.8)],
)
def test_published_parameter_counts(name: str, millions: float):
    graph = trace(resolve(f"super_gradients:{name}"))
    assert graph.method == "meta"
    assert graph.params / 1e6 == pytest.approx(millions, abs=0.1)
