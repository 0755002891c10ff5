"""What segment_anything's plugin builds."""

import pytest
from nar_plugin.hooks import segment_anything as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("segment_anything")


def test_lists_what_the_library_publishes():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 3
    found = listed["segment_anything:vit_b"]
    assert (found.family, found.task) == ("sam", "mask-generation")


@pytest.mark.parametrize(
    (
        "name",
        "millions",
    ),  # 375,042,383 bytes of sam_vit_b_01ec64.pth
    [("vit_b", 93.7)],
)
def test_published_parameter_counts(name: str, millions: float):
    graph = trace(resolve(f"segment_anything:{name}"))
    assert graph.method == "meta"
    assert graph.params / 1e6 == pytest.approx(millions, abs=0.1)
