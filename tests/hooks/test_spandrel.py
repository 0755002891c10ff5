"""What spandrel's plugin builds."""

import pytest
from nar_plugin.hooks import spandrel as plugin

from nar_plugin.references import resolve
from nar_plugin.tracing import trace

pytest.importorskip("spandrel")


def test_lists_what_the_library_publishes():
    listed = {item.name: item for item in plugin.nar_architectures()}
    assert len(listed) >= 42
    found = listed["spandrel:SwinIR"]
    assert (found.family, found.task) == ("swinir", "image-to-image")


@pytest.mark.parametrize(
    (
        "name",
        "millions",
    ),  # table 1 of https://arxiv.org/abs/2205.04437; https://arxiv.org/abs/1807.02758
    [("SwinIR", 11.9), ("HAT", 20.8), ("RCAN", 15.59)],
)
def test_published_parameter_counts(name: str, millions: float):
    graph = trace(resolve(f"spandrel:{name}"))
    assert graph.method == "meta"
    assert graph.params / 1e6 == pytest.approx(millions, abs=0.05)
