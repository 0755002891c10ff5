"""What effdet's plugin builds."""

import pytest
from nar_plugin.hooks import effdet as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("effdet")


def test_lists_what_the_library_publishes():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 47
    found = listed["effdet:tf_efficientdet_d7"]
    assert (found.family, found.task) == ("efficientdet", "object-detection")


@pytest.mark.parametrize(
    ("name", "millions"),  # table 2 of https://arxiv.org/abs/1911.09070
    [("tf_efficientdet_d0", 3.9), ("tf_efficientdet_d7", 52)],
)
def test_published_parameter_counts(name: str, millions: float):
    graph = trace(resolve(f"effdet:{name}"))
    assert graph.method == "meta"
    assert graph.params / 1e6 == pytest.approx(millions, abs=0.2)
